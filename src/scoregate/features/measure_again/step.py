"""The hooks of `measure_again`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.features.measure_again.declare import MEASURE_AGAIN
from scoregate.features.measure_again.level import LEVEL_SHARE, PROBE
from scoregate.kernel.job.steps import Step, Work
from scoregate.kernel.types.runs.evidence import TrialRole

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.judge.judgement import Baseline, CompareRuns, Judged
    from scoregate.kernel.types.runs.run import Run
    from scoregate.kernel.types.slots import Section, Slots


class MeasureAgainStep(Step):
    """Runs suites again before a gate on their scores fails; all trials together decide."""

    name = "measure_again"

    async def measure_more(self, work: Work) -> Work:
        if not MEASURE_AGAIN.of(work.settings):
            return work
        from scoregate.features.measure_again.more_runs import measure_again

        return await measure_again(work)

    def around_compare(self, slots: Slots, compare: CompareRuns, run: Run, baseline: Baseline) -> Comparison:
        from scoregate.kernel.gate.families import LEVEL_FACTOR

        if (factor := run.slots.get(PROBE)) is not None:
            comparison = compare(run, baseline)
        elif run.companions_of(TrialRole.AGAIN):
            from scoregate.features.measure_again.pooled_sides import pool_again

            sides = pool_again(run, baseline)
            factor = LEVEL_SHARE if sides.has_more else 1.0
            comparison = compare(sides.run, sides.baseline)
        else:
            return compare(run, baseline)
        return replace(comparison, slots=comparison.slots.put(LEVEL_FACTOR, factor))

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.measure_again.section import build_sections

        return build_sections(judged)


STEP = MeasureAgainStep()
