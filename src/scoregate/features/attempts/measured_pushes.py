"""How many pushes to a pull request were measured: each is a further chance to be red without a change."""

from __future__ import annotations

from typing import Any

from scoregate.errors import GitHubRefused
from scoregate.features.attempts.keys import MeasuredPushes
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import GitHubJob, MeasuredCommit, PullRequest
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.job.job import JobContext

_ENDED = ("success", "failure")
_MOST_RUNS = 300


async def count_pushes(context: JobContext) -> MeasuredPushes | None:
    """The measured pushes of the job's pull request with the one that is reported; None without a pull request.

    A push was measured if a run of the same workflow ended on its commit. Runs of approved commits are others.
    """
    connection, subject = context.connection, context.subject
    if connection is None or connection.api is None or connection.github.is_approved:
        return None
    if subject is None or subject.request is None:
        return None
    try:
        return await _count(connection.github, connection.api, subject, subject.request)
    except GitHubRefused:
        return MeasuredPushes(None)


async def _count(github: GitHubJob, api: Api, subject: MeasuredCommit, request: PullRequest) -> MeasuredPushes:
    own, event = github.run_id, github.event_name
    if not subject.measured_here:
        own = number_at(github.event, "workflow_run", "id")
        event = text_at(github.event, "workflow_run", "event")
    payload = github.event.get("pull_request")
    # An earlier pull request may have had a branch of this name.
    opened = text_at(payload if isinstance(payload, dict) else await api.get(f"pulls/{request.number}"), "created_at")
    runs = list[Any]()
    async for run in api.pages("actions/runs", "workflow_runs", branch=subject.branch, event=event):
        runs.append(run)
        if len(runs) == _MOST_RUNS:
            break
    # Two workflows can have one name.
    workflow = next((run.get("workflow_id") for run in runs if run.get("id") == own), None)
    counted = (run for run in runs if run.get("workflow_id") == workflow and _is_of(run, request, opened))
    commits = {subject.commit, *(text_at(run, "head_sha") for run in counted)}
    return MeasuredPushes(len(commits), is_all=len(runs) < _MOST_RUNS)


def _is_of(run: Any, request: PullRequest, opened: str) -> bool:
    """Whether a run ended, of a commit of the pull request: branches of forks can have any name."""
    repository = run.get("head_repository")
    is_own = isinstance(repository, dict) and repository.get("full_name") == request.head_repository
    return is_own and run.get("conclusion") in _ENDED and text_at(run, "created_at") >= opened
