"""What a script writes while it runs: its event logs, images and audio next to them, and recorded tests."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scoregate.errors import InvalidEvent
from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.judge.archive.media import MEDIA_FOLDER, MOST_FILES, MediaFolder
from scoregate.kernel.run.launch.layer import EmitEvent, EventsReceived, Failed, LaunchEvent, MediaReceived, Notice
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.event_json import parse_event, parse_events
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import CaseStarted, Errored, Event, Scored, SuiteFinished, SuiteStarted
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES

_TICK_NS = 1_000_000_000


@dataclass(slots=True)
class MediaReader:
    """Reads new files in the folder `media`, each once."""

    script: str
    folder: Path
    _seen: set[str] = field(default_factory=set)
    _changed: int = -1

    def read(self) -> Iterator[MediaReceived | Failed]:
        """The files that were written since the previous call, and an error for each file that is not valid."""
        place = self.folder / MEDIA_FOLDER
        try:
            changed = place.lstat().st_mtime_ns
        except OSError:
            return
        # Files may be written within one tick of the clock that the folder's time has.
        if changed == self._changed and time.time_ns() - changed > _TICK_NS:
            return
        self._changed = changed
        folder = MediaFolder(place)
        for name in folder.list_names():
            if name in self._seen:
                continue
            # Only one error for all files above the limit.
            if len(self._seen) > MOST_FILES:
                return
            self._seen.add(name)
            if len(self._seen) > MOST_FILES:
                yield self._fail(f"it has more than {MOST_FILES:,} images and recordings; the others are not kept")
            elif (file := folder.read_file(name)) is None:
                yield self._fail(f"its file {name[:6]}…{name[64:]} in the folder of images and recordings is not valid")
            else:
                yield MediaReceived(self.script, file)

    def _fail(self, message: str) -> Failed:
        return Failed(self.script, ErrorInfo("InvalidMedia", message))


_CHUNK = 256 * 1024
_MOST_REASONS = 5
_ADVICE = "docs/reference/events.md describes the lines. The results in them are missing, so the run is unmeasurable."


@dataclass(slots=True)
class _Log:
    path: Path
    offset: int = 0
    line: int = 0  # how many lines were read
    size: int = 0
    crc32: int = 0
    rest: bytes = b""
    skipping: bool = False
    refused: bool = False


@dataclass(slots=True)
class LogTailer:
    """Reads new lines in a folder of logs.

    `redact` removes secrets from the bytes before they are parsed; without a secret it returns the same object.
    """

    script: str
    folder: Path
    redact: Callable[[bytes], bytes]
    _logs: dict[str, _Log] = field(default_factory=dict)
    _invalid: int = 0
    _reasons: dict[str, None] = field(default_factory=dict)
    _optional: int = 0
    _media: MediaReader = field(init=False)

    def __post_init__(self) -> None:
        self._media = MediaReader(self.script, self.folder)

    def read(self) -> Iterator[EventsReceived | MediaReceived | Failed]:
        """Return new images and audio, and unread lines that were complete at the previous call, in chunks.

        The delay of one call lets the host read printed secrets first.
        """
        yield from self._media.read()
        # Other files in the folder, such as outcomes of tests, are no events.
        for path in sorted(self.folder.glob("*.jsonl")):
            log = self._logs.setdefault(path.name, _Log(path))
            end = log.size
            try:
                while lines := self._next_lines(log, end):
                    yield EventsReceived(self.script, log.path.name, self._events(log, lines))
            except OSError as error:
                if not log.refused:
                    self._refuse(f"its event log {path.name!r:.80} can't be read: {error.strerror}")
                log.refused = True  # once, not at each of the twenty reads of a second

    def close(self) -> Iterator[EventsReceived | Notice | Failed]:
        """Emit a last line without a line break, and report invalid lines and logs that were changed or deleted."""
        for log in self._logs.values():
            # The host can't know what was in lines that were replaced before it read them.
            if not _is_unchanged(log):
                message = f"{log.path.name!r:.80} among its event logs was changed or deleted after it was read"
                advice = (
                    "Suites must not change event logs. In scoregate's container, they can't change those of others."
                )
                yield Failed(self.script, ErrorInfo("EventsChanged", message, advice=advice))
            if log.rest:
                yield EventsReceived(self.script, log.path.name, self._events(log, [log.rest]))
        if self._optional:
            notice = f"{self._optional:,} optional events of a newer version are skipped"
            yield Notice(self.script, f"{notice}: update scoregate to read them")
        if self._invalid:
            reasons = "; ".join(self._reasons)
            what = "1 line of its event logs" if self._invalid == 1 else f"{self._invalid:,} lines of its event logs"
            yield Failed(self.script, ErrorInfo("InvalidEvents", f"{what} can't be read: {reasons}", advice=_ADVICE))

    def _next_lines(self, log: _Log, end: int) -> list[bytes]:
        while True:
            # The suite owns the folder: a link in place of a log could lead to a file of the host.
            with open(log.path, "rb", opener=open_nofollow) as file:
                log.size = os.fstat(file.fileno()).st_size
                file.seek(log.offset)
                chunk = file.read(max(0, min(_CHUNK, end - log.offset)))
            if not chunk:
                return []
            log.offset += len(chunk)
            log.crc32 = zlib.crc32(chunk, log.crc32)
            *lines, log.rest = (log.rest + chunk).split(b"\n")
            # The end of a line that was too long isn't a line of its own.
            if log.skipping and lines:
                lines, log.skipping = lines[1:], False
                log.line += 1
            if len(log.rest) > MAX_EVENT_BYTES:
                if not log.skipping:
                    number = log.line + len(lines) + 1
                    self._refuse(f"line {number} of {log.path.name:.80} is longer than {MAX_EVENT_BYTES:,} bytes")
                log.rest, log.skipping = b"", True
            if lines:
                return lines

    def _events(self, log: _Log, lines: list[bytes]) -> list[Event]:
        """Parse lines together if they hold no secret and are valid, else one by one."""
        array = b"[%b]" % b",".join(lines)
        if self.redact(array) is array and (parsed := parse_events(array, len(lines))) is not None:
            log.line += len(lines)
            return parsed
        events: list[Event] = []
        for line in lines:
            log.line += 1
            try:
                if line.strip():
                    events.append(parse_event(self.redact(line)))
            except InvalidEvent as error:
                if error.optional:
                    self._optional += 1
                else:
                    self._refuse(f"line {log.line} of {log.path.name:.80}: {error.message}")
        return events

    def _refuse(self, reason: str) -> None:
        """Count a line that is missing, and keep the first few reasons."""
        self._invalid += 1
        if len(self._reasons) < _MOST_REASONS:
            self._reasons.setdefault(f"{reason:.300}")


def _is_unchanged(log: _Log) -> bool:
    """Whether the part of a log that was read is still the same."""
    left, crc32 = log.offset, 0
    try:
        with open(log.path, "rb", opener=open_nofollow) as file:
            while left and (chunk := file.read(min(_CHUNK, left))):
                left, crc32 = left - len(chunk), zlib.crc32(chunk, crc32)
    except OSError:
        return log.offset == 0  # a log of which nothing was read may be gone
    return left == 0 and crc32 == log.crc32


_SDK = "pytest"
EXIT_CODE = 1


@dataclass(slots=True)
class RecordedTests:
    """What the events of one launch say about its tests.

    Args:
        launch: the launch.
        cases: `SUITE::CASE` of each recorded test, if a result file could hold it, too.
        has_failure: whether a score of a test failed. An error is none: within the allowed error rate, a run with
            errors alone would be green although its test runner failed.
        is_explained: whether the last test runner reports that it exits with 1 because of these tests alone.
    """

    launch: Launch
    cases: set[str] = field(default_factory=set)
    has_failure: bool = False
    is_explained: bool = False
    _suites: set[tuple[str, str]] = field(default_factory=set)

    def watch(self, emit: EmitEvent) -> EmitEvent:
        """A function that notes the tests in events, and passes everything on."""

        def note_and_emit(event: LaunchEvent) -> None:
            if isinstance(event, EventsReceived):
                for each in event.events:
                    if self._suites or isinstance(each, SuiteStarted):  # other SDKs cost no look at their events
                        self._note(event.log, each)
            emit(event)

        return note_and_emit

    def explain(self, exit_code: int | None) -> bool:
        """Whether an exit code only says that tests failed, as the record does."""
        return exit_code == EXIT_CODE and self.is_explained and self.has_failure

    def _note(self, log: str, event: Event) -> None:
        if isinstance(event, SuiteStarted) and (event.sdk or "").split()[2:] == [_SDK]:
            self._suites.add((log, event.suite))
        elif (log, event.suite) not in self._suites:
            return
        # Without a result file, no test can be listed twice.
        elif isinstance(event, CaseStarted) and self.launch.source.imports:
            self.cases.add(f"{event.suite}::{event.case}")
        elif isinstance(event, SuiteFinished):
            self.is_explained = event.tests_failed
        else:
            self.has_failure |= is_failed_score(event)


def is_failed_score(event: Event) -> bool:
    """Whether an event is a score below its threshold."""
    return isinstance(event, Scored) and event.threshold is not None and event.threshold.holds(event.score) is False


def is_failure(event: Event) -> bool:
    """Whether an event makes a test runner report a failed test."""
    return isinstance(event, Errored) or is_failed_score(event)
