"""A base that is kept on the data branch."""

from __future__ import annotations

import io
from dataclasses import replace

from anyio import to_thread

from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.artifact import MOST_POOLED, MOST_TRIED, pooled
from scoregate.ci.baseline.nearest import nearest
from scoregate.ci.baseline.unpack import unpacked_run
from scoregate.ci.github.api import Api
from scoregate.ci.github.base import Base
from scoregate.ci.github.connection import Connection
from scoregate.ci.github.data_branch import BRANCH, stored_runs
from scoregate.ci.github.git_data import tip_of
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.record import Run
from scoregate.errors import GitHubRefused, RecordError, ScoregateError

_KINDS = (BaselineKind.AUTO, BaselineKind.BRANCH)


async def branch_baseline(settings: Settings, connection: Connection | None, base: Base | None) -> Baseline | None:
    """The run of the base's commit, else of its nearest ancestor, else the newest; None where it is not asked for.

    A run that cannot be read is left out, and the note says so; then the next nearest commit is tried. Only where the
    branch is seen to have no run, or is not there, there is no base yet; else it is unreadable.
    """
    if settings.baseline_kind not in _KINDS:
        return None
    if connection is None or base is None or connection.api is None:
        if settings.baseline_kind is not BaselineKind.BRANCH:
            return None
        told = "the data branch can be read in GitHub's jobs alone, with a token"
        return Baseline(None, told, unreadable=connection is not None)
    try:
        return await _found(connection, connection.api, base)
    except ScoregateError as error:
        return Baseline(None, f"the branch {BRANCH} could not be read: {error}", unreadable=True)


async def _found(connection: Connection, api: Api, base: Base) -> Baseline:
    if (tip := await tip_of(api, BRANCH)) is None:
        await api.get(f"/repos/{api.repository}")  # of a repository that may not be seen, nothing is found either
        return Baseline(None, f"no branch {BRANCH}")
    stored: dict[str, list[str]] = {}
    for each in stored_runs(tip, connection.key):
        stored.setdefault(each.commit, []).append(each.blob)
    problems: list[str] = []
    branch = replace(base, branch=BRANCH)
    while len(problems) < MOST_TRIED and (chosen := await nearest(branch, list(stored), api)) is not None:
        runs, found = await _runs(api, stored.pop(chosen.commit)[:MOST_POOLED])
        problems += [f"a run of {chosen.commit[:7]} on {BRANCH} could not be read: {found[0]}"] if found else []
        if runs:
            return pooled(runs, "; ".join((chosen.note, *problems)), branch=None)
    note = "; ".join(problems) or f"the branch {BRANCH} has no run of {connection.key}"
    return Baseline(None, note, unreadable=bool(problems))


async def _runs(api: Api, blobs: list[str]) -> tuple[list[Run], list[str]]:
    runs, problems = [], []
    for blob in blobs:
        try:
            runs.append(await _read(api, blob))
        except (GitHubRefused, RecordError) as error:
            problems.append(error.message)
    return runs, problems


async def _read(api: Api, blob: str) -> Run:
    content = await api.raw(f"git/blobs/{blob}")
    return await to_thread.run_sync(unpacked_run, io.BytesIO(content))
