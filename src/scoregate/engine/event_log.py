"""The event log: one append-only file for each run of a suite."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

from scoregate.errors import DiskFull, InvalidEvent, NotRecordable
from scoregate.kernel.types.event_values import SCHEMA_VERSION, ErrorInfo, EventType, ListedTool
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES, dump, dump_event
from scoregate.kernel.types.usage import UsageMeter

EVENTS_VARIABLE = "SCOREGATE_EVENTS"
_CHUNK = 256 * 1024
_BUFFER_BYTES = 100_000
# The field of an event type that users fill without a limit, with its name in messages.
_USER_FIELDS = {
    "case_started": ("the test case", "input"),
    "case_output": ("the output", "output"),
    "scored": ("the metadata", "metadata"),
    "labelled": ("the metadata", "metadata"),
}
# Fields that change when the field above is truncated.
_TRUNCATED_FIELDS: dict[str, dict[str, object]] = {
    "case_started": {"review_inputs": ()},
    "case_output": {"truncated": True, "review_outputs": ()},
    "scored": {"assertions": None},
}
_counter = itertools.count()


class EventLog:
    """The log of one suite. `emit` passes every event to the kernel before it returns, so a crash loses none.

    Args:
        suite: the suite's id.
        folder: the folder that the host watches; None for a temporary file of this process.
        unattributed: counts the model usage that belongs to no case; the variants of a suite share it.
        on_case_finished: called after every finished trial.

    Attributes:
        name: the name of the file; empty for a temporary one.
        tools: the tools of the MCP servers that the suite connected to.
    """

    def __init__(
        self,
        suite: str,
        folder: Path | None,
        unattributed: UsageMeter | None = None,
        on_case_finished: Callable[[], None] | None = None,
    ) -> None:
        self.suite = suite
        self._on_case_finished = on_case_finished
        self.unattributed = UsageMeter() if unattributed is None else unattributed
        self.is_stop_reported = self.timed_out = False
        self.tools: dict[ListedTool, None] = {}
        self._seq = 0
        self._lock = threading.Lock()
        self.name = ""
        self._folder = folder
        if folder is None:
            import tempfile

            temporary = tempfile.TemporaryFile(prefix="scoregate-", suffix=".jsonl", buffering=0)  # noqa: SIM115
            self._file: BinaryIO = temporary
        else:
            self._file = _create_file(folder)
            self.name = Path(self._file.name).name
        self._fd = self._file.fileno()
        weakref.finalize(self, self._file.close)

    def emit(self, kind: EventType, **fields: Any) -> None:
        """Write an event.

        Args:
            kind: the type of the event.
            fields: the fields of this event type, see `kernel.types.events`.

        Raises:
            NotRecordable: a field has no JSON form; nothing is written.
            MediaError: it has too many images or recordings, or too large ones; nothing is written.
            DiskFull: there is no space for it.
        """
        with self._lock:
            event = {
                "type": kind,
                "suite": self.suite,
                "seq": self._seq,
                "time": time.time(),
                "v": SCHEMA_VERSION,
                **fields,
            }
            try:
                line = dump_event(event)
            except ValueError as error:
                description, _ = _USER_FIELDS.get(kind, ("it", ""))
                raise NotRecordable(description, error) from None
            if _may_have_media(line):
                event, line = self._write_media(event, line)
            if len(line) >= MAX_EVENT_BYTES:
                line = dump_event(_truncate_fields(event, len(line)))
            self._write(line + b"\n")
            self._seq += 1
        if kind == "case_finished" and self._on_case_finished is not None:
            self._on_case_finished()

    def _write(self, line: bytes) -> None:
        try:
            written = os.write(self._fd, line)
            # A disk that is almost full takes a part of a line, and refuses the next one.
            while written < len(line):
                written += os.write(self._fd, memoryview(line)[written:])
        except OSError as error:
            if not DiskFull.is_cause(error):
                raise
            raise DiskFull(
                f"the results of {self.suite} can't be written to "
                f"{self._folder or 'a temporary file'}: {error.strerror}",
                advice="Free some space, or set TMPDIR to a folder of another disk.",
            ) from None

    def _write_media(self, event: dict[str, Any], line: bytes) -> tuple[dict[str, Any], bytes]:
        """Write the images and audio of an event into files; returns the event with references to them."""
        from scoregate.engine.media_files import record_media

        if event["type"] not in _USER_FIELDS:
            return event, line
        recorded = record_media(from_json(line), self._folder)
        return recorded, dump_event(recorded)

    def lines(self) -> Iterator[bytes]:
        """Return the lines so far. Each reader has its own position in the file; the writer's is at the end."""
        position, rest = 0, b""
        while chunk := os.pread(self._fd, _CHUNK, position):
            position += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines


def _create_file(folder: Path) -> BinaryIO:
    for number in _counter:
        path = folder / f"{os.getpid()}-{number}.jsonl"
        # The file may exist: a process in another container can have the same process id.
        with contextlib.suppress(FileExistsError):
            return open(path, "xb+", buffering=0, opener=lambda file, flags: os.open(file, flags | os.O_APPEND, 0o666))
    raise AssertionError("numbers do not end")


def _may_have_media(line: bytes) -> bool:
    """Whether the line of an event may contain an image or audio: a data URL, or an object within the event.

    Most lines have neither, which a search for one character finds out in a tenth of the time (measured).
    """
    if b";" in line and b";base64," in line:
        return True
    return line.find(b"{", 1) > 0 and (b'"media":"sha256:' in line or b'"input_audio":{' in line)


def _truncate_fields(event: dict[str, Any], size: int) -> dict[str, Any]:
    kind = event["type"]
    note = f"… left out: {size:,} bytes are over the limit of {MAX_EVENT_BYTES:,}"
    if event.get("trace") is not None:
        size -= len(dump(event["trace"]))
        event = {**event, "trace": note}
        if size < MAX_EVENT_BYTES // 2:
            return event
    if kind == "errored":
        return {**event, "error": ErrorInfo(event["error"].type, note)}
    if kind not in _USER_FIELDS:
        raise InvalidEvent(f"a {kind} event {note}")
    _, field = _USER_FIELDS[kind]
    beginning = dump(event.get(field))[:_BUFFER_BYTES].decode("utf-8", "ignore")
    return {**event, field: beginning + note, **_TRUNCATED_FIELDS.get(kind, {})}
