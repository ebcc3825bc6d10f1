"""A base that is an artifact of a run on the base branch."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from anyio import to_thread

from scoregate.ci.archive import CASES_FILE
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.download import download
from scoregate.ci.baseline.file import describe
from scoregate.ci.baseline.nearest import nearest
from scoregate.ci.baseline.unpack import OWN, Bounds, unpacked_run
from scoregate.ci.github.answers import number_at, text_at
from scoregate.ci.github.api import Api
from scoregate.ci.github.base import Base
from scoregate.ci.github.connection import Connection
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.record import Run
from scoregate.errors import GitHubRefused, RecordError, ScoregateError

MOST_POOLED = 5
MOST_TRIED = 3
_LOOKED_AT = 1_000
_GONE = 410
_KINDS = (BaselineKind.AUTO, BaselineKind.ARTIFACT)


async def artifact_baseline(settings: Settings, connection: Connection | None, base: Base | None) -> Baseline | None:
    """The run of the base's commit, else of its nearest ancestor, else the newest; None where it is not asked for.

    Runs of one commit are pooled. What a fork's run uploaded is no base, whatever it is called. A run that failed
    its gate is one: its scores are valid. One that was interrupted is none, nor what cannot be read; then the next
    nearest commit is tried. Only where GitHub's list shows that there is none, or none but expired and interrupted
    ones, there is no base yet; else it is unreadable.
    """
    if settings.baseline_kind not in _KINDS:
        return None
    if connection is None or base is None:
        return Baseline(None, "name a base with --baseline RUN or rerun")
    if connection.api is None:
        return Baseline(None, "without a token no artifact can be looked up: give github-token", unreadable=True)
    try:
        return await _found(connection, connection.api, base)
    except ScoregateError as error:
        return Baseline(None, f"no artifact could be read: {error}", unreadable=True)


@dataclass(slots=True)
class _Problems:
    """What was wrong with artifacts. `unreadable`: with one that may be a base."""

    told: list[str] = field(default_factory=list)
    unreadable: bool = False

    def add(self, problem: str, *, unreadable: bool = True) -> None:
        self.told.append(problem)
        self.unreadable = self.unreadable or unreadable


async def _found(connection: Connection, api: Api, base: Base) -> Baseline:
    stored: dict[str, list[Mapping[str, Any]]] = {}
    async for artifact in _artifacts(connection, api, base):
        stored.setdefault(text_at(artifact, "workflow_run", "head_sha"), []).append(artifact)
    problems = _Problems()
    for _ in range(MOST_TRIED):
        if (chosen := await nearest(base, list(stored), api)) is None:
            break
        found = _Problems()
        runs = await _runs(api, stored.pop(chosen.commit)[:MOST_POOLED], chosen.commit, problems=found)
        if runs:
            return pooled(runs, "; ".join((chosen.note, *problems.told)), branch=base.branch)
        problems.add(
            f"the artifact of {chosen.commit[:7]} cannot be used: {found.told[0]}", unreadable=found.unreadable
        )
    else:
        problems.unreadable = problems.unreadable or bool(stored)
    note = "; ".join(problems.told) or f"{base.branch} has no artifact {connection.artifact}"
    return Baseline(None, note, unreadable=problems.unreadable)


def pooled(runs: list[Run], note: str, *, branch: str | None) -> Baseline:
    """The newest run with the others of its commit, and in words what it is.

    Args:
        branch: that it is of; None where only it knows.
    """
    newest, *others = sorted(runs, key=lambda run: run.finished, reverse=True)
    words = describe(newest).removeprefix("stored run").removeprefix(", ")
    return Baseline(
        replace(newest, branch=branch or newest.branch), ", ".join(filter(None, (note, words))), tuple(others)
    )


async def _artifacts(connection: Connection, api: Api, base: Base) -> AsyncIterator[Mapping[str, Any]]:
    """Those of runs on the base branch of this repository, the newest first, none of the run that we are in.

    Raises:
        GitHubRefused: they cannot be listed, or there are more than are looked at and none of those is one.
    """
    looked = found = 0
    async for artifact in api.pages("actions/artifacts", "artifacts", name=connection.artifact):
        looked += number_at(artifact, "id") > 0
        if _is_of(artifact, base, connection.github.run_id):
            found += 1
            yield artifact
        if looked >= _LOOKED_AT:
            break
    if looked >= _LOOKED_AT and not found:
        raise GitHubRefused(f"none of the {looked:,} newest artifacts {connection.artifact} is of {base.branch}")


def _is_of(artifact: Mapping[str, Any], base: Base, own_run: int) -> bool:
    run = artifact.get("workflow_run")
    if not isinstance(run, dict):  # GitHub no longer knows which run left it
        return False
    ours = run.get("head_repository_id") == run.get("repository_id") is not None
    of_branch = run.get("head_branch") == base.branch and run.get("id") != own_run
    return ours and of_branch and artifact.get("expired") is not True


async def _runs(api: Api, artifacts: list[Mapping[str, Any]], commit: str, *, problems: _Problems) -> list[Run]:
    runs = []
    for artifact in artifacts:
        try:
            run = await read_artifact(api, artifact)
        except (GitHubRefused, RecordError) as error:
            problems.add(error.message, unreadable=not _is_expired(error))
            continue
        if run.commit is not None and run.commit != commit:
            problems.add(f"it is a run of {run.commit[:7]}")
        elif not run.complete:
            problems.add("it was interrupted", unreadable=_is_damaged(run))
        else:
            runs.append(run)
    return runs


def _is_expired(error: ScoregateError) -> bool:
    """GitHub answers so for artifacts that it has deleted."""
    return isinstance(error, GitHubRefused) and error.status == _GONE


def _is_damaged(run: Run) -> bool:
    return any(notice.startswith(CASES_FILE) for notice in run.notices)


async def earlier_attempt(connection: Connection, api: Api) -> Run | None:
    """The run that the last attempt of this job has stored before this one; None if none has.

    Raises:
        GitHubRefused: it cannot be had. RecordError: it cannot be read.
    """
    github = connection.github
    found: list[Run] = []
    async for artifact in api.pages(f"actions/runs/{github.run_id}/artifacts", "artifacts", name=connection.artifact):
        if artifact["name"] == connection.artifact and not artifact["expired"]:
            found.append(await read_artifact(api, artifact, unfinished=True))
        if len(found) == MOST_TRIED:
            break
    earlier = [run for run in found if run.attempt < github.run_attempt]
    return max(earlier, key=lambda run: run.attempt, default=None)


async def read_artifact(
    api: Api, artifact: Mapping[str, Any], bounds: Bounds = OWN, *, unfinished: bool = False
) -> Run:
    """The run in an artifact.

    Args:
        bounds: how much it may hold. unfinished: whether it may be one whose process was killed.

    Raises:
        GitHubRefused: it cannot be had. RecordError: it holds no run that can be read, or is too large.
    """
    size = artifact.get("size_in_bytes")
    if isinstance(size, int) and size > bounds.packed:
        raise RecordError(f"the artifact has {size >> 20:,} MB, more than {bounds.packed >> 20}")
    with await download(api, artifact, bounds.packed) as file:
        return await to_thread.run_sync(partial(unpacked_run, file, bounds, unfinished=unfinished))
