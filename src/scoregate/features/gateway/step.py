"""The step of `gateway`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scoregate.ci.steps import Judged, Step

if TYPE_CHECKING:
    from scoregate.core.sections import Section


class GatewayStep(Step):
    """Lists the calls of models."""

    name = "gateway"

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.gateway.section import build_section

        return (build_section(judged.comparison),)


STEP = GatewayStep()
