"""Rules about the run as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from scoregate.core.filters import is_wanted
from scoregate.core.record import Run
from scoregate.core.rules.finding import Conclusion, Finding
from scoregate.core.rules.judged import JudgedRun

_MOST_NAMES = 20


def something_ran(judged: JudgedRun) -> Iterator[Finding]:
    """Zero suites are never green. Where another rule reports why there is none, it is not reported twice."""
    run = judged.comparison.run
    reasons = chain(scripts_ended_well(judged), scripts_speak(judged), filters_match(judged))
    if not run.suites and next(reasons, None) is None:
        value = "all were skipped" if run.skipped else "none was found"
        yield Finding("something ran", Conclusion.UNMEASURABLE, value, "at least 1 suite", "always")


def whole(judged: JudgedRun) -> Iterator[Finding]:
    """A run that was interrupted, or whose record is damaged, is never green."""
    if not judged.comparison.run.complete:
        yield Finding("run complete", Conclusion.UNMEASURABLE, "a part is missing", "the whole run", "always")


def scripts_ended_well(judged: JudgedRun) -> Iterator[Finding]:
    """Every script exits with 0, or with 1 because its own `assert_test` raised, and leaves what it was to leave."""
    for value in script_failures(judged.comparison.run).values():
        yield Finding("scripts end well", Conclusion.UNMEASURABLE, value, "exit code 0", "always")


def script_failures(run: Run) -> dict[str, str]:
    """Why a script failed, by the names of those that did."""
    asserted = {suite.script for suite in run.suites if suite.assertion_failed}
    found = {}
    for script in run.scripts:
        why = script.error.message if script.error else ""
        if script.timed_out:
            found[script.name] = f"{script.name} was stopped after {script.duration_s:.0f} s"
        elif script.exit_code is None:
            found[script.name] = f"{script.name}: {why}" if why else f"{script.name} did not start"
        elif script.exit_code and (script.exit_code != 1 or script.name not in asserted):
            found[script.name] = f"{script.name}: {why}" if why else f"{script.name} exited with {script.exit_code}"
        elif script.exit_code == 0 and why:
            found[script.name] = f"{script.name}: {why}"
    return found


def scripts_speak(judged: JudgedRun) -> Iterator[Finding]:
    """Every script runs a suite, unless a filter may have left it out."""
    run = judged.comparison.run
    heard = {suite.script for suite in run.suites}
    for script in run.scripts:
        if script.exit_code == 0 and script.name not in heard and not run.filters:
            value = f"{script.name} ran no suite"
            yield Finding("scripts run suites", Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")


def suites_report(judged: JudgedRun) -> Iterator[Finding]:
    """Every suite that the source of a script starts reports, unless a filter or a missing need left it out."""
    run = judged.comparison.run
    reported = {(suite.script, suite.id) for suite in run.suites}
    scripts = {script for script, _ in reported}
    for script in run.scripts:
        if script.exit_code != 0 or script.name not in scripts:
            continue  # another rule reports it
        for suite in script.expected:
            excused = suite in run.skipped or not is_wanted(suite, run.filters)
            if (script.name, suite) not in reported and not excused:
                value = f"{suite} in {script.name}"
                yield Finding("suites report", Conclusion.UNMEASURABLE, value, "every suite that it starts", "always")


def suites_remain(judged: JudgedRun) -> Iterator[Finding]:
    """A suite of the base is still there."""
    for label in judged.comparison.missed:
        yield Finding("suites remain", Conclusion.UNMEASURABLE, f"{label} is gone", "every suite of the base", "always")


def base_present(judged: JudgedRun) -> Iterator[Finding]:
    """There is a base where one is required, and it can be read where relative gates need it.

    A base that may exist but can't be read is not "no base yet": then relative gates are unmeasurable. The same holds
    for a run that was compared with a base before.
    """
    comparison, gates = judged.comparison, judged.policy.relative_gates
    why = comparison.base_note or "no base run"
    if comparison.base is None and judged.policy.require_baseline:
        yield Finding("base present", Conclusion.UNMEASURABLE, why, "a base run", "require_baseline")
    elif comparison.base_unreadable and gates:
        value = f"{why}; {' and '.join(gates)} can't be applied without it"
        yield Finding("base readable", Conclusion.UNMEASURABLE, value, "the base run", "always")
    elif comparison.base is None and comparison.run.compared_with is not None and gates:
        yield Finding("base present", Conclusion.UNMEASURABLE, why, "the base of this run", "always")


def policy_available(judged: JudgedRun) -> Iterator[Finding]:
    """Where the base's policy is to judge, it can be had: the change's own would be no gate."""
    if judged.policy_problem:
        value, limit = f"{judged.policy_problem}; judged by the change's own", "the base's settings"
        yield Finding("policy available", Conclusion.UNMEASURABLE, value, limit, "policy_from = base")


def evaluators_unchanged(judged: JudgedRun) -> Iterator[Finding]:
    """Where the base's policy judges, a change keeps the base's evaluators and their thresholds."""
    if not judged.policy.of_base:
        return
    suites, limit = judged.comparison.run.suites, "as in the base"
    for each in judged.evaluator_changes:
        label = suites[each.suite].label
        yield Finding("evaluators unchanged", Conclusion.FAILED, each.what, limit, "", label, each.evaluator)


def filters_match(judged: JudgedRun) -> Iterator[Finding]:
    """Every filter finds a suite: a misspelt name must not leave out what it was to choose."""
    run = judged.comparison.run
    ran = tuple(dict.fromkeys(suite.id for suite in run.suites))
    known = ", ".join((*ran, *run.left_out)[:_MOST_NAMES])
    for glob in run.filters:
        if not any(is_wanted(suite, [glob]) for suite in (*ran, *run.skipped)):
            value = f"the filter {glob} matched {f'none of {known}' if known else 'nothing'}"
            yield Finding("filters match", Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")
