"""The hook of suites of other SDKs."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from scoregate.kernel.job.steps import Step

if TYPE_CHECKING:
    from scoregate.kernel.run.launch import Launching, LaunchLayer


class ForeignStep(Step):
    """Records what suites of other SDKs report over HTTP."""

    name = "foreign"

    def around_launches(self, launching: Launching) -> AbstractAsyncContextManager[LaunchLayer | None]:
        if not any(launch.source.foreign for launch in launching.plan.launches):
            return nullcontext()
        from scoregate.kernel.run.server_packages import require_server_packages

        require_server_packages("a suite of another SDK")
        from scoregate.features.foreign.connections import open_connections

        return open_connections(launching)


STEP = ForeignStep()
