"""A baseline that a push to the base branch wrote to the shared history."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from anyio import to_thread

from scoregate.errors import ScoregateError
from scoregate.features.history.bases import list_bases, read_base
from scoregate.features.history.declare import VARIABLE
from scoregate.features.history.location import open_history, shared_address
from scoregate.features.history.project import find_project_name
from scoregate.features.history.stores import HistoryStore
from scoregate.kernel.host import git
from scoregate.kernel.job.baseline.artifact import find_nearest
from scoregate.kernel.job.baseline.earlier import EarlierRun, StoredRun
from scoregate.kernel.job.baseline.stored import MOST_ANCESTORS, NearestCommit, find_stored_baseline
from scoregate.kernel.job.baseline.unpack import unpack_run
from scoregate.kernel.job.github.base import BaseCommit
from scoregate.kernel.job.github.context import Connection
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.runs.run import Run


async def find_history_baseline(
    root: Path,
    settings: Settings,
    *,
    environ: Mapping[str, str],
    connection: Connection | None,
    base: BaseCommit | None,
) -> Baseline:
    """The run of the base's commit, else of its nearest ancestor, else the newest.

    On a developer's machine, the base is the commit that is checked out.

    Args:
        root: the folder of the project.
        settings: the settings of the project.
        environ: the host's environment.
        connection: the job's GitHub; None outside of jobs.
        base: the commit that the job's changes are tested on top of.
    """
    if not shared_address(environ):
        return Baseline(None, f"the history can't be read: {VARIABLE} is not set", unreadable=True)
    try:
        store = await to_thread.run_sync(open_history, root, environ)
        try:
            return await _find_baseline(store, root, settings, environ=environ, connection=connection, base=base)
        finally:
            await to_thread.run_sync(store.close)
    except ScoregateError as error:
        return Baseline(None, f"no base could be read from the history: {error}", unreadable=True)


async def _find_baseline(
    store: HistoryStore,
    root: Path,
    settings: Settings,
    *,
    environ: Mapping[str, str],
    connection: Connection | None,
    base: BaseCommit | None,
) -> Baseline:
    project = await find_project_name(root, environ)
    branch = base.branch if base else settings.base_branch or await git.default_branch(root) or "main"
    key = connection.key if connection else None
    bases = await to_thread.run_sync(partial(list_bases, store, project, branch=branch, key=key))
    found = await find_stored_baseline(
        (StoredRun(each.commit, partial(to_thread.run_sync, _read_run, store, each.run_id)) for each in bases),
        partial(_choose_commit, base or BaseCommit(branch), root=root, connection=connection),
        place="in the history",
        branch=branch,
        most=settings.base_runs,
    )
    return found if found.run or found.note else Baseline(None, f"the history has no base of {project} on {branch}")


async def _choose_commit(
    base: BaseCommit, stored: list[str], *, root: Path, connection: Connection | None
) -> NearestCommit | None:
    """The nearest of the commits that have a run: by GitHub's history in its jobs, else by that of the repository."""
    if connection is not None and connection.api is not None:
        return await find_nearest(base, stored, connection.api)
    ancestors = await git.list_ancestors(root, MOST_ANCESTORS)
    for number, commit in enumerate(ancestors):
        if commit in stored:
            return NearestCommit(commit, f"{number} commits before this one" if number else "exact")
    return NearestCommit(stored[0], f"the newest of {base.branch}") if stored else None


async def list_branch_runs(
    root: Path, environ: Mapping[str, str], *, branch: str, key: str
) -> AsyncGenerator[EarlierRun]:
    """Yield the bases of a branch, the newest first.

    Args:
        root: the folder of the project.
        environ: the host's environment.
        branch: the branch.
        key: which use in the project.

    Raises:
        HistoryError: they can't be listed.
    """
    project = await find_project_name(root, environ)
    store = await to_thread.run_sync(open_history, root, environ)
    try:
        for each in await to_thread.run_sync(partial(list_bases, store, project, branch=branch, key=key)):
            read = partial(to_thread.run_sync, _read_run, store, each.run_id)
            yield EarlierRun(each.commit, datetime.fromtimestamp(each.finished, UTC), read)
    finally:
        await to_thread.run_sync(store.close)


def _read_run(store: HistoryStore, run_id: int) -> Run:
    """The run of a base in the history.

    Raises:
        HistoryError: it can't be read.
        RecordError: it is not there any more, or holds no run that can be read.
    """
    return unpack_run(io.BytesIO(read_base(store, run_id)))
