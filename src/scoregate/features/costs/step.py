"""The step of costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.core.sections import Section


class CostsStep(Step):
    """Says what the run used and was expected to use."""

    name = "costs"

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.costs.section import build_section

        return (build_section(judged.comparison),)


STEP = CostsStep()
