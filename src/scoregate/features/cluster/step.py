"""The hook of `--executor`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.features.cluster.declare import EXECUTOR, SCHEDULER, ExecutorKind
from scoregate.kernel.job.steps import Step
from scoregate.kernel.judge.settings import Settings

if TYPE_CHECKING:
    from scoregate.kernel.job.ports import RecordPlan
    from scoregate.kernel.run.recording import Recorder


class ClusterStep(Step):
    """Runs suites in parts on the workers of a cluster."""

    name = "cluster"

    def open_executor(
        self, recorder: Recorder, settings: Settings, scratch: Path
    ) -> AbstractAsyncContextManager[RecordPlan] | None:
        if EXECUTOR.of(settings) is ExecutorKind.LOCAL and SCHEDULER.of(settings) is None:
            return None
        from scoregate.features.cluster.executors import open_executor

        return open_executor(recorder, settings, scratch)


STEP = ClusterStep()
