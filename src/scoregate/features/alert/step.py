"""The hooks of `alert`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scoregate.features.alert.declare import ALERT
from scoregate.kernel.job.steps import Step, Work
from scoregate.kernel.judge.judgement import Judged, JudgeRun

if TYPE_CHECKING:
    from scoregate.kernel.job.job import JobContext
    from scoregate.kernel.job.publish.delivery import Publisher


class AlertStep(Step):
    """Measures again what got worse on the base branch, and reports it."""

    name = "alert"

    async def check_verdict(self, work: Work, judged: Judged, judge: JudgeRun) -> Judged:
        if not has_alerts(work.ports.reporting.context):
            return judged
        from scoregate.features.alert.problems import FOUND
        from scoregate.features.alert.second_run import find_alert

        alert, comparison = await find_alert(work, judged, judge), judged.comparison
        return replace(judged, comparison=replace(comparison, slots=comparison.slots.put(FOUND, alert)))

    def open_publishers(self, context: JobContext) -> AbstractAsyncContextManager[Sequence[Publisher]]:
        if not has_alerts(context):
            return nullcontext(())
        from scoregate.features.alert.publisher import publish_alert

        return nullcontext((partial(publish_alert, ALERT.of(context.settings), context.environ),))


def has_alerts(context: JobContext) -> bool:
    """Whether the run is one of the base branch, and the settings ask for alerts."""
    if not ALERT.of(context.settings) or context.connection is None or context.subject is None:
        return False
    from scoregate.kernel.job.github.context import default_branch
    from scoregate.kernel.job.job import WRITING_EVENTS

    github = context.connection.github
    branch = context.settings.base_branch or default_branch(github)
    is_run_of_branch = github.event_name in WRITING_EVENTS and github.ref_name == branch
    return is_run_of_branch and context.subject.measured_here


STEP = AlertStep()
