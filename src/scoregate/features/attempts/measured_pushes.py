"""How many pushes to a pull request were measured: each is a further chance to be red without a change."""

from __future__ import annotations

from typing import Any

from scoregate.errors import GitHubRefused
from scoregate.features.attempts.keys import MeasuredPushes
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import Connection, MeasuredCommit, PullRequest
from scoregate.kernel.job.github.responses import text_at
from scoregate.kernel.job.job import JobContext

_ENDED = ("success", "failure")
_MOST_RUNS = 300


async def count_pushes(context: JobContext) -> MeasuredPushes | None:
    """The measured pushes of the job's pull request with the one that is reported; None without a pull request.

    A push was measured if a run of the same workflow ended on its commit.
    """
    connection, subject = context.connection, context.subject
    if connection is None or connection.api is None or subject is None or subject.request is None:
        return None
    try:
        return await _count(connection, connection.api, subject, subject.request)
    except GitHubRefused:
        return MeasuredPushes(None)


async def _count(connection: Connection, api: Api, subject: MeasuredCommit, request: PullRequest) -> MeasuredPushes:
    workflow, event = connection.github.workflow, connection.github.event_name
    if not subject.measured_here:
        workflow = text_at(connection.github.event, "workflow_run", "name")
        event = text_at(connection.github.event, "workflow_run", "event")
    # An earlier pull request may have had a branch of this name.
    opened = text_at(await api.get(f"pulls/{request.number}"), "created_at")
    commits, listed = {subject.commit}, 0
    async for run in api.pages("actions/runs", "workflow_runs", branch=subject.branch, event=event):
        if (listed := listed + 1) > _MOST_RUNS:
            return MeasuredPushes(len(commits), is_all=False)
        is_later = text_at(run, "created_at") >= opened
        if is_later and run.get("name") == workflow and _has_ended(run) and _is_from(run, request):
            commits.add(text_at(run, "head_sha"))
    return MeasuredPushes(len(commits))


def _has_ended(run: Any) -> bool:
    return run.get("conclusion") in _ENDED


def _is_from(run: Any, request: PullRequest) -> bool:
    """Whether the repository of the run is that of the pull request: branches of forks can have any name."""
    repository = run.get("head_repository")
    return isinstance(repository, dict) and repository.get("full_name") == request.head_repository
