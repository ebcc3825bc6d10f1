"""The hooks of `--resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoregate.features.resume.keys import OFFERED
from scoregate.kernel.job.resume_request import REQUEST
from scoregate.kernel.job.steps import PlannedRun, Step
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Slots

if TYPE_CHECKING:
    from scoregate.kernel.job.ports import Ports


class ResumeStep(Step):
    """Reuses the results of a run that did not finish."""

    name = "resume"
    in_shards = True

    async def finish_plan(self, planned: PlannedRun, ports: Ports) -> PlannedRun:
        if planned.context.connection is None and ports.requests.get(REQUEST) is None:
            return planned
        from scoregate.features.resume.interrupted_run import resume_run

        return await resume_run(planned, ports)

    def store(self, run: Run, slots: Slots) -> Run:
        if (offered := slots.get(OFFERED)) is None:
            return run
        from scoregate.features.resume.interrupted_run import describe_reuse

        return describe_reuse(run, *offered)


STEP = ResumeStep()
