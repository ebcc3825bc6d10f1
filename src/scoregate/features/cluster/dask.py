"""Dask as an executor: a cluster on this machine, or one at the address of its scheduler."""

from __future__ import annotations

import asyncio
import logging
import platform
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from scoregate import __version__
from scoregate.errors import MissingExtra, UsageError
from scoregate.features.cluster.executor import ClusterLost, ClusterOptions, Part, PartLost, WorkerRefused
from scoregate.features.cluster.rate_limits import CallLeases
from scoregate.features.cluster.source_tree import SourceTree
from scoregate.features.cluster.wire import PartOrder, decode_event, dump_order
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.run.launch import EmitEvent

if TYPE_CHECKING:
    from distributed import Client, Future

_CONNECT_S, _ANSWER_S, _CLOSE_S, _POLL_S = 20.0, 30.0, 3.0, 0.1
# A worker sends a sign of life every two seconds.
_SILENT_S = 30.0
_LATE_S = 10.0
_CHUNK = 4 * 1024 * 1024
_DISCONNECTED = "the connection to the scheduler was lost"
_LOST = "the worker ended, or the scheduler can't reach it"
_NOT_SENT = "permits for its calls could not be sent"


@asynccontextmanager
async def open_dask(options: ClusterOptions, scratch: Path) -> AsyncIterator[DaskCluster]:
    """The cluster of a scheduler, or one on this machine, until the block ends.

    Args:
        options: what the cluster needs to know.
        scratch: a folder for temporary files.

    Raises:
        MissingExtra: Dask is not installed.
        UsageError: the scheduler can't be reached.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtra(f"--executor dask needs {error.name}", advice="pip install 'scoregate[dask]'") from None
    for name in logging.root.manager.loggerDict:
        if name.startswith("distributed"):  # what matters of its messages is in the report
            logging.getLogger(name).setLevel(logging.CRITICAL)
    if options.scheduler:
        async with _open_client(Client, options.scheduler) as client:
            yield DaskCluster(client, options, is_local=False)
        return
    async with (
        LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            memory_limit=0,  # Dask would kill workers by the memory that suites use
            dashboard_address="127.0.0.1:0",
            security=True,  # on loopback too: other users of this machine could send it code
            asynchronous=True,
            silence_logs=logging.CRITICAL,
            local_directory=str(scratch),
            env=dict(options.environ),
        ) as cluster,
        _open_client(Client, cluster) as client,
    ):
        yield DaskCluster(client, options, is_local=True)


@asynccontextmanager
async def _open_client(make_client: Any, address: Any) -> AsyncIterator[Client]:
    try:
        client = await make_client(address, asynchronous=True, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"no scheduler of Dask can be reached at {address}: {one_line(str(error), 300)}",
            advice="Check the address, and the certificates in Dask's settings (distributed.comm.tls).",
        ) from None
    try:
        yield client
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_S), suppress(OSError, TimeoutError):
            await client.close(timeout=_CLOSE_S / 2)


@dataclass(slots=True)
class _Attempt:
    """What has arrived of an attempt: the number of its events, and when a message came last."""

    emit: EmitEvent
    leases: CallLeases | None = None
    received: int = 0
    total: int | None = None
    last: float = field(default_factory=time.monotonic)
    problem: str = ""
    changed: anyio.Event = field(default_factory=anyio.Event)

    def take(self, message: Mapping[str, Any]) -> None:
        """Emit the events of a message."""
        self.last = time.monotonic()
        if "calls" in message:
            self._take_calls(message["calls"])
            return
        events, first, total = message.get("events"), message.get("first"), message.get("total")
        if not isinstance(events, list | tuple) or first != self.received:
            self.stop("a part of its events was lost on the way")
            return
        for values in events:
            if self.problem:
                return
            self.received += 1
            try:
                self.emit(decode_event(values))
            except ValueError as error:
                self.stop(f"it sent an event that is not valid: {one_line(str(error), 300)}")
        if isinstance(total, int):
            self.total = total
            self.changed.set()

    def _take_calls(self, lines: object) -> None:
        if self.leases is None or not isinstance(lines, list | tuple):
            return
        try:
            for connection, line in lines:
                self.leases.receive(int(connection), bytes(line))
        except (TypeError, ValueError) as error:
            self.stop(one_line(str(error), 300))

    def stop(self, problem: str) -> None:
        """End the attempt because of a problem."""
        self.problem = self.problem or problem
        self.changed.set()


class _PermitSender:
    """Sends permits to an attempt of a part. While a batch is on its way, the next one grows.

    Args:
        client: the connection to the cluster.
        worker: the address of the worker.
        attempt: the name of the attempt.
    """

    def __init__(self, client: Client, worker: str, attempt: str) -> None:
        self._client, self._worker, self._attempt = client, worker, attempt
        self._loop = asyncio.get_running_loop()
        self._waiting: list[tuple[int, int]] = []
        self._changed = asyncio.Event()

    def add(self, connection: int, number: int) -> None:
        """Add the permit of a call, in any thread."""
        self._loop.call_soon_threadsafe(self._add, connection, number)

    def _add(self, connection: int, number: int) -> None:
        self._waiting.append((connection, number))
        self._changed.set()

    @asynccontextmanager
    async def send_regularly(self, stop: Callable[[str], None]) -> AsyncIterator[None]:
        """Send permits until the block ends.

        Args:
            stop: gets the reason why they can't be sent, after which calls would wait for ever.
        """
        # A task group would wrap the errors of the block.
        task = asyncio.create_task(self._send_all(stop))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _send_all(self, stop: Callable[[str], None]) -> None:
        from scoregate.features.cluster.dask_worker import deliver_permits

        while True:
            await self._changed.wait()
            self._changed.clear()
            permits, self._waiting = self._waiting, []
            try:
                # Not `asyncio.wait_for`: before Python 3.12, it loses a cancellation that meets the answer.
                with anyio.fail_after(_ANSWER_S):
                    answers = await self._client.run(
                        deliver_permits, self._attempt, permits, workers=[self._worker], on_error="return"
                    )
            except (OSError, TimeoutError):
                answers = {}
            if answers.get(self._worker) is not True:
                stop(_NOT_SENT)
                return


class DaskCluster:
    """The workers of a Dask cluster.

    Results come as events that a worker logs, which are plain values. Results of tasks, which are pickled, are never
    read.
    """

    def __init__(self, client: Client, options: ClusterOptions, *, is_local: bool) -> None:
        self._client, self._options, self.is_local = client, options, is_local
        self._topic = f"scoregate-{secrets.token_hex(16)}"
        self._attempts: dict[str, _Attempt] = {}
        client.subscribe_topic(self._topic, self._on_message)

    async def list_workers(self) -> Mapping[str, int]:
        """The number of threads of each worker, by its address."""
        self._check_connection()
        try:
            with anyio.fail_after(_ANSWER_S):
                threads: dict[str, int] = await self._client.scheduler.ncores()
        except TimeoutError:
            raise ClusterLost(f"the scheduler did not answer for {_ANSWER_S:g} s") from None
        except OSError:
            raise ClusterLost(_DISCONNECTED) from None
        # The answer may be that of a scheduler that was started again.
        self._check_connection()
        return {worker: max(1, number) for worker, number in threads.items()}

    def _check_connection(self) -> None:
        """Dask connects again by itself, but a scheduler that was started again knows nothing of this run."""
        if self._client.status != "running":
            raise ClusterLost(_DISCONNECTED)

    async def prepare(self, worker: str, tree: SourceTree) -> None:
        """Compare versions, and send the project's files unless the worker has them."""
        from scoregate.features.cluster import dask_worker

        description = await self._call(worker, dask_worker.describe_worker)
        own = {"scoregate": __version__, "python": ".".join(platform.python_version_tuple()[:2])}
        for name, version in own.items():
            if description.get(name) != version:
                raise WorkerRefused(
                    f"it has {name} {one_line(str(description.get(name)), 40)}, and this machine {version}"
                )
        if self.is_local:
            await self._call(worker, dask_worker.ignore_interrupts)
            return
        if await self._call(worker, dask_worker.has_tree, tree.digest):
            return
        with tree.path.open("rb") as file:
            offset = 0
            while chunk := file.read(_CHUNK):
                is_last = offset + len(chunk) >= tree.size
                await self._call(worker, dask_worker.receive_tree, tree.digest, chunk, offset=offset, is_last=is_last)
                offset += len(chunk)

    async def _call(self, worker: str, function: Any, *arguments: Any, **named: Any) -> Any:
        """Call a function of scoregate on a worker."""
        try:
            with anyio.fail_after(_ANSWER_S):
                results = await self._client.run(function, *arguments, workers=[worker], on_error="return", **named)
        except (OSError, TimeoutError):
            raise PartLost("it does not answer") from None
        result = results.get(worker)
        if isinstance(result, OSError):
            raise PartLost(_LOST)
        if isinstance(result, ImportError):
            raise WorkerRefused(f"it lacks a package: {one_line(str(result), 200)}")
        if isinstance(result, Exception):
            raise WorkerRefused(f"{type(result).__name__}: {one_line(str(result), 200)}")
        return result

    def _on_message(self, event: Any) -> None:
        """Take a message of a worker; those of attempts that were given up are ignored."""
        message = event[1] if isinstance(event, list | tuple) and len(event) > 1 else None
        if isinstance(message, Mapping):
            attempt = self._attempts.get(str(message.get("attempt")))
            if attempt is not None:
                attempt.take(message)

    async def run_part(self, part: Part, worker: str, tree: SourceTree, settings: Settings, emit: EmitEvent) -> None:
        """Run a part on a worker as a task that no other worker may take, until all of its events have arrived."""
        from scoregate.features.cluster.dask_worker import run_part

        name = f"scoregate-{part.number}-{secrets.token_hex(8)}"
        permits = _PermitSender(self._client, worker, name)
        limits = self._options.limits
        leases = None if limits is None else CallLeases(limits, permits.add)
        attempt = self._attempts[name] = _Attempt(emit, leases)
        order = PartOrder(
            name,
            "" if self.is_local else tree.digest,
            str(tree.root),
            part.launches,
            part.files,
            settings.timeout,
            settings.suite,
            tuple(sorted(self._options.hidden)),
            self._options.environ.get("SCOREGATE_SPENT", "") if self.is_local else "",
            leases is not None,
        )
        # Impure: a part that is tried again has to run again.
        future = self._client.submit(
            run_part, dump_order(order), self._topic, key=name, workers=[worker], allow_other_workers=False, pure=False
        )
        try:
            async with permits.send_regularly(attempt.stop):
                await self._wait(attempt, future)
        finally:
            self._attempts.pop(name, None)
            if leases is not None:
                leases.close()
            with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_S), suppress(Exception):
                await future.cancel()

    async def _wait(self, attempt: _Attempt, future: Future) -> None:
        """Wait until everything has arrived, or the attempt can't end well."""
        ended: float | None = None
        while attempt.total is None and not attempt.problem:
            with anyio.move_on_after(_POLL_S):
                await attempt.changed.wait()
            if future.status in ("error", "cancelled", "lost"):
                raise PartLost(await _describe_error(future))
            now = time.monotonic()
            if future.status == "finished":
                ended = ended or now
                # Events and the end of a task take different ways to this process.
                if now - ended > _LATE_S:
                    raise PartLost("its last events did not arrive")
            if now - attempt.last > _SILENT_S:
                raise PartLost(f"it did not report anything for {_SILENT_S:g} s", leaves_worker=True)
        if attempt.problem or attempt.total != attempt.received:
            raise PartLost(attempt.problem or "a part of its events was lost on the way")


async def _describe_error(future: Future) -> str:
    if future.status != "error":
        return "its task was cancelled"
    error = await future.exception()
    return one_line(f"{type(error).__name__}: {error}", 300)
