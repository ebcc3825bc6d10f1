"""The hooks of costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.features.costs.section import ESTIMATE
from scoregate.kernel.job.steps import PlannedRun, Step
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Slots

if TYPE_CHECKING:
    from scoregate.kernel.job.ports import Ports
    from scoregate.kernel.types.slots import Section


class CostsStep(Step):
    """Estimates what a run uses, refuses one that exceeds its budget, and says what it used."""

    name = "costs"
    in_shards = True
    number_slots = (ESTIMATE,)

    async def finish_plan(self, planned: PlannedRun, ports: Ports) -> PlannedRun:
        from scoregate.features.costs.forecast import check_budget, make_forecast

        shard = planned.plan.shard
        forecast = await make_forecast(planned.whole or planned.plan, planned.settings, planned.baseline)
        total = forecast.total if shard is None else forecast.shards_total
        if total is not None and not planned.plan.offered:  # how much is reused, only the suites find out
            from scoregate.features.costs.texts import format_estimate

            if line := format_estimate(total):
                ports.print_line(line + (f", for all {shard.of:,} shards" if shard is not None else ""))
            check_budget(total, planned.settings)
        slots = planned.slots.put(ESTIMATE, total)
        return replace(planned, notices=(*planned.notices, *forecast.notices), slots=slots)

    def store(self, run: Run, slots: Slots) -> Run:
        expected = slots.get(ESTIMATE)
        return run if expected is None else replace(run, slots=run.slots.put(ESTIMATE, expected))

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.costs.section import build_sections

        return build_sections(judged)


STEP = CostsStep()
