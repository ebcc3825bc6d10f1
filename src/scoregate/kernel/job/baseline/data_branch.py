"""A baseline that is stored on the data branch."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial

from anyio import to_thread

from scoregate.errors import ScoregateError
from scoregate.kernel.job.baseline.artifact import find_nearest
from scoregate.kernel.job.baseline.earlier import StoredRun
from scoregate.kernel.job.baseline.stored import find_stored_baseline
from scoregate.kernel.job.baseline.unpack import unpack_run
from scoregate.kernel.job.github.base import BaseCommit
from scoregate.kernel.job.github.branch_files import BRANCH, read_tip, stored_runs
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.context import Connection
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.types.runs.run import Run


async def find_branch_baseline(connection: Connection, api: Api, base: BaseCommit, most: int) -> Baseline:
    """The run of the base's commit, else of its nearest ancestor, else the newest, and up to `most` of its commit.

    A run that can't be read is skipped with a note, and the next nearest commit is tried. There is no baseline yet
    only if the branch has no run or does not exist; otherwise it is unreadable.
    """
    try:
        return await _find_baseline(connection, api, base, most)
    except ScoregateError as error:
        return Baseline(None, f"the branch {BRANCH} could not be read: {error}", unreadable=True)


async def _find_baseline(connection: Connection, api: Api, base: BaseCommit, most: int) -> Baseline:
    if (tip := await read_tip(api, BRANCH)) is None:
        # Without the right to see the repository, a token finds no branch either. Then this request fails.
        await api.get(f"/repos/{api.repository}")
        return Baseline(None, f"no branch {BRANCH}")
    found = await find_stored_baseline(
        (StoredRun(each.commit, partial(read_blob, api, each.blob)) for each in stored_runs(tip, connection.key)),
        partial(find_nearest, replace(base, branch=BRANCH), api=api),
        place=f"on {BRANCH}",
        branch=None,
        most=most,
    )
    return found if found.run or found.note else Baseline(None, f"the branch {BRANCH} has no run of {connection.key}")


async def read_blob(api: Api, blob: str) -> Run:
    """The run in a blob of the branch.

    Raises:
        GitHubRefused: it can't be downloaded.
        RecordError: it holds no run that can be read.
    """
    content = await api.raw(f"git/blobs/{blob}")
    return await to_thread.run_sync(unpack_run, io.BytesIO(content))
