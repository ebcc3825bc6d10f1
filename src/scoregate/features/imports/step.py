"""The hook of result files."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from scoregate.kernel.job.steps import Step

if TYPE_CHECKING:
    from scoregate.kernel.run.launch import Launching, LaunchLayer


class ImportsStep(Step):
    """Reads the result files of other tools."""

    name = "imports"

    def around_launches(self, launching: Launching) -> AbstractAsyncContextManager[LaunchLayer | None]:
        if not any(launch.source.imports for launch in launching.plan.launches):
            return nullcontext()
        from scoregate.features.imports.layer import ImportsLayer

        return nullcontext(ImportsLayer(launching))


STEP = ImportsStep()
