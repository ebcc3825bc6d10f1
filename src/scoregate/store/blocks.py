"""The rows of a version in its history: how they are added, and read again by their positions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from scoregate.errors import StoreError
from scoregate.store.datasets import Head
from scoregate.store.deltas import Positions
from scoregate.store.rows import line_of

_ENTRY = re.compile(rb'\{"in": [0-9]{1,18}, "row": (.*)\}\s*')


@dataclass(slots=True)
class Tally:
    """What went by: how many lines, and their digest."""

    count: int = 0
    size: int = 0
    _hash: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))

    @property
    def digest(self) -> str:
        """32 hexadecimal digits, of the lines with their ends."""
        digest: str = self._hash.hexdigest()
        return digest

    def lines(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines, with an end each."""
        return map(self.line, lines)

    def line(self, line: bytes) -> bytes:
        """One line, with an end."""
        self.count += 1
        return self._passed(line + b"\n")

    def pieces(self, file: BinaryIO) -> Iterator[bytes]:
        """All of a file, whose lines are not counted."""
        while piece := file.read(1 << 20):
            yield self._passed(piece)

    def _passed(self, piece: bytes) -> bytes:
        self.size += len(piece)
        self._hash.update(piece)
        return piece


def digest_of(file: BinaryIO) -> str:
    """Of a whole file, as `Tally.digest`."""
    tally = Tally()
    for _ in tally.pieces(file):
        pass
    return tally.digest


def entries(head: Head, lines: Iterable[bytes], *, start: int) -> Iterator[bytes]:
    """What a version adds to its history.

    Args:
        lines: all its rows, in their order. start: the size of the history.

    Raises:
        StoreError: these are not the rows of this version.
    """
    all_lines, written, tally = iter(lines), 0, Tally()
    for run in head.rows:
        for _ in range(run if isinstance(run, int) else run[1]):
            line = next(all_lines, b"")
            tally.line(line)
            if isinstance(run, int):
                yield (entry := b'{"in": %d, "row": %s}\n' % (head.id, line))
                written += len(entry)
    if tally.digest != head.digest or next(all_lines, None) is not None:
        raise StoreError("the rows were changed while a version of them was made", advice="Try again.")
    fields = head.model_copy(update={"start": start + written}).model_dump(mode="json", exclude_none=True)
    yield line_of(fields) + b"\n"


def rows_at(file: BinaryIO, head: Head, places: Positions, *, origin: str) -> Iterator[bytes]:
    """The lines of a version's rows, one by one.

    Raises:
        StoreError: when all were given, and are not those of which the version was made.
    """
    tally, here = Tally(), -1
    for place in places:
        if place != here:
            file.seek(place)
        line = file.readline()
        here = place + len(line)
        entry = _ENTRY.fullmatch(line)
        text = entry[1] if entry else b""
        tally.line(text)
        yield text
    if tally.digest != head.digest:
        raise StoreError(
            f"{origin}: the rows of version {head.version} are not those that were written there",
            advice="Bring the file back as it was: git log shows who changed it.",
        )
