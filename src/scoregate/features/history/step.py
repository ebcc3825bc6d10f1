"""The hooks of the history."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from scoregate.kernel.host.runner import in_ci
from scoregate.kernel.job.steps import Step
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.types.slots import Slots

if TYPE_CHECKING:
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.ports import BaselineSource
    from scoregate.kernel.job.publish.delivery import Publisher


class HistoryStep(Step):
    """Writes runs to a shared history, which has the baseline if the settings say so."""

    name = "history"

    def baseline_sources(self, context: JobContext) -> Sequence[BaselineSource]:
        return (partial(_find_baseline, context),)

    async def find_sides(self, context: JobContext, settings: Settings, slots: Slots) -> Slots:
        connection, base = context.connection, context.base
        if settings.baseline_kind is not BaselineKind.HISTORY or connection is None or base is None:
            return slots
        from scoregate.features.history.baseline import list_branch_runs
        from scoregate.kernel.job.baseline.earlier import BRANCH_RUNS, ListRuns

        list_runs: ListRuns = partial(
            list_branch_runs, context.root, context.environ, branch=base.branch, key=connection.key
        )
        return slots.put(BRANCH_RUNS, list_runs)

    def open_publishers(self, context: JobContext) -> AbstractAsyncContextManager[Sequence[Publisher]]:
        if not in_ci(context.environ):
            return nullcontext(())
        from scoregate.features.history.location import shared_address

        if not shared_address(context.environ):
            return nullcontext(())
        from scoregate.features.history.job_runs import find_target, publish_to_history

        target = find_target(context)
        return nullcontext(() if target is None else (partial(publish_to_history, target),))


async def _find_baseline(context: JobContext, settings: Settings) -> Baseline | None:
    if settings.baseline_kind is not BaselineKind.HISTORY:
        return None
    from scoregate.features.history.baseline import find_history_baseline

    return await find_history_baseline(
        context.root, settings, environ=context.environ, connection=context.connection, base=context.base
    )


STEP = HistoryStep()
