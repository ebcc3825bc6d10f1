"""The hook of `otlp_receiver`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from scoregate.features.traces.declare import OTLP_RECEIVER
from scoregate.kernel.job.steps import Step

if TYPE_CHECKING:
    from scoregate.kernel.run.launch import Launching, LaunchLayer


class TracesStep(Step):
    """Receives the spans of suites."""

    name = "traces"

    def around_launches(self, launching: Launching) -> AbstractAsyncContextManager[LaunchLayer | None]:
        if not OTLP_RECEIVER.of(launching.settings):
            return nullcontext()
        from scoregate.kernel.run.server_packages import require_server_packages

        require_server_packages("otlp_receiver")
        from scoregate.features.traces.receiver import receive_traces

        return receive_traces(launching)


STEP = TracesStep()
