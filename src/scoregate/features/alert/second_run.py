"""Alerts of runs on the base branch: what got worse is measured again on the same commit before it is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scoregate.features.alert.problems import (
    MOST_PROBLEMS,
    Alert,
    AlertProblem,
    AlertState,
    list_declines,
    list_problems,
)
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.judgement import Judged, JudgeRun
from scoregate.kernel.run.plan import restrict_plan
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.run import Run

FOLDER = "confirm-alert"


async def find_alert(work: Work, judged: Judged, judge: JudgeRun) -> Alert:
    """What a run reports: what got worse and is as bad in a second measurement, and scores that sank slowly.

    A slow decline isn't measured again: it is the mean of several runs already, which one more run hardly changes. Its
    level is lower instead.

    Args:
        work: what was measured.
        judged: the run.
        judge: judges the second measurement as the run was.
    """
    settings, ports, run = work.settings, work.ports, judged.comparison.run
    problems = tuple(list_problems(judged.comparison, judged.verdict))[:MOST_PROBLEMS]
    declines = tuple(list_declines(judged.comparison, min_effect=settings.min_effect))
    if not problems:
        is_known = run.end.complete and judged.verdict.conclusion is not Conclusion.UNMEASURABLE
        state = AlertState.NONE if is_known else AlertState.UNKNOWN
        return _with_declines(Alert(state), declines)
    cases = _list_cases(run, {each.suite for each in problems})
    if not cases or ports.stop.is_set():
        return _with_declines(Alert(AlertState.UNKNOWN, problems), declines)
    repeats = settings.repeats if isinstance(settings.repeats, int) else 1
    part = restrict_plan(work.plan, cases, repeats=repeats)
    again = await ports.record(part, settings, (), folder=FOLDER)
    if not again.end.complete:
        return _with_declines(Alert(AlertState.UNKNOWN, problems), declines)
    second = judge(_with_labels(again, run))
    confirmed_keys = {each.key for each in list_problems(second.comparison, second.verdict)}
    confirmed = tuple(each for each in problems if each.key in confirmed_keys)
    state = AlertState.CONFIRMED if confirmed else AlertState.NOT_CONFIRMED
    return _with_declines(Alert(state, confirmed or problems), declines)


def _with_declines(alert: Alert, declines: Sequence[AlertProblem]) -> Alert:
    """The alert with the scores that sank slowly, and without problems that are not confirmed if there are any."""
    if not declines:
        return alert
    confirmed = alert.problems if alert.state is AlertState.CONFIRMED else ()
    known = {each.key for each in confirmed}
    added = (each for each in declines if each.key not in known)
    return Alert(AlertState.CONFIRMED, (*confirmed, *added)[:MOST_PROBLEMS])


def _list_cases(run: Run, labels: set[str]) -> dict[str, dict[str, list[str]]]:
    """The hashes of the cases of suites that ran, by script and suite id."""
    cases: dict[str, dict[str, list[str]]] = {}
    for suite in run.suites:
        if suite.label in labels and suite.script is not None and suite.evidence.counts(Use.AGAIN):
            cases.setdefault(suite.script, {}).setdefault(suite.id, []).extend(dict.fromkeys(suite.columns.hashes))
    return cases


def _with_labels(again: Run, run: Run) -> Run:
    """The second measurement with the labels of the run: with fewer suites, labels could be shorter."""
    labels = {(suite.script, suite.id, str(suite.params)): suite.label for suite in run.suites}
    suites = tuple(
        replace(suite, label=labels.get((suite.script, suite.id, str(suite.params)), suite.label))
        for suite in again.suites
    )
    return replace(again, suites=suites)
