"""The step of variants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.core.sections import Section


class VariantsStep(Step):
    """Ranks variants."""

    name = "variants"

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.variants.section import build_section

        return (build_section(judged.comparison.variants),)


STEP = VariantsStep()
