"""Where events go: one append-only file for each run of a suite."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from scoregate.core.events import SCHEMA_VERSION, ErrorInfo, EventType
from scoregate.core.json_io import MAX_EVENT_BYTES, dump, dump_event
from scoregate.core.usage import UsageMeter
from scoregate.errors import InvalidEvent, NotRecordable

EVENTS_VARIABLE = "SCOREGATE_EVENTS"
_CHUNK = 256 * 1024
_BUFFER_BYTES = 100_000
# What of an event users fill with what they like: in words, and the field. What else changes where that is cut.
_FREE = {
    "case_started": ("the test case", "input"),
    "case_output": ("the output", "output"),
    "scored": ("the metadata", "metadata"),
    "labelled": ("the metadata", "metadata"),
}
_ALSO: dict[str, dict[str, object]] = {"case_output": {"truncated": True}, "scored": {"assertions": None}}
_counter = itertools.count()


class EventLog:
    """The log of one suite. Every event is with the kernel before `emit` returns, so that no crash loses it.

    Args:
        suite: the suite's id.
        folder: where the host watches; None keeps the log to this process, in a temporary file.
        strays: what models took that nobody knows the case of; variants of a suite share it.
    """

    def __init__(self, suite: str, folder: Path | None, strays: UsageMeter | None = None) -> None:
        self.suite = suite
        self.strays = UsageMeter() if strays is None else strays
        self.stopped = self.given_up = False
        self._seq = 0
        self._lock = threading.Lock()
        self._file = _open_temporary() if folder is None else _open_new(folder)
        self._fd = self._file.fileno()
        weakref.finalize(self, self._file.close)

    def emit(self, kind: EventType, **told: Any) -> None:
        """Say it: the fields of the event of this type, see `core.events`.

        Raises:
            NotRecordable: a field has no JSON form; nothing was said.
        """
        with self._lock:
            head = {"type": kind, "suite": self.suite, "seq": self._seq, "time": time.time(), "v": SCHEMA_VERSION}
            line = _encode_line(said := {**head, **told})
            if len(line) >= MAX_EVENT_BYTES:
                line = dump_event(_truncate_fields(said, len(line)))
            os.write(self._fd, line + b"\n")
            self._seq += 1

    def lines(self) -> Iterator[bytes]:
        """The lines so far. Each reader has its own place in the file, and the writer's is at the end."""
        at, rest = 0, b""
        while chunk := os.pread(self._fd, _CHUNK, at):
            at += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines


def _open_temporary() -> BinaryIO:
    import tempfile

    return tempfile.TemporaryFile(prefix="scoregate-", suffix=".jsonl", buffering=0)


def _open_new(folder: Path) -> BinaryIO:
    """A file that nobody has; another container may have used our process id."""
    for number in _counter:
        with contextlib.suppress(FileExistsError):
            return open(folder / f"{os.getpid()}-{number}.jsonl", "xb+", buffering=0, opener=_open_append)
    raise AssertionError("numbers do not end")


def _open_append(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_APPEND, 0o666)


def _encode_line(said: dict[str, Any]) -> bytes:
    try:
        return dump_event(said)
    except ValueError as error:
        what, _ = _FREE.get(said["type"], ("it", ""))
        raise NotRecordable(what, error) from None


def _truncate_fields(said: Mapping[str, Any], size: int) -> dict[str, Any]:
    kind = said["type"]
    note = f"… left out: {size:,} bytes are over the limit of {MAX_EVENT_BYTES:,}"
    if said.get("trace") is not None:
        size -= len(dump(said["trace"]))
        said = {**said, "trace": note}
        if size < MAX_EVENT_BYTES // 2:
            return said
    if kind == "errored":
        return {**said, "error": ErrorInfo(said["error"].type, note)}
    if kind not in _FREE:
        raise InvalidEvent(f"a {kind} event {note}")
    _, field = _FREE[kind]
    return {
        **said,
        field: dump(said.get(field))[:_BUFFER_BYTES].decode("utf-8", "ignore") + note,
        **_ALSO.get(kind, {}),
    }
