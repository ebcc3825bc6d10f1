"""Follow the event logs of a script while it writes them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scoregate.ci.archive.opening import plainly
from scoregate.ci.launch.happenings import Failed, Noticed, Said
from scoregate.core.events import ErrorInfo, Event
from scoregate.core.wire import MAX_EVENT_BYTES, parse_event
from scoregate.errors import InvalidEvent

_CHUNK = 256 * 1024
_MOST_REASONS = 5
_ADVICE = "docs/events.md describes the lines. What they reported is missing, so the run can't be judged."


@dataclass(slots=True)
class _Log:
    path: Path
    offset: int = 0
    size: int = 0
    crc32: int = 0
    rest: bytes = b""
    skipping: bool = False
    refused: bool = False


@dataclass(slots=True)
class Follower:
    """Reads what is new in a folder of logs. `redact` takes secrets out of the bytes before they are parsed."""

    script: str
    folder: Path
    redact: Callable[[bytes], bytes]
    _logs: dict[str, _Log] = field(default_factory=dict)
    _invalid: int = 0
    _reasons: dict[str, None] = field(default_factory=dict)
    _optional: int = 0

    def read(self) -> Iterator[Said]:
        """What was there at the last call and has not been read, in chunks.

        Between two calls, what the script printed before it wrote that is heard, and with it what it declared secret.
        """
        for path in sorted(self.folder.glob("*.jsonl")):
            log = self._logs.setdefault(path.name, _Log(path))
            end = log.size
            try:
                while lines := self._next_lines(log, end):
                    yield Said(self.script, log.path.name, self._events(lines))
            except OSError as error:
                if not log.refused:
                    self._refuse(f"its event log {path.name!r:.80} cannot be read: {error.strerror}")
                log.refused = True

    def close(self) -> Iterator[Said | Noticed | Failed]:
        """A last line without an end, what could not be read, and what was changed since: a log only grows."""
        for log in self._logs.values():
            if not _is_unchanged(log):
                message = f"{log.path.name!r:.80} among its event logs was changed or deleted after it was read"
                advice = (
                    "Suites must not touch event logs. In scoregate's container, they cannot touch those of others."
                )
                yield Failed(self.script, ErrorInfo("EventsChanged", message, advice=advice))
            if log.rest:
                yield Said(self.script, log.path.name, self._events([log.rest]))
        if self._optional:
            notice = f"{self._optional:,} optional events of a newer version are skipped"
            yield Noticed(self.script, f"{notice}: update scoregate to read them")
        if self._invalid:
            reasons = "; ".join(self._reasons)
            what = "1 line of its event logs" if self._invalid == 1 else f"{self._invalid:,} lines of its event logs"
            yield Failed(self.script, ErrorInfo("InvalidEvents", f"{what} can't be read: {reasons}", advice=_ADVICE))

    def _next_lines(self, log: _Log, end: int) -> list[bytes]:
        while True:
            with open(log.path, "rb", opener=plainly) as file:
                log.size = os.fstat(file.fileno()).st_size
                file.seek(log.offset)
                chunk = file.read(max(0, min(_CHUNK, end - log.offset)))
            if not chunk:
                return []
            log.offset += len(chunk)
            log.crc32 = zlib.crc32(chunk, log.crc32)
            *lines, log.rest = (log.rest + chunk).split(b"\n")
            if log.skipping and lines:
                lines, log.skipping = lines[1:], False
            if len(log.rest) > MAX_EVENT_BYTES:
                if not log.skipping:
                    self._refuse(f"a line is longer than {MAX_EVENT_BYTES:,} bytes")
                log.rest, log.skipping = b"", True
            if lines:
                return lines

    def _events(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        for line in lines:
            try:
                if line.strip():
                    events.append(parse_event(self.redact(line)))
            except InvalidEvent as error:
                if error.optional:
                    self._optional += 1
                else:
                    self._refuse(error.message)
        return events

    def _refuse(self, reason: str) -> None:
        """Remember that something is missing; of many reasons the first few."""
        self._invalid += 1
        if len(self._reasons) < _MOST_REASONS:
            self._reasons.setdefault(f"{reason:.300}")


def _is_unchanged(log: _Log) -> bool:
    """Whether a log still begins with what was read of it."""
    left, crc32 = log.offset, 0
    try:
        with open(log.path, "rb", opener=plainly) as file:
            while left and (chunk := file.read(min(_CHUNK, left))):
                left, crc32 = left - len(chunk), zlib.crc32(chunk, crc32)
    except OSError:
        return log.offset == 0
    return left == 0 and crc32 == log.crc32
