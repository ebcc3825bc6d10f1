"""The hooks of slices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scoregate.features.slices.declare import MAX_SLICE_DROP, SLICES, find_limited_fields
from scoregate.kernel.job.steps import Step
from scoregate.kernel.judge.judgement import ComparedSides, CompareRuns, Judged

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.gate.check import SuiteCheck
    from scoregate.kernel.types.runs.run import SuiteResult
    from scoregate.kernel.types.slots import Section


class SlicesStep(Step):
    """Compares parts of suites, such as one language, and fails if a score drops by more than `max_slice_drop`."""

    name = "slices"

    @property
    def checks(self) -> tuple[SuiteCheck, ...]:
        from scoregate.features.slices.rule import CHECK

        return (CHECK,)

    def after_compare(self, comparison: Comparison, sides: ComparedSides, compare: CompareRuns) -> Comparison:
        policy = sides.choose_policy().policy
        limited = (name for limits in policy.all_limits for name in MAX_SLICE_DROP.of(limits))
        fields = (*find_limited_fields(limited), *SLICES.of(sides.settings))
        if not fields:
            return comparison
        from scoregate.features.slices.cases import collect_slices
        from scoregate.features.slices.rows import add_slices

        def find_limited(suite: SuiteResult) -> Iterable[str]:
            return MAX_SLICE_DROP.of(policy.limits_of(suite))

        return add_slices(comparison, lambda run: collect_slices(run, fields), find_limited)

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.slices.section import build_sections

        return build_sections(judged)


STEP = SlicesStep()
