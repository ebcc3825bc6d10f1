"""The judgement: compare a run with its baseline, and apply the policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scoregate.kernel.judge.judgement import (
    Baseline,
    ComparedSides,
    CompareRuns,
    Judged,
    JudgeStep,
    LoadJudgeSteps,
    find_adjusters,
)
from scoregate.kernel.types.runs.run import Run

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.types.runs.policy import Policy


def judge(sides: ComparedSides, load: LoadJudgeSteps) -> Judged:
    """Compare a run with its baseline and apply the policy; nothing is run.

    Args:
        sides: the run, its baseline, and what else the judgement reads.
        load: loads the steps of features.
    """
    from scoregate.kernel.compare.compared_suites import COMPARED
    from scoregate.kernel.gate import judge_comparison

    chosen = sides.choose_policy()
    policy = chosen.policy
    steps = load(sides.list_facts(policy))
    compare = partial(_compare_runs, sides, policy, steps)
    comparison = compare(sides.run, sides.baseline)
    for step in steps:
        comparison = step.after_compare(comparison, sides, compare)
    comparison = replace(comparison, slots=comparison.slots.put(COMPARED, None))
    corrected, verdict = judge_comparison(
        comparison,
        policy,
        policy_changes=chosen.changes,
        policy_problem=chosen.problem,
        calibrations=sides.calibrations() if policy.asks_for_calibration else {},
        checks=[check for step in steps for check in step.checks],
    )
    return Judged(corrected, verdict, steps)


def judge_sides(sides: ComparedSides, run: Run, baseline: Baseline, load: LoadJudgeSteps) -> Judged:
    """Judge another run and baseline as the run would be."""
    return judge(replace(sides, run=run, baseline=baseline), load)


def compare_sides(sides: ComparedSides, run: Run, baseline: Baseline, load: LoadJudgeSteps) -> Comparison:
    """Compare another run and baseline as the judgement would."""
    compared = replace(sides, run=run, baseline=baseline)
    policy = compared.choose_policy().policy
    return _compare_runs(sides, policy, load(compared.list_facts(policy)), run, baseline)


def _compare_runs(
    sides: ComparedSides,
    policy: Policy,
    steps: Sequence[JudgeStep],
    run: Run,
    baseline: Baseline,
) -> Comparison:
    """Compare a run with a baseline. Features leave out cases, which features before them count."""
    compare: CompareRuns = partial(_compare_cases, sides, policy, steps)
    for step in reversed(steps):
        compare = partial(step.around_compare, sides.slots, compare)
    return compare(run, _rename_baseline(run, baseline))


def _compare_cases(
    sides: ComparedSides,
    policy: Policy,
    steps: Sequence[JudgeStep],
    run: Run,
    baseline: Baseline,
) -> Comparison:
    from scoregate.kernel.compare.comparison import compare
    from scoregate.kernel.types.exemptions import EXEMPTIONS

    return compare(
        run,
        baseline.run,
        baseline.note,
        unreadable=baseline.unreadable,
        pool=baseline.pool,
        earlier=baseline.earlier,
        criteria=policy.criteria,
        criteria_of=policy.criteria_of,
        exemptions=sides.slots.get(EXEMPTIONS),
        adjusters=find_adjusters(steps, run, baseline.run, policy.criteria_of),
    )


def _rename_baseline(run: Run, baseline: Baseline) -> Baseline:
    """The baseline with the targets and evaluators named as in the run: a comparison pairs by name."""
    from scoregate.kernel.types.runs.evaluator_names import rename_base_evaluators
    from scoregate.kernel.types.runs.suite_targets import match_base_targets

    def rename(other: Run) -> Run:
        return match_base_targets(run, rename_base_evaluators(run, other))

    return replace(baseline.with_runs(rename), earlier=baseline.earlier and tuple(map(rename, baseline.earlier)))
