"""The hooks of arms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.kernel.job.steps import PlannedRun, Step
from scoregate.kernel.judge.judgement import Baseline, ComparedSides, CompareRuns, Judged
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.runs.evidence import TrialRole

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.job.ports import Ports
    from scoregate.kernel.types.slots import Section


class ArmsStep(Step):
    """Keeps the base's results of arms that are the same, and runs the base's version of skills that it has none of."""

    name = "arms"

    async def measure_base(self, planned: PlannedRun, ports: Ports) -> Baseline:
        if not _has_arms(planned.plan):
            return planned.baseline
        from scoregate.features.arms.base_arms import measure_base_arms

        return await measure_base_arms(planned, ports)

    async def change_plan(self, planned: PlannedRun) -> PlannedRun:
        if not _has_arms(planned.plan):
            return planned
        from scoregate.features.arms.base_arms import carry_arms

        return await carry_arms(planned)

    def after_compare(self, comparison: Comparison, sides: ComparedSides, compare: CompareRuns) -> Comparison:
        from scoregate.kernel.compare.compared_suites import COMPARED

        known = comparison.slots.get(COMPARED)
        if known is None or all(suite.role is not TrialRole.WITHOUT for suite in known.run.suites):
            return comparison
        from scoregate.features.arms.comparison import compare_arms
        from scoregate.features.arms.keys import EFFECTS

        effects = tuple(compare_arms(known.run.suites, sides.choose_policy().policy.criteria_of))
        return replace(comparison, slots=comparison.slots.put(EFFECTS, effects))

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.arms.section import build_sections

        return build_sections(judged)


def _has_arms(plan: Plan) -> bool:
    return any(launch.source.arm for launch in plan.launches)


STEP = ArmsStep()
