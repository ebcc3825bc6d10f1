"""Where events go: one append-only file for each run of a suite, and the fold of what was said."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

from scoregate.core.case import CaseResult
from scoregate.core.events import SCHEMA_VERSION, CaseOutput, CaseStarted, Errored, ErrorInfo, Event, Scored
from scoregate.core.fold import SuiteFold
from scoregate.core.record import SuiteResult
from scoregate.core.wire import MAX_EVENT_BYTES, dump, dump_event
from scoregate.engine.readback import TYPES, own_event
from scoregate.errors import InvalidEvent, NotRecordable

EVENTS_VARIABLE = "SCOREGATE_EVENTS"
_CHUNK = 256 * 1024
# What of an event users fill with what they like.
_FREE = defaultdict(lambda: "it", {CaseStarted: "the test case", CaseOutput: "the output", Scored: "the metadata"})
_counter = itertools.count()


class EventLog:
    """The log of one suite. Every event is with the kernel before `emit` returns, so that no crash loses it.

    Args:
        suite: the suite's id.
        folder: where the host watches; None keeps the log to this process, in a temporary file.
    """

    def __init__(self, suite: str, folder: Path | None) -> None:
        self.suite = suite
        self.stopped = self.given_up = False
        self._seq = 0
        self._lock = threading.Lock()
        self._file = _temporary() if folder is None else _new_in(folder)
        self._fd = self._file.fileno()
        weakref.finalize(self, self._file.close)

    def emit(self, kind: type[Event], **told: Any) -> None:
        """Say it.

        Raises:
            NotRecordable: a field has no JSON form; nothing was said.
        """
        with self._lock:
            said = {"suite": self.suite, "seq": self._seq, "time": time.time(), "v": SCHEMA_VERSION, **told}
            line = _line(kind, said)
            if len(line) >= MAX_EVENT_BYTES:
                line = dump_event(_shortened(kind(**said), len(line)))
            os.write(self._fd, line + b"\n")
            self._seq += 1

    def result(self) -> SuiteResult:
        """The suite as far as it has got when it is first looked at; it is read back from the log."""
        return _Later(self)

    def folded(self) -> SuiteResult:
        """The suite as far as it has got."""
        fold = SuiteFold(0, self.suite)
        for line in self._lines():
            fold.apply(own_event(line))
        return fold.result(self.suite, self._read)

    def _read(self) -> Iterator[CaseResult]:
        fold = SuiteFold(0, self.suite)
        for line in self._lines():
            if (case := fold.apply(own_event(line))) is not None:
                yield case
        yield from fold.close()

    def _lines(self) -> Iterator[bytes]:
        """The lines so far. Each reader has its own place in the file, and the writer's is at the end."""
        at, rest = 0, b""
        while chunk := os.pread(self._fd, _CHUNK, at):
            at += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines


class _Later(SuiteResult):
    """A result that nobody has looked at: the log is not read before a field of it is."""

    __slots__ = ("_log",)

    def __init__(self, log: EventLog) -> None:
        object.__setattr__(self, "_log", log)

    def __getattr__(self, name: str) -> Any:
        found = self._log.folded()
        for each in fields(SuiteResult):
            object.__setattr__(self, each.name, getattr(found, each.name))
        return object.__getattribute__(self, name)


def _temporary() -> BinaryIO:
    import tempfile

    return tempfile.TemporaryFile(prefix="scoregate-", suffix=".jsonl", buffering=0)


def _new_in(folder: Path) -> BinaryIO:
    """A file that nobody has; another container may have used our process id."""
    for number in _counter:
        with contextlib.suppress(FileExistsError):
            return open(folder / f"{os.getpid()}-{number}.jsonl", "xb+", buffering=0, opener=_appending)
    raise AssertionError("numbers do not end")


def _appending(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_APPEND, 0o666)


def _line(kind: type[Event], said: dict[str, Any]) -> bytes:
    try:
        return dump_event({"type": TYPES[kind], **said})
    except ValueError as error:
        raise NotRecordable(_FREE[kind], error) from None


def _shortened(event: Event, size: int) -> Event:
    from dataclasses import replace

    note = f"… left out: {size:,} bytes are over the limit of {MAX_EVENT_BYTES:,}"
    if isinstance(event, CaseOutput):
        trace = None if event.trace is None else note
        if size - len(dump(event.trace)) < MAX_EVENT_BYTES // 2:
            return replace(event, trace=trace)
        return replace(event, output=_start_of(event.output, note), trace=trace, truncated=True)
    if isinstance(event, CaseStarted):
        return replace(event, input=_start_of(event.input, note))
    if isinstance(event, Scored):
        return replace(event, metadata=_start_of(event.metadata, note), assertions=None)
    if isinstance(event, Errored):
        return replace(event, error=ErrorInfo(event.error.type, note))
    raise InvalidEvent(f"a {event.type} event {note}")


def _start_of(value: object, note: str) -> str:
    return dump(value)[:100_000].decode("utf-8", "ignore") + note
