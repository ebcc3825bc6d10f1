"""What an executor is: it opens a cluster, whose workers run the parts of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from scoregate.features.cluster.rate_limits import RateLimits
from scoregate.features.cluster.source_tree import SourceTree
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.launch import EmitEvent
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.records import record


@record
class Part:
    """A part of a plan: launches, or slices of their suites, that one worker runs one after the other.

    Attributes:
        number: from 1.
        seconds: the expected duration; 0 if it is unknown.
        launches: what it runs.
        files: the host's files that variables of the launches name.
    """

    number: int
    seconds: float
    launches: tuple[Launch, ...]
    files: Mapping[str, bytes]


@record
class PartLost(Exception):
    """A worker did not bring a part to its end.

    Attributes:
        reason: what happened, for reports.
        leaves_worker: the worker hangs, so it must get no further part.
    """

    reason: str
    leaves_worker: bool = False


@record
class WorkerRefused(Exception):
    """A worker can't run parts of this project, for example because its scoregate has another version."""

    reason: str


@record
class ClusterLost(Exception):
    """The cluster can't be reached any more."""

    reason: str


@record
class ClusterOptions:
    """What a cluster needs to know.

    Attributes:
        scheduler: the address of the cluster's scheduler; empty for a cluster on this machine.
        workers: how many workers a cluster on this machine has.
        environ: the variables of suites on this machine.
        hidden: the names of variables that suites must not get, wherever they run.
        limits: the rate limits of models, which give permits to the calls of all workers; None if `CallService` does.
    """

    scheduler: str
    workers: int
    environ: Mapping[str, str]
    hidden: frozenset[str] = frozenset()
    limits: RateLimits | None = None


class Cluster(Protocol):
    """The workers that run parts. All names of workers are addresses or other texts that identify them."""

    @property
    def is_local(self) -> bool:
        """Whether all workers are on this machine and share its files."""
        ...

    async def list_workers(self) -> Mapping[str, int]:
        """The number of parts that each worker can run at the same time, by its name.

        Raises:
            ClusterLost: the cluster can't be reached.
        """
        ...

    async def prepare(self, worker: str, tree: SourceTree) -> None:
        """Check a worker, and send it the project.

        Raises:
            WorkerRefused: it can't run parts of this project.
            PartLost: it is gone.
        """
        ...

    async def run_part(self, part: Part, worker: str, tree: SourceTree, settings: Settings, emit: EmitEvent) -> None:
        """Run a part on a worker, and emit what happens there until it has ended.

        If it is cancelled, the worker stops the part. If the options have `limits`, `CallLeases` of them answer the
        messages that a `CallRelay` on the worker receives, and end when this returns.

        Raises:
            PartLost: the worker is gone, hangs, or did not report everything.
        """
        ...


class OpenCluster(Protocol):
    """Opens the cluster of an executor until the block ends."""

    def __call__(self, options: ClusterOptions, scratch: Path) -> AbstractAsyncContextManager[Cluster]: ...
