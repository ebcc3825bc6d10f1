"""More runs of suites whose scores a gate would fail."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from scoregate.errors import ScoregateError
from scoregate.features.measure_again.level import CERTAIN_SHARE, DOUBTFUL_SHARE, LEVEL_SHARE, PROBE
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.pooled_trials import MEASURED
from scoregate.kernel.gate.families import Shares
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.job.earlier_attempts import is_incomplete
from scoregate.kernel.job.fresh_trials import BaseSide, find_base_side
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.archive import RUN_FOLDER
from scoregate.kernel.judge.archive.folder import name_companion
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.judge.settings.limit_fields import replays_calls
from scoregate.kernel.run.plan import Plan, repeat_launches
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import CRITICAL_CASE
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run

_RUNS = 2
_OTHER_TRIALS = (TrialRole.EXTRA, TrialRole.CONTROL)
_INCOMPLETE = "it was stopped, a part of it failed, or it has too many errors"


async def measure_again(work: Work) -> Work:
    """Measure the suites that a gate on scores would fail again, unless this can't change the verdict."""
    baseline = work.baseline
    if baseline.run is None or baseline.implicit or work.ports.stop.is_set() or not _asks_models(work):
        return work
    if any(side.companions_of(role) for side in (work.run, baseline.run) for role in _OTHER_TRIALS):
        return work  # these have a test of their own
    plan = repeat_launches(work.plan, set(_find_scripts(work)))
    if not plan.launches:
        return work
    made = list[Run]()
    measured, problem = await _run_again(work, plan, await find_base_side(work), made)
    run = work.run
    for role, runs in measured.items():
        for each in runs:
            run = run.add_companion(role, each)
    paid = number_format.extra_cost(made)
    notices = [f"Not measured again: {problem}." if not measured else f"The base was not measured again: {problem}."]
    run = run.add_notices(*(notices if problem else ()), *([f"Measuring again {paid}."] if paid else ()))
    work.ports.amend(run)
    return replace(work, run=run)


def _asks_models(work: Work) -> bool:
    """Whether suites get new answers: recorded ones are no further trials."""
    return not replays_calls(work.settings) and not work.settings.cache.startswith("readonly")


def _find_scripts(work: Work) -> Iterator[str]:
    """The scripts of the suites whose drop is neither certain nor clearly within noise."""
    drops = list(_list_drops(_judge_at(work, DOUBTFUL_SHARE)))
    if not drops:
        return
    judged = work.judge(work.run, work.baseline)
    if _fails_anyway(judged) or any(_list_drops(_judge_at(work, CERTAIN_SHARE))):
        return
    # No number of trials makes so few cases significant at half of the level.
    able = [rows for rows in drops if not _is_powerless(rows, work)]
    if not able or any(_is_powerless(rows, work) for rows in _list_drops(judged)):
        return
    labels = {row.suite for rows in able for row in rows}
    for suite in work.run.suites:
        if suite.label in labels and suite.script is not None and suite.evidence.counts_all(MEASURED):
            yield suite.script


def _judge_at(work: Work, share: float) -> Judged:
    return work.judge(replace(work.run, slots=work.run.slots.put(PROBE, share)), work.baseline)


def _list_drops(judged: Judged) -> Iterator[list[Row]]:
    """The rows of each drop that fails; of rows with few cases that are tested together, those that fell."""
    for finding in judged.verdict.findings:
        if finding.conclusion is Conclusion.FAILED and finding.is_drop:
            yield [row for row in judged.comparison.rows if _is_row_of(row, finding)]


def _is_row_of(row: Row, finding: Finding) -> bool:
    if finding.suite is None:
        return row.label is RowLabel.TOO_FEW and row.gain < 0
    return row.suite == finding.suite and row.evaluator == (finding.evaluator or row.evaluator)


def _is_powerless(rows: list[Row], work: Work) -> bool:
    alpha = work.settings.policy().criteria.alpha
    fewest = Shares.divide(alpha, has_scores=True, has_ratios=True, factor=LEVEL_SHARE).fewest_cases
    return sum(row.pairs.able for row in rows) < fewest


def _fails_anyway(judged: Judged) -> bool:
    """Whether another gate fails. A critical case may still turn out to fail by chance."""
    failed = (each for each in judged.verdict.findings if each.conclusion is Conclusion.FAILED)
    return any(not each.is_drop and each.declaration is not CRITICAL_CASE for each in failed)


async def _run_again(
    work: Work, plan: Plan, base: BaseSide, made: list[Run]
) -> tuple[Mapping[TrialRole, list[Run]], str]:
    """The runs, and why those of a side are missing. Without all runs here, none count, and none stay on disk.

    All runs are added to `made`, since those that don't count are paid, too.
    """
    again = list[Run]()
    for number in range(1, _RUNS + 1):
        run = await work.ports.record(plan, work.settings, (), folder=_name_folder(TrialRole.AGAIN, number))
        again.append(run)
        made.append(run)
        if is_incomplete(run, work.settings.policy()):
            for discarded in range(1, number + 1):
                _remove(work, TrialRole.AGAIN, discarded)
            return {}, _INCOMPLETE
    problem = base.problem
    if base.settings is not None:
        measured, problem = await _run_base(work, plan, base, made)
        if measured is not None:
            return {TrialRole.AGAIN: again, TrialRole.AGAIN_BASE: [measured]}, ""
        _remove(work, TrialRole.AGAIN_BASE, 1)
    return {TrialRole.AGAIN: again}, problem


async def _run_base(work: Work, plan: Plan, base: BaseSide, made: list[Run]) -> tuple[Run | None, str]:
    """The run of the base, or why there is none."""
    settings = base.settings or work.settings
    try:
        measured = await work.ports.rerun(plan, settings, folder=_name_folder(TrialRole.AGAIN_BASE, 1))
    except ScoregateError as error:
        return None, error.message.rstrip(".")
    made += [measured.run] if measured.run is not None else []
    if measured.run is None or measured.unreadable:
        return None, measured.note
    return (None, _INCOMPLETE) if is_incomplete(measured.run, settings.policy()) else (measured.run, "")


def _name_folder(role: TrialRole, number: int) -> str:
    return name_companion(Path(RUN_FOLDER), role, number).as_posix()


def _remove(work: Work, role: TrialRole, number: int) -> None:
    """Remove a run that does not count: what judges the run again reads what is there."""
    shutil.rmtree(work.ports.reporting.context.out / _name_folder(role, number), ignore_errors=True)
