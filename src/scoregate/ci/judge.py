"""The judgement: compare a run with its baseline, and apply the policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scoregate.ci.baseline import Baseline
from scoregate.ci.policy import ChosenPolicy, choose_policy
from scoregate.ci.steps import ComparedSides, Judged, Step, compare_suites, find_adjusters
from scoregate.core.runs.run import Run

if TYPE_CHECKING:
    from scoregate.core.comparison.comparison import Comparison
    from scoregate.core.exemptions import Exemptions
    from scoregate.core.runs.policy import Policy


def judge(sides: ComparedSides, steps: Sequence[Step], *, with_slices: bool = True) -> Judged:
    """Compare a run with its baseline and apply the policy; nothing is run.

    Args:
        sides: the run, its baseline, and what else the judgement reads.
        steps: the features.
        with_slices: whether slices are compared, which reads the cases.
    """
    from scoregate.core.gate import judge_comparison

    chosen = _choose_policy(sides)
    policy, exemptions = chosen.policy, _find_exemptions(sides)
    slice_fields = (*policy.slice_fields, *sides.settings.slices) if with_slices else ()
    compare = partial(_compare_runs, policy=policy, exemptions=exemptions, steps=steps)
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
    return Judged(corrected, verdict)


def compare_sides(sides: ComparedSides, run: Run, baseline: Baseline, steps: Sequence[Step]) -> Comparison:
    """Compare another run and baseline as the judgement would; slices read the cases, and decide nothing here."""
    sides = replace(sides, run=run, baseline=baseline)
    return _compare_runs(run, baseline, _choose_policy(sides).policy, _find_exemptions(sides), steps)


def _choose_policy(sides: ComparedSides) -> ChosenPolicy:
    # The previous run on a developer's machine is no base of a change, so its policy never applies.
    return choose_policy(sides.settings, None if sides.baseline.implicit else sides.baseline.run)


def _find_exemptions(sides: ComparedSides) -> Exemptions:
    from scoregate.core.exemptions import EXEMPTIONS, Exemptions

    return sides.slots.get(EXEMPTIONS) or Exemptions()


def _compare_runs(
    run: Run,
    baseline: Baseline,
    policy: Policy,
    exemptions: Exemptions,
    steps: Sequence[Step],
    *,
    slice_fields: Sequence[str] = (),
) -> Comparison:
    """Compare a run with another one, without the cases in quarantine.

    The comparison of scores, costs and latencies keeps those whose entry may be younger than the baseline.
    """
    from scoregate.core.comparison.comparison import compare
    from scoregate.core.comparison.quarantine import Sides, leave_out_quarantine
    from scoregate.core.comparison.slice_rows import SliceChoice
    from scoregate.core.runs.slices import collect_slices

    baseline = _rename_baseline(run, baseline)
    leave_out = partial(leave_out_quarantine, run, baseline.run, baseline.pool, exemptions, earlier=baseline.earlier)

    def compare_remaining(sides: Sides) -> Comparison:
        comparison = compare(
            sides.run,
            sides.base,
            baseline.note,
            unreadable=baseline.unreadable,
            pool=sides.pool,
            earlier=sides.earlier,
            criteria=policy.criteria,
            criteria_of=policy.criteria_of,
            slices=SliceChoice(collect_slices(sides.run, slice_fields), policy.limited_slices),
            exemptions=exemptions,
            adjusters=find_adjusters(steps, sides.run, sides.base, policy.criteria_of),
        )
        return replace(comparison, slots=compare_suites(steps, comparison.run, policy.criteria_of))

    sides = leave_out()
    comparison = replace(compare_remaining(sides), quarantined=sides.cases)
    kept = [case for case in sides.cases if case.is_compared]
    if not kept:
        return comparison
    with_kept = compare_remaining(leave_out(kept=kept))
    return replace(
        comparison,
        rows=with_kept.rows,
        quantities=with_kept.quantities,
        slices=with_kept.slices,
        slots=with_kept.slots,
        pooled=with_kept.pooled,
        earlier_runs=with_kept.earlier_runs,
    )


def _rename_baseline(run: Run, baseline: Baseline) -> Baseline:
    """The baseline with the targets and evaluators named as in the run: quarantine and comparison pair by name."""
    from scoregate.core.runs.evaluator_names import rename_base_evaluators
    from scoregate.core.runs.suite_targets import match_base_targets

    def rename(other: Run) -> Run:
        return match_base_targets(run, rename_base_evaluators(run, other))

    return replace(baseline.with_runs(rename), earlier=baseline.earlier and tuple(map(rename, baseline.earlier)))
