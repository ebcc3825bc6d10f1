"""A base that is kept on the data branch."""

from __future__ import annotations

import io
from dataclasses import replace

from anyio import to_thread

from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.artifact import MOST_POOLED, pooled
from scoregate.ci.baseline.nearest import nearest
from scoregate.ci.baseline.unpack import unpacked_run
from scoregate.ci.github.api import Api
from scoregate.ci.github.base import Base
from scoregate.ci.github.connection import Connection
from scoregate.ci.github.data_branch import BRANCH, stored_runs
from scoregate.ci.github.git_data import tip_of
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.record import Run
from scoregate.errors import ScoregateError

_KINDS = (BaselineKind.AUTO, BaselineKind.BRANCH)


async def branch_baseline(settings: Settings, connection: Connection | None, base: Base | None) -> Baseline | None:
    """The run of the base's commit, else of its nearest ancestor, else the newest; None where it is not asked for."""
    if settings.baseline_kind not in _KINDS:
        return None
    if connection is None or base is None or connection.api is None:
        asked = settings.baseline_kind is BaselineKind.BRANCH
        return Baseline(None, "the data branch can be read in GitHub's jobs alone, with a token") if asked else None
    try:
        return await _found(connection, connection.api, base)
    except ScoregateError as error:
        return Baseline(None, f"the branch {BRANCH} could not be read: {error}")


async def _found(connection: Connection, api: Api, base: Base) -> Baseline:
    tip = await tip_of(api, BRANCH)
    stored = list(stored_runs(tip, connection.key)) if tip else []
    chosen = await nearest(replace(base, branch=BRANCH), [each.commit for each in stored], api)
    if chosen is None:
        return Baseline(None, f"the branch {BRANCH} has no run of {connection.key}" if tip else f"no branch {BRANCH}")
    blobs = [each.blob for each in stored if each.commit == chosen.commit]
    return pooled([await _read(api, blob) for blob in blobs[:MOST_POOLED]], chosen.note, branch=None)


async def _read(api: Api, blob: str) -> Run:
    content = await api.raw(f"git/blobs/{blob}")
    return await to_thread.run_sync(unpacked_run, io.BytesIO(content))
