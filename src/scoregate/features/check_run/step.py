"""The hook of the check."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from scoregate.features.check_run.declare import CHECK_RUN
from scoregate.kernel.job.steps import Step

if TYPE_CHECKING:
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.publish.delivery import Publisher


class CheckRunStep(Step):
    """Keeps a check on the commit in progress during the run, and completes it with the report."""

    name = "check_run"

    @asynccontextmanager
    async def open_publishers(self, context: JobContext) -> AsyncIterator[Sequence[Publisher]]:
        connection, subject = context.connection, context.subject
        is_wanted = CHECK_RUN.of(context.settings) and subject is not None and not subject.read_only
        if not is_wanted or subject is None or connection is None or connection.api is None:
            yield ()
            return
        from scoregate.features.check_run.publisher import CheckRun

        check = CheckRun(connection.api, subject.commit, connection.key, subject.run_url)
        async with check.open():
            yield (check.publish,)


STEP = CheckRunStep()
