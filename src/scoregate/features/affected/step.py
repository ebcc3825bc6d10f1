"""The hooks of `affected`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from scoregate.features.affected.declare import AFFECTED, ANNOTATE_UNREAD
from scoregate.kernel.job.steps import PlannedRun, Step

if TYPE_CHECKING:
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.ports import Ports
    from scoregate.kernel.job.publish.delivery import Publisher


class AffectedStep(Step):
    """Leaves out what a change can't affect, and says which changed files no suite reads."""

    name = "affected"

    async def change_plan(self, planned: PlannedRun) -> PlannedRun:
        if not AFFECTED.of(planned.settings):
            return planned
        from scoregate.features.affected.choice import choose_affected

        return await choose_affected(planned)

    async def finish_plan(self, planned: PlannedRun, ports: Ports) -> PlannedRun:
        if planned.plan.kept is None:
            return planned
        from scoregate.features.affected.choice import offer_kept_cases

        return await offer_kept_cases(planned, planned.plan.kept, ports)

    def open_publishers(self, context: JobContext) -> AbstractAsyncContextManager[Sequence[Publisher]]:
        if not (patterns := ANNOTATE_UNREAD.of(context.settings)):
            return nullcontext(())
        from scoregate.features.affected.unread_files import publish_unread_files

        return nullcontext((partial(publish_unread_files, patterns),))


STEP = AffectedStep()
