"""The step of coverage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.core.sections import Section


class CoverageStep(Step):
    """Says which tools and prompts no case uses."""

    name = "coverage"

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.ci.report.coverage import FOUND
        from scoregate.features.coverage.section import build_sections

        return build_sections(judged.comparison.slots.get(FOUND))
