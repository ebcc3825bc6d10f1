"""The second stage: comment on a fork's pull request, from a job that has the rights which the fork's has not.

What the first stage left is made by whoever wrote the fork's code. So it is taken as numbers alone: bounded,
validated, compared and judged anew by this repository's settings, and never believed about whom it belongs to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scoregate.ci.baseline.artifact import read_artifact
from scoregate.ci.baseline.unpack import HOSTILE
from scoregate.ci.flow import Outcome, gate_merged
from scoregate.ci.github.api import Api
from scoregate.ci.github.base import merged_base
from scoregate.ci.github.connection import ARTIFACT_PREFIX, Connection
from scoregate.ci.github.context import slug
from scoregate.ci.github.event import PullRequest, read_pull_request
from scoregate.ci.github.subject import Subject
from scoregate.ci.reporting import reporting
from scoregate.ci.scene import Scene
from scoregate.ci.settings import Settings
from scoregate.core.history import History
from scoregate.core.record import Run
from scoregate.core.suite_labels import labels
from scoregate.errors import GitHubRefused, RecordError, UsageError

MOST_RUNS = 20
_EVENT = "workflow_run"
_FIRST_EVENT = "pull_request"
_NO_REQUEST = "no open pull request has this commit as its head any more; nothing is published"


@dataclass(frozen=True, slots=True)
class Published:
    """What became of one artifact: its outcome, or why there is none."""

    key: str
    outcome: Outcome | None = None
    problem: str = ""


async def publish_first_stage(scene: Scene) -> AsyncIterator[Published]:
    """Comment for every run that the first stage has left; where a key is set, for the run of that key alone.

    Raises:
        UsageError: this is no `workflow_run` job, or it has no token.
        GitHubRefused: what the first stage left cannot be looked up.
    """
    connection, api, first = _asked(scene)
    if first.get("event") != _FIRST_EVENT:
        yield Published("", problem=f"the first stage ran on {first.get('event')}, not on {_FIRST_EVENT}")
        return
    request = await find_request(api, first)
    if request is None:
        yield Published("", problem=_NO_REQUEST)
        return
    number = 0
    async for artifact in api.pages(f"actions/runs/{int(first['id'])}/artifacts", "artifacts"):
        key = slug(artifact["name"].removeprefix(ARTIFACT_PREFIX))
        if _is_wanted(artifact, key, scene.settings.key):
            yield await _published(_of_key(scene, connection, key), artifact, first, request=request)
            number += 1
        if number >= MOST_RUNS:
            return
    if not number:
        yield Published("", problem=f"the first stage left no artifact whose name starts with {ARTIFACT_PREFIX}")


def _is_wanted(artifact: Mapping[str, Any], key: str, named: str | None) -> bool:
    ours = artifact["name"].startswith(ARTIFACT_PREFIX) and not artifact["expired"]
    return ours and (named is None or key == slug(named))


def _asked(scene: Scene) -> tuple[Connection, Api, Mapping[str, Any]]:
    connection = scene.connection
    if connection is None or connection.github.event_name != _EVENT:
        raise UsageError(
            "`scoregate publish` comments for another workflow's run",
            advice="Run it in a job on `workflow_run`; the README has both workflows.",
        )
    if connection.api is None:
        raise UsageError("`scoregate publish` has no token", advice="Set github-token, or GITHUB_TOKEN.")
    return connection, connection.api, connection.github.event[_EVENT]


async def find_request(api: Api, first: Mapping[str, Any]) -> PullRequest | None:
    """The pull request of the first stage's run, from what GitHub says of it: its head is still that commit."""
    owner = ((first.get("head_repository") or {}).get("owner") or {}).get("login")
    if not owner:
        return None
    async for found in api.pages("pulls", state="open", head=f"{owner}:{first['head_branch']}"):
        request = read_pull_request(found)
        if request.head_sha == first["head_sha"]:
            return request
    return None


def _of_key(scene: Scene, connection: Connection, key: str) -> Scene:
    """The scene for one of several artifacts; the lines that annotations would be shown at are not of this commit."""
    settings = scene.settings.model_copy(update={"out": f"{scene.settings.out}/{key}", "annotations": False})
    return replace(scene, settings=settings, connection=replace(connection, key=key))


async def _published(
    scene: Scene, artifact: Mapping[str, Any], first: Mapping[str, Any], *, request: PullRequest
) -> Published:
    assert scene.connection is not None
    assert scene.connection.api is not None
    key, api = scene.connection.key, scene.connection.api
    try:
        run = await read_artifact(api, artifact, HOSTILE)
        base = await merged_base(api, request, merge_commit=run.commit)
        told = replace(scene, subject=_subject(first, request), base=base)
        outcome = await gate_merged(_claimed(run, scene.settings), scene.settings, reporting(told))
    except (RecordError, GitHubRefused) as error:
        return Published(key, problem=str(error))
    return Published(key, outcome)


def _subject(first: Mapping[str, Any], request: PullRequest) -> Subject:
    run = f"{int(first['id'])}.{int(first.get('run_attempt') or 1)}"
    return Subject(
        request.head_sha, str(first["head_branch"]), run, str(first["html_url"]), request, measured_here=False
    )


def _claimed(run: Run, settings: Settings) -> Run:
    """The run without what it says of itself that is not its to say.

    Neither whose it is and what came before it, nor which suites may be missing or pass for others, nor that what
    fails has been tried again.

    Args:
        settings: ours, which tell whether this job was given a part of the project.
    """
    named = zip(run.suites, labels(run.suites), strict=True)
    suites = tuple(replace(suite, label=label, skipped=False) for suite, label in named)
    return replace(
        run,
        commit=None,
        branch=None,
        filters=(),
        skipped=(),
        narrowed=settings.narrowed,
        confirmations=(),
        extras=(),
        history=History(),
        conditions=None,
        reused_from=None,
        suites=suites,
    )
