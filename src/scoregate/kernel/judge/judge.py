"""The judgement: compare a run with its baseline, and apply the policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scoregate.kernel.judge.baseline import Baseline
from scoregate.kernel.judge.judgement import (
    ComparedSides,
    CompareRuns,
    Judged,
    JudgeStep,
    LoadJudgeSteps,
    compare_suites,
    find_adjusters,
)
from scoregate.kernel.types.runs.run import Run

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.types.runs.policy import Policy


def judge(sides: ComparedSides, load: LoadJudgeSteps, *, with_slices: bool = True) -> Judged:
    """Compare a run with its baseline and apply the policy; nothing is run.

    Args:
        sides: the run, its baseline, and what else the judgement reads.
        load: loads the steps of features.
        with_slices: whether slices are compared, which reads the cases.
    """
    from scoregate.kernel.gate import judge_comparison

    chosen = sides.choose_policy()
    policy = chosen.policy
    steps = load(sides.list_facts(policy))
    compare = partial(_compare_runs, sides, policy, steps)
    slice_fields = (*policy.slice_fields, *sides.settings.slices) if with_slices else ()
    comparison = compare(sides.run, sides.baseline, slice_fields=slice_fields)
    for step in steps:
        comparison = step.after_compare(comparison, sides, compare)
    corrected, verdict = judge_comparison(
        comparison,
        policy,
        policy_changes=chosen.changes,
        policy_problem=chosen.problem,
        calibrations=sides.calibrations() if policy.asks_for_calibration else {},
        checks=[check for step in steps for check in step.checks],
    )
    return Judged(corrected, verdict, steps)


def compare_sides(sides: ComparedSides, run: Run, baseline: Baseline, load: LoadJudgeSteps) -> Comparison:
    """Compare another run and baseline as the judgement would; slices read the cases, and decide nothing here."""
    compared = replace(sides, run=run, baseline=baseline)
    policy = compared.choose_policy().policy
    return _compare_runs(sides, policy, load(compared.list_facts(policy)), run, baseline)


def _compare_runs(
    sides: ComparedSides,
    policy: Policy,
    steps: Sequence[JudgeStep],
    run: Run,
    baseline: Baseline,
    *,
    slice_fields: Sequence[str] = (),
) -> Comparison:
    """Compare a run with a baseline. Features leave out cases, which features before them count."""
    compare: CompareRuns = partial(_compare_cases, sides, policy, steps, slice_fields)
    for step in reversed(steps):
        compare = partial(step.around_compare, sides.slots, compare)
    return compare(run, _rename_baseline(run, baseline))


def _compare_cases(
    sides: ComparedSides,
    policy: Policy,
    steps: Sequence[JudgeStep],
    slice_fields: Sequence[str],
    run: Run,
    baseline: Baseline,
) -> Comparison:
    from scoregate.kernel.compare.comparison import compare
    from scoregate.kernel.compare.slice_rows import SliceChoice
    from scoregate.kernel.types.exemptions import EXEMPTIONS
    from scoregate.kernel.types.runs.slices import collect_slices

    comparison = compare(
        run,
        baseline.run,
        baseline.note,
        unreadable=baseline.unreadable,
        pool=baseline.pool,
        earlier=baseline.earlier,
        criteria=policy.criteria,
        criteria_of=policy.criteria_of,
        slices=SliceChoice(collect_slices(run, slice_fields), policy.limited_slices),
        exemptions=sides.slots.get(EXEMPTIONS),
        adjusters=find_adjusters(steps, run, baseline.run, policy.criteria_of),
    )
    return replace(comparison, slots=compare_suites(steps, comparison.run, policy.criteria_of))


def _rename_baseline(run: Run, baseline: Baseline) -> Baseline:
    """The baseline with the targets and evaluators named as in the run: a comparison pairs by name."""
    from scoregate.kernel.types.runs.evaluator_names import rename_base_evaluators
    from scoregate.kernel.types.runs.suite_targets import match_base_targets

    def rename(other: Run) -> Run:
        return match_base_targets(run, rename_base_evaluators(run, other))

    return replace(baseline.with_runs(rename), earlier=baseline.earlier and tuple(map(rename, baseline.earlier)))
