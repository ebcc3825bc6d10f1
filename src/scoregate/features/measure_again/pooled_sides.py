"""Both sides with the trials that were measured again."""

from __future__ import annotations

from dataclasses import replace

from scoregate.kernel.compare.compared_suites import pair_suites
from scoregate.kernel.compare.pooled_trials import MEASURED, TrialPool
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.evaluator_names import rename_base_evaluators
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.suite_targets import match_base_targets


@record
class PooledSides:
    """Both sides with all their trials, and whether the run has any that were measured again."""

    run: Run
    baseline: Baseline
    has_more: bool


def pool_again(run: Run, baseline: Baseline) -> PooledSides:
    """The run and its baseline with these trials as further repeats; another base than the one that ran has none.

    Cases that keep results of the base count no further trials of it: nothing changed in them. Battles are those with
    the outputs of the stored base.
    """
    pool = TrialPool.of(run)
    for again in run.companions_of(TrialRole.AGAIN):
        pool.add(again, dict(pool.pair_measured(again)))
    pooled, base = pool.finish(), baseline.run
    if base is None or not pool.added or base.code.dirty:
        return PooledSides(pooled, baseline, bool(pool.added))
    base_pool = TrialPool.of(base)
    places = {place for index, place in pair_suites(run.suites, base.suites) if _is_measured(run.suites[index])}
    for again in run.companions_of(TrialRole.AGAIN_BASE):
        if again.code.commit == base.code.commit is not None:
            named = match_base_targets(run, rename_base_evaluators(run, again))
            pairs = base_pool.pair_measured(named)
            base_pool.add(named, {index: place for index, place in pairs if index in places})
    return PooledSides(pooled, replace(baseline, run=base_pool.finish()), True)


def _is_measured(suite: SuiteResult) -> bool:
    return suite.evidence.counts_all(MEASURED) and not any(info.battles for info in suite.evaluators.values())
