"""What runs in a worker of Dask: it unpacks the project and runs parts in child processes.

The host names these functions, so scoregate must be installed on the workers; no code of the user is pickled.
"""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from distributed import Worker, get_worker

from scoregate import __version__
from scoregate.features.cluster.call_relay import CallLine, CallRelay, open_call_relay
from scoregate.features.cluster.source_tree import MOST_BYTES, unpack_tree
from scoregate.features.cluster.wire import PartOrder, encode_event, load_order, move_launch
from scoregate.features.steps import load_steps
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.steps import list_layers
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.launch import Host, LaunchEvent, Launching, Printed, launch_all, open_layers
from scoregate.kernel.run.plan import Plan
from scoregate.models.shared_limiter import LIMITS_VARIABLE

_FLUSH_S, _ALIVE_S, _POLL_S = 0.1, 2.0, 0.2
_MOST_BATCH = 64 * 1024
_MOST_PRINTED = 100_000  # lines


def describe_worker() -> dict[str, str]:
    """The versions that must be those of the host."""
    return {"scoregate": __version__, "python": ".".join(platform.python_version_tuple()[:2])}


def ignore_interrupts() -> None:
    """Leave Ctrl+C to the host, which ends this worker: the terminal sends it to all processes.

    A handler, unlike SIG_IGN, is not inherited by suites.
    """
    signal.signal(signal.SIGINT, lambda _number, _frame: None)


def _folder(worker: Worker, digest: str) -> Path:
    return Path(worker.local_directory) / "scoregate" / digest


async def has_tree(digest: str, *, dask_worker: Worker) -> bool:
    """Whether this worker has the project's files."""
    return _folder(dask_worker, digest).is_dir()


async def receive_tree(digest: str, chunk: bytes, *, offset: int, is_last: bool, dask_worker: Worker) -> None:
    """Add a chunk to the archive of the project, and unpack it after the last one."""
    target = _folder(dask_worker, digest)
    archive = target.with_name(f"{digest}.tar.gz")
    if offset + len(chunk) > MOST_BYTES:
        raise ValueError("the archive of the project is too large")
    await to_thread.run_sync(_add_chunk, archive, chunk, offset)
    if is_last:
        await to_thread.run_sync(unpack_tree, archive, digest, target)
        archive.unlink()


def _add_chunk(archive: Path, chunk: bytes, offset: int) -> None:
    archive.parent.mkdir(mode=0o700, exist_ok=True)
    with archive.open("r+b" if offset else "wb") as file:
        file.seek(offset)
        file.write(chunk)


# The relays of the attempts that run on this worker.
_relays: dict[str, CallRelay] = {}


async def deliver_permits(attempt: str, permits: list[tuple[int, int]]) -> bool:
    """Let calls of an attempt start; False if it doesn't run here."""
    relay = _relays.get(attempt)
    if relay is not None:
        relay.deliver(permits)
    return relay is not None


def run_part(message: Mapping[str, Any], topic: str) -> None:
    """Run a part, and log what happens as events of a topic, until it ends or the host cancels it."""
    worker = get_worker()
    order = load_order(message)
    stream = _EventStream(worker, topic, order.attempt)
    try:
        with _relay_calls(order, stream) as variables:
            anyio.run(_run_until_cancelled, order, worker, worker.get_current_task(), stream, variables)
    finally:
        stream.close()


@contextmanager
def _relay_calls(order: PartOrder, stream: _EventStream) -> Iterator[Mapping[str, str]]:
    """The variables by which suites ask the host for permits of calls, until the block ends."""
    if not order.asks_for_calls:
        yield {}
        return
    with open_call_relay(stream.send_calls) as relay:
        _relays[order.attempt] = relay
        try:
            yield {LIMITS_VARIABLE: relay.path}
        finally:
            del _relays[order.attempt]


class _EventStream:
    """Sends events in batches, numbered, so that the host sees whether one is missing."""

    def __init__(self, worker: Worker, topic: str, attempt: str) -> None:
        self._worker, self._topic, self._attempt = worker, topic, attempt
        self._lock = threading.Lock()
        self._events: list[Any] = []
        self._size = self._sent = self._printed = 0
        self._last_sent = time.monotonic()

    def emit(self, event: LaunchEvent) -> None:
        """Add an event; a large batch is sent at once."""
        if isinstance(event, Printed):
            self._printed += 1
            if self._printed > _MOST_PRINTED:
                return
        values = encode_event(event)
        with self._lock:
            self._events.append(values)
            self._size += sum(len(each) for each in values if isinstance(each, bytes | str))
        if self._size >= _MOST_BATCH:
            self.flush()

    def flush(self) -> None:
        """Send what has not been sent; without anything for two seconds, a sign of life."""
        with self._lock:
            events, self._events, self._size = self._events, [], 0
            if not events and time.monotonic() - self._last_sent < _ALIVE_S:
                return
            self._log({"first": self._sent, "events": events})
            self._sent += len(events)

    def send_calls(self, lines: list[CallLine]) -> None:
        """Send messages about calls of models at once."""
        self._worker.log_event(self._topic, {"attempt": self._attempt, "calls": lines})

    def close(self) -> None:
        """Send the rest, and how many events there were."""
        self.flush()
        with self._lock:
            self._log({"first": self._sent, "events": [], "total": self._sent})

    def _log(self, values: dict[str, Any]) -> None:
        self._last_sent = time.monotonic()
        self._worker.log_event(self._topic, {"attempt": self._attempt, **values})


async def _run_until_cancelled(
    order: PartOrder, worker: Worker, key: str, stream: _EventStream, variables: Mapping[str, str]
) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_flush_regularly, stream)
        tasks.start_soon(_watch_task, worker, key, tasks.cancel_scope)
        await _run_launches(order, worker, stream, variables)
        tasks.cancel_scope.cancel()


async def _flush_regularly(stream: _EventStream) -> None:
    while True:
        await anyio.sleep(_FLUSH_S)
        stream.flush()


async def _watch_task(worker: Worker, key: str, scope: anyio.CancelScope) -> None:
    """Cancel the part once its task is cancelled, also because the host is gone."""
    while True:
        await anyio.sleep(_POLL_S)
        task = worker.state.tasks.get(key)
        if task is None or task.state in ("cancelled", "resumed"):
            scope.cancel()
            return


async def _run_launches(order: PartOrder, worker: Worker, stream: _EventStream, variables: Mapping[str, str]) -> None:
    root = _folder(worker, order.tree) if order.tree else Path(order.root)
    environ = {name: value for name, value in os.environ.items() if name not in order.hidden} | dict(variables)
    redact = Redactor(secret_values(os.environ))
    async with anyio.TemporaryDirectory(prefix="scoregate-part-") as folder:
        files = {}
        for number, (path, content) in enumerate(order.files.items()):
            files[path] = str(Path(folder) / str(number))
            await anyio.Path(files[path]).write_bytes(content)
        environ["SCOREGATE_SPENT"] = order.spent or str(Path(folder) / "spent")
        launches = [move_launch(launch, order.root, root, files) for launch in order.launches]
        plan = Plan(root, Interpreter((), "the worker's Python"), tuple(launches))
        settings = Settings(suite=order.suites, timeout=order.timeout_s)
        launching = Launching(plan, settings, environ, redact)
        async with open_layers(list_layers(load_steps, launching), launching) as layers:
            host = Host(
                root,
                environ,
                redact,
                timeout_s=order.timeout_s,
                layers=layers,
            )
            await launch_all(launches, host, stream.emit)
