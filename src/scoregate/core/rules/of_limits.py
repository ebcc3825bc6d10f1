"""Rules about the limits themselves: a misspelt name must not open the gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from fnmatch import fnmatchcase
from glob import escape

from scoregate.core.policy import Limits, is_meant
from scoregate.core.record import Run, SuiteResult
from scoregate.core.rules.finding import Conclusion, Finding
from scoregate.core.rules.judged import JudgedRun

_MOST_NAMES = 20


def limits_apply(judged: JudgedRun) -> Iterator[Finding]:
    """Every limit finds a suite, and the evaluator it is for, unless a part of the project alone was to be run."""
    run = judged.comparison.run
    if run.filters or run.skipped:
        return
    for glob, limits in judged.policy.suites.items():
        suites = [suite for suite in run.suites if is_meant(suite, glob)]
        if suites:
            elsewhere = run.narrowed and not any(glob in (suite.id, escape(suite.id)) for suite in suites)
            yield from _without_evaluator(limits, suites, elsewhere=elsewhere)
        elif _is_set(limits) and not _may_lack_suites(run):
            yield _without_suite(glob, limits, run)
    yield from _without_evaluator(judged.policy.default, run.suites, elsewhere=run.narrowed)


def _is_set(limits: Limits) -> bool:
    return any(getattr(limits, each.name) not in (None, {}) for each in fields(limits) if each.name != "origin")


def _may_lack_suites(run: Run) -> bool:
    """Whether more suites may have been there: not looked for, in a run that was cut short, in a script that died."""
    heard = {suite.script for suite in run.suites}
    return run.narrowed or not run.complete or any(script.name not in heard for script in run.scripts)


def _without_suite(glob: str, limits: Limits, run: Run) -> Finding:
    known = ", ".join(sorted({suite.id for suite in run.suites})[:_MOST_NAMES]) or "none"
    where = next(iter(limits.origin.values()), "default")
    value = f"{glob} matches none of the suites that ran: {known}"
    return Finding("limits apply", Conclusion.UNMEASURABLE, value, "at least 1 suite each", where)


def _without_evaluator(limits: Limits, suites: Iterable[SuiteResult], *, elsewhere: bool) -> Iterator[Finding]:
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
