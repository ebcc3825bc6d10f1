"""The second stage: comment on a fork's pull request, from a job that has the rights which the fork's has not.

What the first stage left is made by whoever wrote the fork's code. So it is taken as numbers alone: bounded,
validated, compared and judged anew by this repository's settings, and never believed about whom it belongs to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scoregate.ci.baseline.artifact import read_artifact
from scoregate.ci.baseline.unpack import HOSTILE
from scoregate.ci.flow import Outcome, gate_merged
from scoregate.ci.github.answers import number_at, text_at
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
from scoregate.errors import ScoregateError, UsageError

MOST_RUNS = 20
MOST_COMMENTS = 3
_LISTED, _SHOWN = 1_000, 20
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
    """Comment for the runs that the first stage has left; where a key is set, for the run of that key alone.

    At most three get a comment, the first by key; the others are named. What cannot be used stops no other.

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
    wanted = await _artifacts(api, number_at(first, "id"), scene.settings.key)
    if not wanted:
        yield Published("", problem=f"the first stage left no artifact whose name starts with {ARTIFACT_PREFIX}")
    comments = 0
    for at, (key, artifact) in enumerate(wanted):
        if comments == MOST_COMMENTS or at == MOST_RUNS:
            yield Published("", problem=_without_comment([key for key, _ in wanted[at:]]))
            return
        published = await _published(_of_key(scene, connection, key), artifact, first, request=request)
        comments += published.outcome is not None
        yield published


async def _artifacts(api: Api, run: int, named: str | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Those that are ours, each with its key, in the order of the keys."""
    found: dict[str, Mapping[str, Any]] = {}
    async for artifact in api.pages(f"actions/runs/{run}/artifacts", "artifacts"):
        name = text_at(artifact, "name")
        key = slug(name.removeprefix(ARTIFACT_PREFIX))
        wanted = named is None or slug(named) == key
        if wanted and name.startswith(ARTIFACT_PREFIX) and artifact.get("expired") is not True:
            found.setdefault(key, artifact)
        if len(found) >= _LISTED:
            break
    return sorted(found.items())


def _without_comment(keys: Sequence[str]) -> str:
    shown = ", ".join(keys[:_SHOWN])
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    told = f"{shown}{more} got no comment: a run publishes at most {MOST_COMMENTS}"
    return f"{told}. Name one with `key`, or put them together with `command: merge`"


def _asked(scene: Scene) -> tuple[Connection, Api, Mapping[str, Any]]:
    connection = scene.connection
    if connection is None or connection.github.event_name != _EVENT:
        raise UsageError(
            "`scoregate publish` comments for another workflow's run",
            advice="Run it in a job on `workflow_run`; the README has both workflows.",
        )
    if connection.api is None:
        raise UsageError("`scoregate publish` has no token", advice="Set github-token, or GITHUB_TOKEN.")
    first = connection.github.event.get(_EVENT)
    if not isinstance(first, dict):
        raise UsageError(f"the event has no {_EVENT}", advice="Run it in a job on `workflow_run`.")
    return connection, connection.api, first


async def find_request(api: Api, first: Mapping[str, Any]) -> PullRequest | None:
    """The pull request of the first stage's run, from what GitHub says of it: its head is still that commit."""
    if first.get("head_repository") is None:
        return None  # the fork is gone
    owner, branch = text_at(first, "head_repository", "owner", "login"), text_at(first, "head_branch")
    async for found in api.pages("pulls", state="open", head=f"{owner}:{branch}"):
        request = read_pull_request(found)
        if request.head_sha == text_at(first, "head_sha"):
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
    except ScoregateError as error:
        return Published(key, problem=str(error))
    except Exception as error:
        # An artifact may hold anything; it must not keep the others from their comments.
        return Published(key, problem=f"it could not be reported: {type(error).__name__}: {error}")
    return Published(key, outcome)


def _subject(first: Mapping[str, Any], request: PullRequest) -> Subject:
    attempt = first.get("run_attempt")
    run = f"{number_at(first, 'id')}.{attempt if isinstance(attempt, int) else 1}"
    url = text_at(first, "html_url")
    return Subject(request.head_sha, text_at(first, "head_branch"), run, url, request, measured_here=False)


def _claimed(run: Run, settings: Settings) -> Run:
    """The run without what it says of itself that is not its to say.

    Neither whose it is, how it is titled and what came before it, nor which suites may be missing or pass for others,
    nor that what fails has been tried again.

    Args:
        settings: ours, which tell whether this job was given a part of the project.
    """
    named = zip(run.suites, labels(run.suites), strict=True)
    suites = tuple(replace(suite, label=label, skipped=False) for suite, label in named)
    return replace(
        run,
        message=None,
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
