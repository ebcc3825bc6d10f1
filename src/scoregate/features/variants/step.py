"""The hooks of variants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.kernel.job.steps import Step
from scoregate.kernel.judge.judgement import ComparedSides, CompareRuns, Judged

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison import Comparison
    from scoregate.kernel.types.slots import Section


class VariantsStep(Step):
    """Ranks the variants of suites that ran with several tasks or parameters."""

    name = "variants"

    def after_compare(self, comparison: Comparison, sides: ComparedSides, compare: CompareRuns) -> Comparison:
        from scoregate.features.variants.keys import RANKINGS
        from scoregate.kernel.compare.variants import rank_suites

        rankings = tuple(rank_suites(comparison.run.suites, sides.choose_policy().policy.criteria_of))
        return replace(comparison, slots=comparison.slots.put(RANKINGS, rankings))

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.variants.section import build_sections

        return build_sections(judged)


STEP = VariantsStep()
