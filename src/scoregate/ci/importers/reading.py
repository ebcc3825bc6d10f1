"""Read a result file of any format: what it says is as untrusted as what a suite writes, and as bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from scoregate.ci.importers.formats import IMPORTERS, Format
from scoregate.ci.importers.result_file import ResultFile
from scoregate.core.events import CaseFinished, Event
from scoregate.core.shortening import shortened
from scoregate.core.wire import MAX_EVENT_BYTES, dump_event, parse_event
from scoregate.errors import ImportFailed, InvalidEvent, UsageError


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads files. `redact` takes secrets out of every event, before anything is made of it."""

    redact: Callable[[bytes], bytes]

    def __call__(self, format_name: str, file: BinaryIO, *, name: str, alone: bool = True) -> Iterator[Event]:
        """The events of a file.

        Args:
            name: the file's, as it is told. alone: no other was named with it.

        Raises:
            ImportFailed: it is not of that format, damaged, or holds no case.
            UsageError: there is no such format.
        """
        if (form := IMPORTERS.get(format_name)) is None:
            raise UsageError(f"no results of {format_name!r} are understood, only of {', '.join(IMPORTERS)}")
        result, cases = ResultFile(name, file, alone), 0
        try:
            for event in form.read(result):
                yield self._as_written(event)
                cases += isinstance(event, CaseFinished)
        except ImportFailed as error:
            raise _refused(result, format_name, error.message, form=form) from None
        except (ValueError, OSError, InvalidEvent) as error:
            raise _refused(result, format_name, f"it cannot be read: {error}", form=form) from None
        if not cases:
            raise _refused(result, format_name, "it holds no case", form=form)

    def _as_written(self, event: Event) -> Event:
        """The event as it would be, had a suite written it into its log."""
        try:
            line = dump_event(event)
        except ValueError as error:
            line = dump_event(shortened(event, str(error)))
        if len(line) >= MAX_EVENT_BYTES:
            line = dump_event(shortened(event, f"{len(line):,} bytes are over the limit of {MAX_EVENT_BYTES:,}"))
        return parse_event(self.redact(line))


def _refused(result: ResultFile, format_name: str, why: str, *, form: Format) -> ImportFailed:
    advice = f"Results of {format_name} are written by {form.written_by}."
    return ImportFailed(
        f"{result.name[:300]!r} cannot be taken as results of {format_name}: {why}"[:2000], advice=advice
    )
