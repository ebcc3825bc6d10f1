"""Both sides with the trials that were measured again."""

from __future__ import annotations

from dataclasses import replace

from scoregate.kernel.compare.pooled_trials import TrialPool
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.types.runs.evaluator_names import rename_base_evaluators
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.suite_targets import match_base_targets


def pool_again(run: Run, baseline: Baseline) -> tuple[Run, Baseline]:
    """The run and its baseline with these trials as further repeats; another base than the one that ran has none."""
    pool = TrialPool.of(run)
    for again in run.companions_of(TrialRole.AGAIN):
        pool.add(again, dict(pool.pair_measured(again)))
    base, pooled = baseline.run, pool.finish()
    if base is None:
        return pooled, baseline
    base_pool = TrialPool.of(base)
    for again in run.companions_of(TrialRole.AGAIN_BASE):
        if again.code.commit == base.code.commit is not None:
            named = match_base_targets(run, rename_base_evaluators(run, again))
            base_pool.add(named, dict(base_pool.pair_measured(named)))
    return pooled, replace(baseline, run=base_pool.finish())
