"""The step of arms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.core.sections import Section


class ArmsStep(Step):
    """Says what skills and other files for agents change."""

    name = "arms"

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.arms.section import build_section

        return (build_section(judged.comparison),)


STEP = ArmsStep()
