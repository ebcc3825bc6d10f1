"""The hook of the collector."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from scoregate.features.otlp.declare import OTLP_ENDPOINT
from scoregate.kernel.job.steps import Step

if TYPE_CHECKING:
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.publish.delivery import Publisher


class OtlpStep(Step):
    """Sends results to an OpenTelemetry collector."""

    name = "otlp"

    def open_publishers(self, context: JobContext) -> AbstractAsyncContextManager[Sequence[Publisher]]:
        is_of_another_run = context.subject is not None and not context.subject.measured_here
        if (endpoint := OTLP_ENDPOINT.of(context.settings)) is None or is_of_another_run:
            return nullcontext(())
        from scoregate.features.otlp.publisher import make_target, publish_to_collector

        target = make_target(context.settings, endpoint, context.environ)
        return nullcontext((partial(publish_to_collector, target),))


STEP = OtlpStep()
