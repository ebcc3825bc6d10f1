"""Rules about the run as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from fnmatch import fnmatchcase
from glob import escape
from itertools import chain

from scoregate.core.gate.finding import Conclusion, Finding, RunContext
from scoregate.core.policy import Limits, matches_suite
from scoregate.core.run import Run, SuiteResult
from scoregate.core.text import matches_filters

_MOST_NAMES = 20


def check_any_suite(judged: RunContext) -> Iterator[Finding]:
    """Zero suites are never green. Where another rule reports why there is none, it is not reported twice."""
    run = judged.comparison.run
    reasons = chain(check_scripts(judged), check_scripts_report(judged), check_filters(judged))
    if not run.suites and next(reasons, None) is None:
        value = "all were skipped" if run.skipped else "none was found"
        yield Finding("something ran", Conclusion.UNMEASURABLE, value, "at least 1 suite", "always")


def check_run_complete(judged: RunContext) -> Iterator[Finding]:
    """A run that was interrupted, or whose record is damaged, is never green."""
    if not judged.comparison.run.complete:
        yield Finding("run complete", Conclusion.UNMEASURABLE, "a part is missing", "the whole run", "always")


def check_scripts(judged: RunContext) -> Iterator[Finding]:
    """Every script exits with 0, or with 1 because its own `assert_test` raised, and leaves what it was to leave."""
    for value in find_script_failures(judged.comparison.run).values():
        yield Finding("scripts end well", Conclusion.UNMEASURABLE, value, "exit code 0", "always")


def find_script_failures(run: Run) -> dict[str, str]:
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


def check_scripts_report(judged: RunContext) -> Iterator[Finding]:
    """Every script runs a suite, unless a filter may have left it out."""
    run = judged.comparison.run
    heard = {suite.script for suite in run.suites}
    for script in run.scripts:
        if script.exit_code == 0 and script.name not in heard and not run.filters:
            value = f"{script.name} ran no suite"
            yield Finding("scripts run suites", Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")


def check_expected_suites(judged: RunContext) -> Iterator[Finding]:
    """Every suite that the source of a script starts reports, unless a filter or a missing need left it out."""
    run = judged.comparison.run
    reported = {(suite.script, suite.id) for suite in run.suites}
    scripts = {script for script, _ in reported}
    for script in run.scripts:
        if script.exit_code != 0 or script.name not in scripts:
            continue  # another rule reports it
        for suite in script.expected:
            excused = suite in run.skipped or not matches_filters(suite, run.filters)
            if (script.name, suite) not in reported and not excused:
                value = f"{suite} in {script.name}"
                yield Finding("suites report", Conclusion.UNMEASURABLE, value, "every suite that it starts", "always")


def check_base_suites(judged: RunContext) -> Iterator[Finding]:
    """A suite of the base is still there."""
    for label in judged.comparison.missed:
        yield Finding("suites remain", Conclusion.UNMEASURABLE, f"{label} is gone", "every suite of the base", "always")


def check_baseline(judged: RunContext) -> Iterator[Finding]:
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


def check_policy(judged: RunContext) -> Iterator[Finding]:
    """Where the base's policy is to judge, it can be had: the change's own would be no gate."""
    if judged.policy_problem:
        value, limit = f"{judged.policy_problem}; judged by the change's own", "the base's settings"
        yield Finding("policy available", Conclusion.UNMEASURABLE, value, limit, "policy_from = base")


def check_evaluators(judged: RunContext) -> Iterator[Finding]:
    """Where the base's policy judges, a change keeps the base's evaluators and their thresholds."""
    if not judged.policy.of_base:
        return
    suites, limit = judged.comparison.run.suites, "as in the base"
    for each in judged.evaluator_changes:
        label = suites[each.suite].label
        yield Finding("evaluators unchanged", Conclusion.FAILED, each.what, limit, "", label, each.evaluator)


def check_filters(judged: RunContext) -> Iterator[Finding]:
    """Every filter finds a suite: a misspelt name must not leave out what it was to choose."""
    run = judged.comparison.run
    ran = tuple(dict.fromkeys(suite.id for suite in run.suites))
    known = ", ".join((*ran, *run.left_out)[:_MOST_NAMES])
    for glob in run.filters:
        if not any(matches_filters(suite, [glob]) for suite in (*ran, *run.skipped)):
            value = f"the filter {glob} matched {f'none of {known}' if known else 'nothing'}"
            yield Finding("filters match", Conclusion.UNMEASURABLE, value, "at least 1 suite each", "always")


_MOST_LIMIT_NAMES = 20


def check_limits(judged: RunContext) -> Iterator[Finding]:
    """Every limit finds a suite, and the evaluator it is for, unless a part of the project alone was to be run."""
    run = judged.comparison.run
    if run.filters or run.skipped:
        return
    for glob, limits in judged.policy.suites.items():
        suites = [suite for suite in run.suites if matches_suite(suite, glob)]
        if suites:
            elsewhere = run.narrowed and not any(glob in (suite.id, escape(suite.id)) for suite in suites)
            yield from _limits_without_evaluator(limits, suites, elsewhere=elsewhere)
        elif _is_set(limits) and not _may_miss_suites(run):
            yield _limits_without_suite(glob, limits, run)
    yield from _limits_without_evaluator(judged.policy.default, run.suites, elsewhere=run.narrowed)


def _is_set(limits: Limits) -> bool:
    return any(getattr(limits, each.name) not in (None, {}) for each in fields(limits) if each.name != "origin")


def _may_miss_suites(run: Run) -> bool:
    """Whether more suites may have been there: not looked for, in a run that was cut short, in a script that died."""
    heard = {suite.script for suite in run.suites}
    return run.narrowed or not run.complete or any(script.name not in heard for script in run.scripts)


def _limits_without_suite(glob: str, limits: Limits, run: Run) -> Finding:
    known = ", ".join(sorted({suite.id for suite in run.suites})[:_MOST_LIMIT_NAMES]) or "none"
    where = next(iter(limits.origin.values()), "default")
    value = f"{glob} matches none of the suites that ran: {known}"
    return Finding("limits apply", Conclusion.UNMEASURABLE, value, "at least 1 suite each", where)


def _limits_without_evaluator(limits: Limits, suites: Iterable[SuiteResult], *, elsewhere: bool) -> Iterator[Finding]:
    """`elsewhere`: a suite that is not in this run may have it, but for limits of the command line, which is for it."""
    names = {name for suite in suites for name in suite.evaluators}
    if not names:
        return  # that nothing was evaluated has a rule of its own
    for rule, table in (("min_score", limits.min_score), ("max_drop", limits.max_drop)):
        for glob in table:
            where = limits.where(f"{rule}.{glob}")
            if any(fnmatchcase(name, glob) for name in names) or (elsewhere and not where.startswith("--")):
                continue
            yield Finding(
                "limits apply", Conclusion.UNMEASURABLE, f"{glob} in {rule} matches no evaluator", rule, where
            )
