"""The executors by name."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from scoregate.features.cluster.executor import ClusterOptions, OpenCluster
from scoregate.features.cluster.rate_limits import RateLimits
from scoregate.ci.ports import RecordPlan
from scoregate.ci.recording import Recorder
from scoregate.ci.settings import ExecutorKind, Settings
from scoregate.errors import UsageError


def _load_dask() -> OpenCluster:
    from scoregate.features.cluster.dask import open_dask

    return open_dask


_CLUSTERS: dict[ExecutorKind, Callable[[], OpenCluster]] = {ExecutorKind.DASK: _load_dask}


@asynccontextmanager
async def open_executor(settings: Settings, recorder: Recorder, scratch: Path) -> AsyncIterator[RecordPlan]:
    """What records the plans of a run, until the block ends.

    Args:
        settings: name the executor.
        recorder: records runs on this machine.
        scratch: a folder for temporary files.

    Raises:
        UsageError: the executor can't be used here.
    """
    if settings.executor is ExecutorKind.LOCAL:
        if settings.scheduler is not None:
            raise UsageError("--scheduler needs an executor with a scheduler", advice="Add --executor dask.")
        yield recorder.record
        return
    if recorder.new_identity() is not None:
        raise UsageError(
            f"--executor {settings.executor} can't be used here, where each suite runs as a user of its own",
            advice="Use shards, or run outside of scoregate's container.",
        )
    from scoregate.features.cluster.part_recording import PartRecorder

    gateway = recorder.gateway
    if gateway is not None and settings.scheduler and not _is_on_this_machine(settings.scheduler):
        raise UsageError(
            f"the gateway listens on this machine only, so workers of {settings.scheduler} can't reach it",
            advice="Start `scoregate gateway` with --certificate, and give the workers its variables.",
        )
    options = ClusterOptions(
        settings.scheduler or "",
        settings.max_suites,
        recorder.environ,
        # Keys under other names, too.
        frozenset() if gateway is None else gateway.key_variables | (os.environ.keys() - recorder.environ.keys()),
        RateLimits() if gateway is None else None,
    )
    async with _CLUSTERS[settings.executor]()(options, scratch) as cluster:
        yield PartRecorder(recorder, cluster, scratch).record


def _is_on_this_machine(address: str) -> bool:
    host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    return host == "localhost" or host.startswith("127.") or host == "::1"
