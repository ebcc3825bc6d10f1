"""The hooks of `gateway`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.features.gateway.declare import GATEWAY, GatewayMode
from scoregate.kernel.job.steps import OpenRecorder, Step
from scoregate.kernel.judge.judgement import Judged

if TYPE_CHECKING:
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.run.recording import Recorder
    from scoregate.kernel.types.slots import Section


class GatewayStep(Step):
    """Keeps the keys of models from suites, and limits, counts, records and replays their calls."""

    name = "gateway"

    def around_run(self, recorder: Recorder, context: JobContext, scratch: Path) -> OpenRecorder:
        if GATEWAY.of(context.settings).mode is GatewayMode.OFF:
            return nullcontext(recorder)
        from scoregate.features.gateway.layer import serve_calls

        return serve_calls(recorder, context, scratch)

    def sections(self, judged: Judged) -> Iterable[Section]:
        from scoregate.features.gateway.section import build_sections

        return build_sections(judged)


STEP = GatewayStep()
