"""The step of slices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.core.sections import Section


class SlicesStep(Step):
    """Compares parts of suites."""

    name = "slices"

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.slices.section import build_section

        return (build_section(judged),)


STEP = SlicesStep()
