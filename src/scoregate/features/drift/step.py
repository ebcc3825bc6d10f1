"""The step of `drift_control`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.core.sections import Section


class DriftStep(Step):
    """Says which providers changed."""

    name = "drift"

    def sections(self, judged: Judged) -> Iterator[Section]:
        from scoregate.core.sections import Place, Section
        from scoregate.features.drift.section import describe_drift

        yield Section(self.name, Place.ROWS, sentences=tuple(describe_drift(judged.comparison)))
