"""Follow the event logs of a script while it writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scoregate.ci.archive.opening import plainly
from scoregate.ci.launch.happenings import Noticed, Said
from scoregate.core.events import Event
from scoregate.core.wire import MAX_EVENT_BYTES, parse_event
from scoregate.errors import InvalidEvent

_CHUNK = 256 * 1024
_MOST_NOTICES = 5


@dataclass(slots=True)
class _Log:
    path: Path
    offset: int = 0
    size: int = 0
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

    def read(self) -> Iterator[Said | Noticed]:
        """What was there at the last call and has not been read, in chunks.

        Between two calls, what the script printed before it wrote that is heard, and with it what it declared secret.
        """
        for path in sorted(self.folder.glob("*.jsonl")):
            log = self._logs.setdefault(path.name, _Log(path))
            end = log.size
            try:
                while lines := self._next_lines(log, end):
                    yield from self._told(log, lines)
            except OSError:
                if not log.refused:
                    yield Noticed(self.script, f"{path.name!r:.80} in its folder of event logs is no file that is read")
                log.refused = True

    def close(self) -> Iterator[Noticed]:
        """What was left half-written."""
        for log in self._logs.values():
            if log.rest:
                yield Noticed(self.script, f"the last line of its event log is half-written ({len(log.rest)} bytes)")
        if self._invalid > _MOST_NOTICES:
            yield Noticed(self.script, f"… and {self._invalid - _MOST_NOTICES} more lines that are no events")

    def _next_lines(self, log: _Log, end: int) -> list[bytes]:
        while True:
            with open(log.path, "rb", opener=plainly) as file:
                log.size = os.fstat(file.fileno()).st_size
                file.seek(log.offset)
                chunk = file.read(max(0, min(_CHUNK, end - log.offset)))
            if not chunk:
                return []
            log.offset += len(chunk)
            *lines, log.rest = (log.rest + chunk).split(b"\n")
            if log.skipping and lines:
                lines, log.skipping = lines[1:], False
            if len(log.rest) > MAX_EVENT_BYTES:
                log.rest, log.skipping = b"", True
                lines.append(b"(too long)")
            if lines:
                return lines

    def _told(self, log: _Log, lines: list[bytes]) -> Iterator[Said | Noticed]:
        events: list[Event] = []
        for line in lines:
            try:
                if line.strip():
                    events.append(parse_event(self.redact(line)))
            except InvalidEvent as error:
                self._invalid += 1
                if self._invalid <= _MOST_NOTICES:
                    yield Noticed(self.script, str(error))
        yield Said(self.script, log.path.name, events)
