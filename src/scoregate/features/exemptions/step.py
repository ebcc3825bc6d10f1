"""The step of exemptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.core.sections import Section


class ExemptionsStep(Step):
    """Says which regressions are accepted, and which cases are in quarantine."""

    name = "exemptions"

    def sections(self, judged: Judged) -> Iterator[Section]:
        from scoregate.features.exemptions.section import build_sections

        return build_sections(judged)


STEP = ExemptionsStep()
