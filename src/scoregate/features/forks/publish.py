"""Comment on a fork's pull request, from a `workflow_run` job that has the rights which the fork's job does not have.

Which pull request the results of the first stage belong to is read from GitHub.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from scoregate.errors import UsageError
from scoregate.kernel.job.baseline.artifact import read_artifact
from scoregate.kernel.job.baseline.unpack import UNTRUSTED_BOUNDS
from scoregate.kernel.job.github.base import find_merged_base
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import (
    ARTIFACT_PREFIX,
    Connection,
    MeasuredCommit,
    PullRequest,
    make_slug,
    read_pull_request,
)
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.job.steps import LoadSteps, Outcome
from scoregate.kernel.job.untrusted_run import PublishedRun, collect_outcome, publish_run

MOST_RUNS = 20
MOST_COMMENTS = 3
_LISTED, _SHOWN = 1_000, 20
_EVENT = "workflow_run"
_FIRST_EVENT = "pull_request"
_NO_REQUEST = "this commit is no longer the head of an open pull request, so nothing is published"


async def publish_fork_runs(context: JobContext, load: LoadSteps) -> AsyncIterator[PublishedRun]:
    """Comment for the runs of the first stage; with a key, only for the run of that key.

    At most three runs get a comment, the first ones by key; the others are listed. A run that can't be used does not
    stop the others.

    Raises:
        UsageError: this is not a `workflow_run` job, or it has no token.
        GitHubRefused: the artifacts of the first stage can't be listed.
    """
    connection, api, first = _check_job(context)
    if first.get("event") != _FIRST_EVENT:
        yield PublishedRun("", problem=f"the first stage ran on {first.get('event')}, not on {_FIRST_EVENT}")
        return
    request = await find_pull_request(api, first)
    if request is None:
        yield PublishedRun("", problem=_NO_REQUEST)
        return
    artifacts = await _list_artifacts(api, number_at(first, "id"), context.settings.key)
    if not artifacts:
        yield PublishedRun("", problem=f"the first stage left no artifact whose name starts with {ARTIFACT_PREFIX}")
    comments = 0
    for index, (key, artifact) in enumerate(artifacts):
        if comments == MOST_COMMENTS or index == MOST_RUNS:
            keys = [key for key, _ in artifacts[index:]]
            more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
            limit = f"{', '.join(keys[:_SHOWN])}{more} got no comment: a run publishes at most {MOST_COMMENTS}"
            problem = f"{limit}. Name one with `key`, or merge them with `command: merge`"
            yield PublishedRun("", problem=problem)
            return
        # No annotations: their lines are of another commit.
        settings = context.settings.model_copy(update={"out": f"{context.settings.out}/{key}", "annotations": False})
        key_context = replace(context, settings=settings, connection=replace(connection, key=key))
        judged = _judge_artifact(key_context, artifact, first, load, request=request)
        published = await collect_outcome(key, judged)
        comments += published.outcome is not None
        yield published


async def _list_artifacts(api: Api, run: int, named: str | None) -> list[tuple[str, Mapping[str, Any]]]:
    """The artifacts of scoregate, each with its key, in the order of the keys."""
    by_key: dict[str, Mapping[str, Any]] = {}
    async for artifact in api.pages(f"actions/runs/{run}/artifacts", "artifacts"):
        name = text_at(artifact, "name")
        key = make_slug(name.removeprefix(ARTIFACT_PREFIX))
        is_wanted = named is None or make_slug(named) == key
        if is_wanted and name.startswith(ARTIFACT_PREFIX) and artifact.get("expired") is not True:
            by_key.setdefault(key, artifact)
        if len(by_key) >= _LISTED:
            break
    return sorted(by_key.items())


def _check_job(context: JobContext) -> tuple[Connection, Api, Mapping[str, Any]]:
    connection = context.connection
    if connection is None or connection.github.event_name != _EVENT:
        raise UsageError(
            "`scoregate publish` comments for another workflow's run",
            advice="Run it in a job on `workflow_run`: see docs/guides/pull_requests.md.",
        )
    if connection.api is None:
        raise UsageError("`scoregate publish` has no token", advice="Set github-token, or GITHUB_TOKEN.")
    first = connection.github.event.get(_EVENT)
    if not isinstance(first, dict):
        raise UsageError(f"the event has no {_EVENT}", advice="Run it in a job on `workflow_run`.")
    return connection, connection.api, first


async def find_pull_request(api: Api, first: Mapping[str, Any]) -> PullRequest | None:
    """The pull request of the first stage's run, as GitHub has it: its head is still that commit."""
    if first.get("head_repository") is None:
        return None  # the fork is gone
    owner, branch = text_at(first, "head_repository", "owner", "login"), text_at(first, "head_branch")
    async for row in api.pages("pulls", state="open", head=f"{owner}:{branch}"):
        request = read_pull_request(row)
        if request.head_sha == text_at(first, "head_sha"):
            return request
    return None


async def _judge_artifact(
    context: JobContext,
    artifact: Mapping[str, Any],
    first: Mapping[str, Any],
    load: LoadSteps,
    *,
    request: PullRequest,
) -> Outcome:
    assert context.connection is not None
    assert context.connection.api is not None
    api = context.connection.api
    run = await read_artifact(api, artifact, UNTRUSTED_BOUNDS)
    base = await find_merged_base(api, request, merge_commit=run.code.commit)
    attempt = first.get("run_attempt")
    subject = MeasuredCommit(
        request.head_sha,
        text_at(first, "head_branch"),
        f"{number_at(first, 'id')}.{attempt if isinstance(attempt, int) else 1}",
        text_at(first, "html_url"),
        request,
        measured_here=False,
    )
    return await publish_run(replace(context, subject=subject, base=base), run, load)
