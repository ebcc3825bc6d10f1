"""More runs of suites whose scores a gate would fail."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from scoregate.errors import ScoregateError
from scoregate.features.measure_again.level import CERTAIN_SHARE, DOUBTFUL_SHARE, LEVEL_SHARE, PROBE
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.gate.families import Shares
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.job.fresh_trials import BaseSide, find_base_side
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.archive import AGAIN, AGAIN_BASE, RUN_FOLDER
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.run.plan import Plan, repeat_launches
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import CRITICAL_CASE
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run

_RUNS = 2
_OTHER_TRIALS = (TrialRole.EXTRA, TrialRole.CONTROL)


async def measure_again(work: Work) -> Work:
    """Measure the suites that a gate on scores would fail again, unless this can't change the verdict."""
    baseline = work.baseline
    if baseline.run is None or baseline.implicit or work.ports.stop.is_set():
        return work
    if any(side.companions_of(role) for side in (work.run, baseline.run) for role in _OTHER_TRIALS):
        return work  # these have a test of their own
    plan = repeat_launches(work.plan, set(_find_scripts(work)))
    if not plan.launches:
        return work
    measured, problem = await _run_again(work, plan, await find_base_side(work))
    run = work.run
    for role, runs in measured.items():
        for each in runs:
            run = run.add_companion(role, each)
    paid = number_format.extra_cost([each for runs in measured.values() for each in runs])
    notices = [f"Not measured again: {problem}." if not measured else f"The base was not measured again: {problem}."]
    run = run.add_notices(*(notices if problem else ()), *([f"Measuring again {paid}."] if paid else ()))
    work.ports.amend(run)
    return replace(work, run=run)


def _find_scripts(work: Work) -> Iterator[str]:
    """The scripts of the suites whose drop is neither certain nor clearly within noise."""
    probed = _judge_at(work, DOUBTFUL_SHARE)
    drops = list(_list_drops(probed))
    if not drops or _fails_anyway(probed) or any(_list_drops(_judge_at(work, CERTAIN_SHARE))):
        return
    alpha = work.settings.policy().criteria.alpha
    fewest = Shares.divide(alpha, has_scores=True, has_ratios=True, factor=LEVEL_SHARE).fewest_cases
    if any(sum(row.pairs.able for row in rows) < fewest for rows in drops):
        return  # no number of trials makes so few cases significant at half of the level
    labels = {row.suite for rows in drops for row in rows}
    for suite in work.run.suites:
        if suite.label in labels and suite.script is not None:
            yield suite.script


def _judge_at(work: Work, share: float) -> Judged:
    return work.judge(replace(work.run, slots=work.run.slots.put(PROBE, share)), work.baseline)


def _list_drops(judged: Judged) -> Iterator[list[Row]]:
    """The rows of each drop that fails; of rows with few cases that are tested together, those that fell."""
    for finding in judged.verdict.findings:
        if finding.conclusion is Conclusion.FAILED and finding.is_drop:
            yield [row for row in judged.comparison.rows if _is_meant(row, finding)]


def _is_meant(row: Row, finding: Finding) -> bool:
    if finding.suite is None:
        return row.label is RowLabel.TOO_FEW and row.gain < 0
    return row.suite == finding.suite and row.evaluator == (finding.evaluator or row.evaluator)


def _fails_anyway(judged: Judged) -> bool:
    """Whether another gate fails. A critical case may still turn out to fail by chance."""
    failed = (each for each in judged.verdict.findings if each.conclusion is Conclusion.FAILED)
    return any(not each.is_drop and each.declaration is not CRITICAL_CASE for each in failed)


async def _run_again(work: Work, plan: Plan, base: BaseSide) -> tuple[Mapping[TrialRole, list[Run]], str]:
    """The runs, and why those of a side are missing. Without all runs here, none count."""
    again = list[Run]()
    for number in range(1, _RUNS + 1):
        run = await work.ports.record(plan, work.settings, (), folder=f"{RUN_FOLDER}/{AGAIN}{number}")
        if problem := _explain_failure([run]):
            return {}, problem
        again.append(run)
    if base.settings is None:
        return {TrialRole.AGAIN: again}, base.problem
    try:
        measured = await work.ports.rerun(plan, base.settings, folder=f"{RUN_FOLDER}/{AGAIN_BASE}")
    except ScoregateError as error:
        return {TrialRole.AGAIN: again}, error.message.rstrip(".")
    if measured.run is None or measured.unreadable:
        return {TrialRole.AGAIN: again}, measured.note
    return {TrialRole.AGAIN: again, TrialRole.AGAIN_BASE: [measured.run]}, ""


def _explain_failure(runs: Collection[Run]) -> str:
    """Why runs say nothing about scores; empty if they do."""
    for run in runs:
        if not run.end.complete:
            return "it was interrupted"
        for name, why in find_script_failures(run).items():
            return f"{name}: {why}"
    return ""
