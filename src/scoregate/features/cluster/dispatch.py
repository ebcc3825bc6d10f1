"""Dispatch parts to workers: each runs until one attempt is complete, or no attempt is left."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from scoregate.features.cluster.declare import RETRIES
from scoregate.features.cluster.executor import Cluster, ClusterLost, Part, PartLost, WorkerRefused
from scoregate.features.cluster.source_tree import SourceTree
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.launch import EmitEvent

_POLL_S = 0.5
# Clusters that start workers on demand take minutes.
_WAIT_S = 300.0
_WAIT_REFUSED_S = 60.0
_MOST_REASONS = 5


class PartLog(Protocol):
    """Records what attempts of parts do."""

    def begin(self, number: int, worker: str) -> tuple[Part, EmitEvent]:
        """Begin an attempt; returns the part, with what earlier attempts finished, and what records its events."""
        ...

    def complete(self, number: int) -> bool:
        """End an attempt whose events are all there; False if another worker should run the part."""
        ...

    def lose(self, number: int, reason: str) -> bool:
        """End an attempt that was lost; returns whether it finished any trial that earlier attempts had not."""
        ...

    def give_up(self, number: int, reason: str) -> None:
        """Record that no worker could run the part to its end."""
        ...


@dataclass(slots=True)
class _QueuedPart:
    """A part that waits for a worker.

    `lost` are the attempts without a new result; `refused_by` are workers that must not get it again.
    """

    number: int
    lost: int = 0
    refused_by: set[str] = field(default_factory=set)
    reason: str = ""


@dataclass(slots=True)
class Dispatcher:
    """Gives parts to free workers, in their order.

    Args:
        cluster: the workers.
        tree: the files of the project.
        settings: the settings of the project.
        log: records what attempts do.
        wait_s: how long to wait for a worker if there is none.
        problem: why the parts that are left can't run: the cluster is lost.
        refused: why workers can't run parts.
    """

    cluster: Cluster
    tree: SourceTree
    settings: Settings
    log: PartLog
    wait_s: float = _WAIT_S
    problem: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    _queue: list[_QueuedPart] = field(default_factory=list)
    _ready: set[str] = field(default_factory=set)
    _preparing: set[str] = field(default_factory=set)
    _running: dict[int, tuple[str, anyio.CancelScope]] = field(default_factory=dict)
    _gone: set[int] = field(default_factory=set)
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def run(self, numbers: Iterable[int]) -> bool:
        """Run parts until each is complete or given up; returns False if the cluster is lost before.

        Args:
            numbers: the numbers of the parts.
        """
        self._queue = [_QueuedPart(number) for number in numbers]
        idle_since = time.monotonic()
        async with anyio.create_task_group() as tasks:
            while self._queue or self._running:
                try:
                    workers = await self.cluster.list_workers()
                except ClusterLost as error:
                    self.problem = error.reason
                    break
                self._update_workers(workers, tasks)
                self._start_parts(workers, tasks)
                now = time.monotonic()
                if self._running or self._preparing:
                    idle_since = now
                elif now - idle_since > (_WAIT_REFUSED_S if self.refused else self.wait_s):
                    self._give_up_all()
                    break
                self._changed = anyio.Event()
                with anyio.move_on_after(_POLL_S):
                    await self._changed.wait()
            tasks.cancel_scope.cancel()
        return not self.problem

    def _update_workers(self, workers: Mapping[str, int], tasks: anyio.abc.TaskGroup) -> None:
        self._ready &= workers.keys()
        for number, (worker, scope) in self._running.items():
            if worker not in workers:
                self._gone.add(number)
                scope.cancel()
        for worker in workers.keys() - self._ready - self._preparing - self.refused.keys():
            self._preparing.add(worker)
            tasks.start_soon(self._prepare, worker)

    async def _prepare(self, worker: str) -> None:
        try:
            await self.cluster.prepare(worker, self.tree)
            self._ready.add(worker)
        except WorkerRefused as error:
            self.refused[worker] = error.reason
        except PartLost:
            await anyio.sleep(_POLL_S)  # it is gone, or is tried again
        finally:
            self._preparing.discard(worker)
            self._changed.set()

    def _start_parts(self, workers: Mapping[str, int], tasks: anyio.abc.TaskGroup) -> None:
        free = {worker: workers[worker] for worker in sorted(self._ready)}
        for worker, _ in self._running.values():
            if worker in free:
                free[worker] -= 1
        for queued in list(self._queue):
            choices = [worker for worker, number in free.items() if number > 0 and worker not in queued.refused_by]
            if choices:
                worker = max(choices, key=lambda each: free[each])
                free[worker] -= 1
                self._queue.remove(queued)
                scope = anyio.CancelScope()
                self._running[queued.number] = (worker, scope)
                tasks.start_soon(self._run_part, queued, worker, scope)
            elif not (self._ready - queued.refused_by) and not self._preparing and queued.refused_by & self._ready:
                # Every worker that is there has tried.
                self._queue.remove(queued)
                self.log.give_up(queued.number, queued.reason)

    async def _run_part(self, queued: _QueuedPart, worker: str, scope: anyio.CancelScope) -> None:
        number, reason = queued.number, ""
        try:
            with scope:
                part, emit = self.log.begin(number, worker)
                try:
                    await self.cluster.run_part(part, worker, self.tree, self.settings, emit)
                except PartLost as error:
                    reason = error.reason
                    queued.refused_by.add(worker)
                    if error.leaves_worker:
                        self.refused[worker] = reason
                        self._ready.discard(worker)
            if scope.cancelled_caught or number in self._gone:
                reason = reason or "the worker ended, or the scheduler can't reach it"
        finally:
            self._running.pop(number, None)
            self._gone.discard(number)
            self._changed.set()
        if reason:
            self._retry(queued, f"worker {worker}: {reason}", self.log.lose(number, reason))
        elif not self.log.complete(number):
            queued.refused_by.add(worker)
            self._retry(queued, "", False)

    def _retry(self, queued: _QueuedPart, reason: str, has_new_results: bool) -> None:
        """Queue the part again, at the front. An attempt that finished trials doesn't count: its results are kept."""
        queued.reason = reason or queued.reason
        queued.lost = 0 if has_new_results else queued.lost + 1
        if queued.lost > RETRIES.of(self.settings):
            self.log.give_up(queued.number, queued.reason)
        else:
            self._queue.insert(0, queued)

    def _give_up_all(self) -> None:
        reasons = list(dict.fromkeys(f"{worker}: {reason}" for worker, reason in self.refused.items()))
        why = "; ".join(reasons[:_MOST_REASONS]) or "the cluster has no worker"
        for queued in self._queue:
            self.log.give_up(queued.number, f"no worker can run it: {why}")
        self._queue.clear()

    def describe(self) -> Iterator[str]:
        """A notice for each worker that can't run parts."""
        for worker, reason in list(self.refused.items())[:_MOST_REASONS]:
            yield f"worker {worker} gets no parts: {reason}"
