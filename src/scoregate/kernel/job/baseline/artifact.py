"""A baseline that is an artifact of a run on the base branch."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from anyio import to_thread

from scoregate.errors import GitHubRefused, RecordError, ScoregateError
from scoregate.kernel.job.baseline.earlier import StoredRun, add_earlier_runs
from scoregate.kernel.job.baseline.stored import (
    MOST_ANCESTORS,
    MOST_POOLED,
    MOST_TRIES,
    NearestCommit,
    make_pooled_baseline,
)
from scoregate.kernel.job.baseline.unpack import ATTEMPT_BOUNDS, OWN_BOUNDS, ArchiveBounds, unpack_cassettes, unpack_run
from scoregate.kernel.job.github.base import BaseCommit
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import Connection
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.judge.archive import CASES_FILE
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.runs.run import Run

_IN_MEMORY = 8 << 20
_MOST_LISTED = 1_000
_GONE = 410
_FORBIDDEN = 403


async def find_artifact_baseline(settings: Settings, connection: Connection, base: BaseCommit) -> Baseline:
    """The run of the base's commit, else of its nearest ancestor, else the newest.

    Runs of one commit are pooled. Artifacts of a fork's run are never a baseline. A run that failed its gate is one,
    because its scores are valid. After a run that was interrupted or can't be read, the next nearest commit is tried.
    No artifact, or only expired or interrupted ones, means that there is no baseline yet. After any other failure the
    baseline is unreadable.
    """
    if connection.api is None:
        return Baseline(None, "without a token, artifacts can't be downloaded: set github-token", unreadable=True)
    try:
        return await _find_baseline(connection, connection.api, base, settings.base_runs)
    except ScoregateError as error:
        return Baseline(None, f"no artifact could be read: {error}", unreadable=True)


@dataclass(slots=True)
class _Problems:
    """What is wrong with artifacts. `unreadable`: one of them may be a baseline."""

    messages: list[str] = field(default_factory=list)
    unreadable: bool = False

    def add(self, problem: str, *, unreadable: bool = True) -> None:
        self.messages.append(problem)
        self.unreadable = self.unreadable or unreadable


async def _find_baseline(connection: Connection, api: Api, base: BaseCommit, most: int) -> Baseline:
    stored: dict[str, list[Mapping[str, Any]]] = {}
    async for artifact in list_artifacts(connection, api, base):
        stored.setdefault(text_at(artifact, "workflow_run", "head_sha"), []).append(artifact)
    problems = _Problems()
    for _ in range(MOST_TRIES):
        if (chosen := await find_nearest(base, list(stored), api)) is None:
            break
        commit_problems = _Problems()
        # Taken out, so that the next try is another commit.
        artifacts = stored.pop(chosen.commit)[:MOST_POOLED]
        runs = await _read_runs(api, artifacts, chosen.commit, problems=commit_problems)
        if runs:
            note = "; ".join((chosen.note, *problems.messages))
            others = ((commit, each) for commit, left in stored.items() for each in left)
            earlier = (StoredRun(commit, partial(read_artifact, api, each)) for commit, each in others)
            return await add_earlier_runs(make_pooled_baseline(runs, note, branch=base.branch), earlier, most)
        reason = commit_problems.messages[0]
        problems.add(
            f"the artifact of {chosen.commit[:7]} can't be used: {reason}", unreadable=commit_problems.unreadable
        )
    else:
        problems.unreadable = problems.unreadable or bool(stored)  # commits that were not tried may have a baseline
    note = "; ".join(problems.messages) or f"{base.branch} has no artifact {connection.artifact}"
    return Baseline(None, note, unreadable=problems.unreadable)


async def list_artifacts(connection: Connection, api: Api, base: BaseCommit) -> AsyncIterator[Mapping[str, Any]]:
    """The artifacts of runs on the base branch of this repository, the newest first, without the current run.

    Raises:
        GitHubRefused: they can't be listed, or none of the first thousand is from the base branch.
    """
    listed = matching = 0
    async for artifact in api.pages("actions/artifacts", "artifacts", name=connection.artifact):
        listed += number_at(artifact, "id") > 0
        if is_from_base_branch(artifact, base, connection.github.run_id):
            matching += 1
            yield artifact
        if listed >= _MOST_LISTED:
            break
    if listed >= _MOST_LISTED and not matching:
        raise GitHubRefused(f"none of the {listed:,} newest artifacts {connection.artifact} is from {base.branch}")


def is_from_base_branch(artifact: Mapping[str, Any], base: BaseCommit, own_run: int) -> bool:
    """Whether a run of this repository on the base branch left the artifact, another one than the current run."""
    run = artifact.get("workflow_run")
    if not isinstance(run, dict):  # GitHub no longer knows which run left it
        return False
    # Two missing ids are not the same repository.
    is_own_repository = run.get("head_repository_id") == run.get("repository_id") is not None
    is_branch = run.get("head_branch") == base.branch and run.get("id") != own_run
    return is_own_repository and is_branch and artifact.get("expired") is not True


async def _read_runs(api: Api, artifacts: list[Mapping[str, Any]], commit: str, *, problems: _Problems) -> list[Run]:
    runs = []
    for artifact in artifacts:
        try:
            run = await read_artifact(api, artifact)
        except (GitHubRefused, RecordError) as error:
            is_expired = isinstance(error, GitHubRefused) and error.status == _GONE  # GitHub has deleted it
            is_forbidden = isinstance(error, GitHubRefused) and error.status == _FORBIDDEN
            remedy = "; give the job the permission `actions: read`" if is_forbidden else ""
            problems.add(f"{error.message}{remedy}", unreadable=not is_expired)
            continue
        if run.code.commit is not None and run.code.commit != commit:
            problems.add(f"it is a run of {run.code.commit[:7]}")
        elif not run.end.complete:
            is_damaged = any(notice.startswith(CASES_FILE) for notice in run.notices)
            problems.add("it was interrupted", unreadable=is_damaged)
        elif run.scope.selection:
            problems.add(f"only a part of its cases ran ({run.scope.selection:.200})", unreadable=False)
        else:
            runs.append(run)
    return runs


async def fetch_cassettes(connection: Connection | None, base: BaseCommit | None, folder: Path) -> str:
    """Fetch the cassettes of the base's run, or of its nearest ancestor that has any.

    Args:
        connection: the connection to GitHub.
        base: the commit that the changes are tested on top of.
        folder: an empty folder for them.

    Returns:
        Whose they are, or why there are none.
    """
    if connection is None or connection.api is None or base is None:
        return "there is no base branch or no token to fetch them with"
    try:
        stored: dict[str, list[Mapping[str, Any]]] = {}
        async for artifact in list_artifacts(connection, connection.api, base):
            stored.setdefault(text_at(artifact, "workflow_run", "head_sha"), []).append(artifact)
        for _ in range(MOST_TRIES):
            if (chosen := await find_nearest(base, list(stored), connection.api)) is None:
                break
            for artifact in stored.pop(chosen.commit)[:1]:
                with await download_artifact(connection.api, artifact, OWN_BOUNDS.packed) as file:
                    if await to_thread.run_sync(unpack_cassettes, file, folder):
                        return f"those of {base.branch}@{chosen.commit[:7]}"
    except ScoregateError as error:
        return f"they could not be fetched: {error}"
    return f"no artifact {connection.artifact} of {base.branch} has any"


async def read_attempts(connection: Connection, api: Api) -> tuple[list[Run], str]:
    """The runs that the last attempts of this job stored, the newest first, and the problem of one that can't be read.

    Raises:
        GitHubRefused: they can't be listed.
    """
    github, problem = connection.github, ""
    runs: list[Run] = []
    async for artifact in api.pages(f"actions/runs/{github.run_id}/artifacts", "artifacts", name=connection.artifact):
        if artifact["name"] == connection.artifact and not artifact["expired"]:
            try:
                runs.append(await read_artifact(api, artifact, ATTEMPT_BOUNDS, unfinished=True))
            except (GitHubRefused, RecordError) as error:
                problem = error.message
        if len(runs) == MOST_TRIES:
            break
    earlier = [run for run in runs if run.end.attempt < github.run_attempt]
    return sorted(earlier, key=lambda run: run.end.attempt, reverse=True), problem


async def read_last_pushes(connection: Connection, api: Api, branch: str) -> tuple[list[Run], str]:
    """The newest whole run of the same job on an earlier push to a branch of this repository, and newer ones.

    Returns:
        The runs, the newest first, and the problem of one that can't be read.

    Raises:
        GitHubRefused: they can't be listed.
    """
    pushed, listed, problem = BaseCommit(branch), 0, ""
    runs: list[Run] = []
    async for artifact in api.pages("actions/artifacts", "artifacts", name=connection.artifact):
        if is_from_base_branch(artifact, pushed, connection.github.run_id):
            try:
                runs.append(await read_artifact(api, artifact, ATTEMPT_BOUNDS, unfinished=True))
            except (GitHubRefused, RecordError) as error:
                problem = error.message
            if len(runs) == MOST_TRIES or (runs and runs[-1].is_unselected):
                break
        if (listed := listed + 1) >= _MOST_LISTED:
            break
    return runs, problem


async def read_artifact(
    api: Api, artifact: Mapping[str, Any], bounds: ArchiveBounds = OWN_BOUNDS, *, unfinished: bool = False
) -> Run:
    """The run in an artifact.

    Args:
        api: the repository.
        artifact: the artifact as GitHub describes it.
        bounds: limit its size.
        unfinished: whether its process may have been killed.

    Raises:
        GitHubRefused: it can't be downloaded.
        RecordError: it holds no run that can be read, or is too large.
    """
    size = artifact.get("size_in_bytes")
    if isinstance(size, int) and size > bounds.packed:
        raise RecordError(f"the artifact has {size >> 20:,} MB; the limit is {bounds.packed >> 20} MB")
    with await download_artifact(api, artifact, bounds.packed) as file:
        return await to_thread.run_sync(partial(unpack_run, file, bounds, unfinished=unfinished))


async def download_artifact(api: Api, artifact: Mapping[str, Any], most_bytes: int) -> IO[bytes]:
    """The zip of an artifact, in a temporary file that is deleted when it is closed.

    Args:
        api: the repository.
        artifact: the artifact as GitHub describes it.
        most_bytes: the limit of its size.

    Raises:
        GitHubRefused: it can't be downloaded.
        RecordError: it is too large, or not what was uploaded.
    """
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
    digest, size = hashlib.sha256(), 0
    try:
        async with api.stream(f"actions/artifacts/{number_at(artifact, 'id')}/zip") as answer:
            async for chunk in answer.aiter_raw(1 << 16):
                if (size := size + len(chunk)) > most_bytes:
                    raise RecordError(f"the artifact is larger than {most_bytes >> 20} MB")
                digest.update(chunk)
                file.write(chunk)
        expected = str(artifact.get("digest") or "")
        if expected.startswith("sha256:") and expected != f"sha256:{digest.hexdigest()}":
            raise RecordError("the artifact is not what was uploaded: its digest differs")
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


async def find_nearest(base: BaseCommit, stored: Sequence[str], api: Api) -> NearestCommit | None:
    """The base's own commit, else its nearest ancestor, else the newest; None if nothing is stored.

    Args:
        base: the commit that the changes are tested on top of.
        stored: the commits that have a run, the newest run first.
        api: the repository.
    """
    if not stored:
        return None
    if base.commit is None:
        return NearestCommit(stored[0], f"the newest of {base.branch}")
    if base.commit in stored:
        return NearestCommit(base.commit, "exact")
    commits, number = set(stored), 0
    with suppress(GitHubRefused):
        async for each in api.pages("commits", sha=base.commit):
            if (sha := text_at(each, "sha")) in commits:
                return NearestCommit(sha, f"{number} commit{'s' if number > 1 else ''} before the base")
            if number >= MOST_ANCESTORS:
                break
            number += 1
    return NearestCommit(
        stored[0], f"the newest of {base.branch}, whose relation to the base {base.commit[:7]} is unknown"
    )
