"""The hooks of arms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scoregate.kernel.job.steps import PlannedRun, Step
from scoregate.kernel.judge.baseline import Baseline
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Slots

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import CriteriaOf
    from scoregate.kernel.job.ports import Ports
    from scoregate.kernel.types.sections import Section


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

    def compare_suites(self, run: Run, criteria_of: CriteriaOf, slots: Slots) -> Slots:
        if all(suite.role is not TrialRole.WITHOUT for suite in run.suites):
            return slots
        from scoregate.features.arms.comparison import compare_arms
        from scoregate.features.arms.keys import COMPARED

        return slots.put(COMPARED, tuple(compare_arms(run.suites, criteria_of)))

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.arms.section import build_sections

        return build_sections(judged)


def _has_arms(plan: Plan) -> bool:
    return any(launch.source.arm for launch in plan.launches)


STEP = ArmsStep()
