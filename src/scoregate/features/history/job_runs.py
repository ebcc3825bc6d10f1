"""Write a job's run to the shared history, and the runs that earlier jobs could not write."""

from __future__ import annotations

import io
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import anyio
from anyio import to_thread

from scoregate.errors import GitHubRefused, HistoryError, RecordError, UsageError
from scoregate.features.history.bases import MOST_BYTES, find_known_jobs
from scoregate.features.history.declare import VARIABLE
from scoregate.features.history.folders import ImportResult
from scoregate.features.history.location import open_history, shared_address
from scoregate.features.history.project import find_project_name
from scoregate.features.history.rows import RunSource, read_rows
from scoregate.features.history.stores import HistoryStore
from scoregate.features.history.tables import BaseRow
from scoregate.kernel.job.baseline.artifact import download_artifact, is_from_base_branch
from scoregate.kernel.job.baseline.unpack import OWN_BOUNDS, unpack
from scoregate.kernel.job.github.base import BaseCommit
from scoregate.kernel.job.github.branch_files import BRANCH, StoredRun, read_tip, stored_runs
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import ARTIFACT_PREFIX, Connection, default_branch
from scoregate.kernel.job.github.responses import number_at, text_at
from scoregate.kernel.job.job import WRITING_EVENTS, JobContext
from scoregate.kernel.job.publish.data_branch import zip_run
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.judge.archive import RUN_FOLDER
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.records import record

_LIMIT_S = 180.0
# How many missed runs one job adds, and how many artifacts it looks at.
_MOST_ADDED, _MOST_LISTED = 5, 100
_CATCHES_UP = "a later job on the base branch adds it from its artifact; `scoregate history import` does, too"


@record
class HistoryTarget:
    """The shared history that a run is written to.

    Args:
        root: the folder of the project.
        environ: the variable with the address of the history, which holds a password.
        project: the name of the project; empty for that of its repository.
        key: which of several uses in the project; empty outside of GitHub's jobs.
        base_branch: the branch whose runs are bases; empty outside of GitHub's jobs.
        is_base: whether the job is a push to the base branch, so that its run is a base of later runs.
    """

    root: Path
    environ: Mapping[str, str] = field(repr=False)
    project: str = ""
    key: str = ""
    base_branch: str = ""
    is_base: bool = False


def find_target(context: JobContext) -> HistoryTarget | None:
    """Where a job writes its run, if there is a shared history; None for pull requests."""
    connection = context.connection
    target = HistoryTarget(context.root, {VARIABLE: shared_address(context.environ)})
    if connection is None or context.subject is None:
        return target
    github = connection.github
    if github.event_name not in WRITING_EVENTS or not context.subject.measured_here:
        return None
    branch = context.settings.base_branch or default_branch(github)
    # A tag may have the name of the branch.
    is_push_to_base = github.event_name == "push" and github.event.get("ref") == f"refs/heads/{branch}"
    project = f"{github.repository}/{context.folder}".rstrip("/")
    return replace(target, project=project, key=connection.key, base_branch=branch, is_base=is_push_to_base)


async def publish_to_history(history: HistoryTarget, view: ReportView, target: PublishTarget) -> Delivery:
    """Write the run to the shared history, then runs of the base branch that earlier jobs could not write.

    Raises:
        HistoryError: it can't be written. The verdict doesn't depend on it.
    """
    try:
        with anyio.fail_after(_LIMIT_S):
            return await _publish(view, target, history)
    except TimeoutError:
        problem = f"the run is not in the history: to write it took longer than {_LIMIT_S:.0f} s; {_CATCHES_UP}"
        raise HistoryError(problem) from None
    except (HistoryError, UsageError) as error:
        raise HistoryError(f"the run is not in the history: {error.message}; {_CATCHES_UP}") from None


async def _publish(view: ReportView, target: PublishTarget, history: HistoryTarget) -> Delivery:
    project = history.project or await find_project_name(history.root, history.environ)
    job = str(target.connection.github.run_id) if target.connection else ""
    source = RunSource(project, history.key, job)
    store = await _in_thread(partial(open_history, history.root, history.environ))
    try:
        rows = await _in_thread(partial(read_rows, target.out / RUN_FOLDER, source))
        base, warnings = await _in_thread(partial(_make_base, view, target.out / RUN_FOLDER, history))
        await _in_thread(partial(store.add_runs, [replace(rows, base=base)]))
        if history.is_base and target.connection is not None and target.connection.api is not None:
            missed = ArtifactImport(store, project, history.base_branch, history.key, target.connection.github.run_id)
            result = await missed.run(target.connection.api, most=_MOST_ADDED)
            warnings += [f"a run of an earlier job is not in the history: {each}" for each in result.problems[:1]]
    finally:
        await _in_thread(store.close)
    return Delivery(warnings=tuple(warnings))


async def _in_thread(work: Any) -> Any:
    """Call a function that blocks; if it hangs, the job doesn't wait for it."""
    return await to_thread.run_sync(work, abandon_on_cancel=True)


def _make_base(view: ReportView, folder: Path, history: HistoryTarget) -> tuple[BaseRow | None, list[str]]:
    """What makes the run a base; else warnings, if it should be one."""
    if not history.is_base:
        return None, []
    run = view.run
    if not run.complete or run.selection or not run.commit:
        return None, ["an interrupted run, or one of a part of the cases, is in the history, but no base"]
    content = zip_run(folder)
    if len(content) > MOST_BYTES:
        return None, [f"the run has {len(content) >> 20} MB: it is in the history, but no base"]
    return BaseRow(history.base_branch, content), []


@record
class ArtifactImport:
    """An import of the artifacts of a base branch into a history.

    Args:
        store: the history.
        project: the project's name in it.
        branch: the base branch.
        key: only artifacts of this use in the project.
        own_run: the id of the current workflow run, which is left out; 0 outside of jobs.
    """

    store: HistoryStore
    project: str
    branch: str
    key: str
    own_run: int = 0

    async def run(self, api: Api, *, most: int) -> ImportResult:
        """Add runs that are not known, the newest first; one that can't be read is a problem of the result.

        Args:
            api: the repository.
            most: how many runs to add.

        Raises:
            HistoryError: the history can't be read or written.
        """
        result = ImportResult()
        known = await _in_thread(partial(find_known_jobs, self.store, self.project, self.key))
        try:
            async for artifact in self._list(api, max(most, _MOST_LISTED)):
                if str(number_at(artifact, "workflow_run", "id")) in known:
                    result.known += 1
                elif len(result.problems) + result.added < 2 * most and result.added < most:
                    await self._add(api, artifact, result)
        except GitHubRefused as refused:
            result.problems.append(refused.message)
        return result

    async def _list(self, api: Api, most: int) -> AsyncIterator[Mapping[str, Any]]:
        listed = 0
        async for artifact in api.pages("actions/artifacts", "artifacts", name=f"{ARTIFACT_PREFIX}{self.key}"):
            listed += 1
            if is_from_base_branch(artifact, BaseCommit(self.branch), self.own_run):
                yield artifact
            if listed >= most:
                return

    async def _add(self, api: Api, artifact: Mapping[str, Any], result: ImportResult) -> None:
        job = number_at(artifact, "workflow_run", "id")
        try:
            event = text_at(await api.get(f"actions/runs/{job}"), "event")
            branch = self.branch if event == "push" else None
            with await download_artifact(api, artifact, OWN_BOUNDS.packed) as file:
                source = RunSource(self.project, self.key, str(job), self.branch)
                added = await _in_thread(partial(_add_packed, self.store, file, source, branch))
        except (GitHubRefused, RecordError) as error:
            result.problems.append(error.message)
            return
        result.added += added
        result.known += 1 - added


def _add_packed(store: HistoryStore, file: IO[bytes], source: RunSource, base_branch: str | None) -> int:
    """Add the run in a zip; as a base if it was pushed to the base branch."""
    with tempfile.TemporaryDirectory(prefix="scoregate-stored-") as name:
        folder = Path(name)
        unpack(file, folder)
        rows = read_rows(folder, source)
        is_whole = rows.value("whole") and rows.value("commit_sha") and not rows.value("dirty")
        is_base = base_branch is not None and is_whole
        content = zip_run(folder) if is_base else b""
    if base_branch is not None and is_base and len(content) <= MOST_BYTES:
        rows = replace(rows, base=BaseRow(base_branch, content))
    return store.add_runs([rows])


_MOST_IMPORTED = 10_000


async def import_stored_runs(
    store: HistoryStore, project: str, connection: Connection | None, kind: str, base_branch: str | None
) -> ImportResult:
    """Import the runs that jobs stored, as artifacts of the base branch or on the data branch.

    Args:
        store: the history.
        project: the project's name in it.
        connection: the job's GitHub.
        kind: `artifacts` or `branch`.
        base_branch: the base branch; None for the default branch.

    Raises:
        GitHubRefused: the data branch can't be read.
        HistoryError: the history can't be read or written.
        UsageError: this is no job, or it has no token.
    """
    if connection is None or connection.api is None:
        raise UsageError(
            f"{kind} can be imported only in GitHub's jobs, with a token",
            advice="Elsewhere, download the runs, for example with `gh run download`, and name their folders.",
        )
    if kind == "artifacts":
        branch = base_branch or default_branch(connection.github)
        missed = ArtifactImport(store, project, branch, connection.key, connection.github.run_id)
        return await missed.run(connection.api, most=_MOST_IMPORTED)
    result = ImportResult()
    tip = await read_tip(connection.api, BRANCH)
    for stored in stored_runs(tip, connection.key) if tip is not None else ():
        await _add_stored(store, RunSource(project, connection.key), connection.api, stored, result)
    return result


async def _add_stored(
    store: HistoryStore, source: RunSource, api: Api, stored: StoredRun, result: ImportResult
) -> None:
    try:
        content = await api.raw(f"git/blobs/{stored.blob}")
        added = await _in_thread(partial(_add_packed, store, io.BytesIO(content), source, None))
    except (GitHubRefused, RecordError) as error:
        result.problems.append(error.message)
        return
    result.added += added
    result.known += 1 - added
