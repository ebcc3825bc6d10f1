"""Rules about the run as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.core.filters import is_wanted
from scoregate.core.rules.finding import Conclusion, Finding
from scoregate.core.rules.judged import JudgedRun

_MOST_NAMES = 20


def something_ran(judged: JudgedRun) -> Iterator[Finding]:
    """Zero suites are never green."""
    if not judged.comparison.run.suites:
        yield Finding("something ran", Conclusion.UNMEASURABLE, "0 suites", "at least 1 suite", "always")


def whole(judged: JudgedRun) -> Iterator[Finding]:
    """A run that was interrupted, or whose record is damaged, is never green."""
    if not judged.comparison.run.complete:
        yield Finding("run complete", Conclusion.UNMEASURABLE, "only a part is there", "the whole run", "always")


def scripts_ended_well(judged: JudgedRun) -> Iterator[Finding]:
    """Every script exits with 0, or with 1 because its own `assert_test` raised, and leaves what it was to leave."""
    asserted = {suite.script for suite in judged.comparison.run.suites if suite.assertion_failed}
    for script in judged.comparison.run.scripts:
        if script.timed_out:
            value = f"{script.name} was stopped after {script.duration_s:.0f} s"
        elif script.exit_code is None:
            value = f"{script.name}: {script.error.message}" if script.error else f"{script.name} did not start"
        elif script.exit_code and (script.exit_code != 1 or script.name not in asserted):
            value = f"{script.name} exited with {script.exit_code}"
        elif script.exit_code == 0 and script.error is not None:
            value = f"{script.name}: {script.error.message}"
        else:
            continue
        yield Finding("scripts end well", Conclusion.UNMEASURABLE, value, "exit code 0", "always")


def scripts_speak(judged: JudgedRun) -> Iterator[Finding]:
    """Every script runs a suite, unless a filter may have left it out."""
    run = judged.comparison.run
    heard = {suite.script for suite in run.suites}
    for script in run.scripts:
        if script.exit_code == 0 and script.name not in heard and not run.filters:
            value = f"{script.name} ran no suite"
            yield Finding("scripts run suites", Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")


def suites_remain(judged: JudgedRun) -> Iterator[Finding]:
    """A suite of the base is still there."""
    for label in judged.comparison.missed:
        yield Finding("suites remain", Conclusion.UNMEASURABLE, f"{label} is gone", "every suite of the base", "always")


def base_present(judged: JudgedRun) -> Iterator[Finding]:
    """There is a base, where one is required."""
    if judged.policy.require_baseline and judged.comparison.base is None:
        why = judged.comparison.base_note or "no base run"
        yield Finding("base present", Conclusion.UNMEASURABLE, why, "a base run", "require_baseline")


def filters_match(judged: JudgedRun) -> Iterator[Finding]:
    """Every filter finds a suite: a misspelt name must not leave out what it was to choose."""
    run = judged.comparison.run
    ran = tuple(dict.fromkeys(suite.id for suite in run.suites))
    known = ", ".join((*ran, *run.left_out)[:_MOST_NAMES])
    for glob in run.filters:
        if not any(is_wanted(suite, [glob]) for suite in (*ran, *run.skipped)):
            value = f"the filter {glob} matched {f'none of {known}' if known else 'nothing'}"
            yield Finding("filters match", Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")
