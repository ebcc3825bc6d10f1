"""The executors by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from scoregate.errors import UsageError
from scoregate.features.cluster.declare import EXECUTOR, SCHEDULER, ExecutorKind
from scoregate.features.cluster.executor import ClusterOptions, OpenCluster
from scoregate.features.cluster.rate_limits import RateLimits
from scoregate.kernel.job.ports import RecordPlan
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.recording import Recorder


def _load_dask() -> OpenCluster:
    from scoregate.features.cluster.dask import open_dask

    return open_dask


_CLUSTERS: dict[ExecutorKind, Callable[[], OpenCluster]] = {ExecutorKind.DASK: _load_dask}


@asynccontextmanager
async def open_executor(recorder: Recorder, settings: Settings, scratch: Path) -> AsyncIterator[RecordPlan]:
    """What records the plans of a run on a cluster, until the block ends.

    Args:
        recorder: records runs on this machine.
        settings: name the executor.
        scratch: a folder for temporary files.

    Raises:
        UsageError: the executor can't be used here.
    """
    executor, scheduler = EXECUTOR.of(settings), SCHEDULER.of(settings)
    if executor is ExecutorKind.LOCAL:
        raise UsageError("--scheduler needs an executor with a scheduler", advice="Add --executor dask.")
    if recorder.new_identity() is not None:
        raise UsageError(
            f"--executor {executor} can't be used here, where each suite runs as a user of its own",
            advice="Use shards, or run outside of scoregate's container.",
        )
    from scoregate.features.cluster.part_recording import PartRecorder

    calls = recorder.calls
    if calls is not None and scheduler and not _is_on_this_machine(scheduler):
        raise calls.explain_unreachable(f"workers of {scheduler}")
    options = ClusterOptions(
        scheduler or "",
        settings.max_suites,
        recorder.environ,
        frozenset() if calls is None else calls.hidden,
        RateLimits() if calls is None else None,
    )
    async with _CLUSTERS[executor]()(options, scratch) as cluster:
        yield PartRecorder(recorder, cluster, scratch).record


def _is_on_this_machine(address: str) -> bool:
    host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    return host == "localhost" or host.startswith("127.") or host == "::1"
