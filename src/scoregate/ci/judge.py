"""The judgement: compare a run with its baseline, and apply the policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scoregate.ci.baseline import Baseline
from scoregate.ci.policy import choose_policy
from scoregate.ci.settings import Settings
from scoregate.ci.steps import ComparedSides, Step, find_adjusters
from scoregate.core.records import record
from scoregate.core.runs.run import Run
from scoregate.core.slots import NO_SLOTS, Slots

if TYPE_CHECKING:
    from scoregate.ci.report.view import ReportView
    from scoregate.core.comparison.agreement import Calibrations
    from scoregate.core.comparison.comparison import Comparison
    from scoregate.core.exemptions import Exemptions
    from scoregate.core.gate import Verdict
    from scoregate.core.runs.policy import Policy

INTERRUPTED = 130


@record
class GateResult:
    """The result of the pipeline.

    Args:
        comparison: the comparison of the run with its baseline.
        verdict: the verdict of the gate rules.
        view: what was reported; None if nothing was.
        warnings: what could not be delivered.
        pending: the comment is left to a later job with more rights.
        comment: the address of the comment.
        interrupted: the run was stopped.
    """

    comparison: Comparison
    verdict: Verdict
    view: ReportView | None = None
    warnings: tuple[str, ...] = ()
    pending: bool = False
    comment: str = ""
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The verdict's exit code, or 130 if the run was interrupted."""
        return INTERRUPTED if self.interrupted else self.verdict.exit_code


def judge_run(
    run: Run,
    baseline: Baseline,
    settings: Settings,
    steps: Sequence[Step],
    calibrations: Callable[[], Calibrations] = dict,
    *,
    exemptions: Exemptions | None = None,
    slots: Slots = NO_SLOTS,
    with_slices: bool = True,
) -> GateResult:
    """Compare a run with its baseline and apply the policy; nothing is run.

    Args:
        run: the run.
        baseline: what it is compared with.
        settings: hold the policy.
        steps: the features.
        calibrations: how well judges agree with people; called only if the policy needs it.
        exemptions: the accepted regressions and quarantined cases.
        slots: what features compare it with.
        with_slices: whether slices are compared, which reads the cases.
    """
    from scoregate.core.exemptions import Exemptions
    from scoregate.core.gate import judge_comparison

    # The previous run on a developer's machine is no base of a change, so its policy never applies.
    chosen = choose_policy(settings, None if baseline.implicit else baseline.run)
    policy = chosen.policy
    exemptions = exemptions or Exemptions()
    slice_fields = (*policy.slice_fields, *settings.slices) if with_slices else ()
    compare = partial(_compare_runs, policy=policy, exemptions=exemptions, steps=steps)
    comparison = compare(run, baseline, slice_fields=slice_fields)
    for step in steps:
        comparison = step.after_compare(comparison, ComparedSides(run, baseline, slots), compare)
    agreement = calibrations() if policy.asks_for_calibration else {}
    judged, verdict = judge_comparison(
        comparison,
        policy,
        policy_changes=chosen.changes,
        policy_problem=chosen.problem,
        calibrations=agreement,
        checks=[check for step in steps for check in step.checks],
    )
    return GateResult(judged, verdict)


def compare_without_slices(settings: Settings, steps: Sequence[Step]) -> Callable[..., Comparison]:
    """What compares a run with a baseline before the run is judged; slices read the cases, and decide nothing there."""

    def compare(run: Run, baseline: Baseline, exemptions: Exemptions | None = None) -> Comparison:
        return judge_run(run, baseline, settings, steps, exemptions=exemptions, with_slices=False).comparison

    return compare


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

    def compare_sides(sides: Sides) -> Comparison:
        return compare(
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

    sides = leave_out()
    comparison = replace(compare_sides(sides), quarantined=sides.cases)
    kept = [case for case in sides.cases if case.is_compared]
    if not kept:
        return comparison
    with_kept = compare_sides(leave_out(kept=kept))
    return replace(
        comparison,
        rows=with_kept.rows,
        quantities=with_kept.quantities,
        slices=with_kept.slices,
        arms=with_kept.arms,
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
