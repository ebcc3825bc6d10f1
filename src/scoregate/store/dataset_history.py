"""The history of a dataset: reading it whole, or only what its newest version is."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from io import SEEK_END
from typing import Any, BinaryIO

from scoregate.errors import StoreError
from scoregate.store.datasets import Head, Positions, applied
from scoregate.store.errors import sound
from scoregate.store.json_lines import item_on, row_line

_ROW = re.compile(rb'\{"in": ([0-9]{1,18}), "row": ')
_TAIL = 4096


@dataclass(frozen=True, slots=True)
class History:
    """Every version, and where in the file the rows are that came with it.

    Args:
        heads: by id, parents first. rows: for each, the positions of its new rows. end: bytes up to the last version.
    """

    heads: Mapping[int, Head]
    rows: Mapping[int, Positions]
    end: int

    @property
    def tip(self) -> Head | None:
        """The newest version: of those that two branches made, the one with more before it, then the older."""
        return min(self.heads.values(), key=lambda head: (-head.version, head.created_at, head.id), default=None)

    def line(self, head: Head) -> list[Head]:
        """The versions that led to one, the first of all first, and itself."""
        line = [head]
        while line[-1].parent is not None:
            line.append(self.heads[line[-1].parent])
        return line[::-1]

    def layout(self, head: Head) -> tuple[Positions, Positions]:
        """Of each row of a version: its id, and its position in the file; -1 where it is not there yet."""
        ids, places, used = array("q"), array("q"), 1
        for each in self.line(head):
            ids = applied(each.rows, ids, array("q", range(used, used + each.added)))
            places = applied(each.rows, places, self.rows[each.id])
            used += each.added
        return ids, places

    def followed_by(self, head: Head) -> History:
        """The same with a version whose rows are not in the file."""
        rows = {**self.rows, head.id: array("q", [-1]) * head.added}
        return History({**self.heads, head.id: head}, rows, self.end)


def read_history(file: BinaryIO, *, origin: str) -> History:
    """All of it; what a killed process left at the end is left out.

    Raises:
        StoreError: all that is wrong, with its line.
    """
    scan = _Scan()
    problems = ((number, scan.take(line)) for number, line in enumerate(file, 1))
    for _ in sound(problems, place=f"{origin}:{{}}".format):
        pass
    heads = _grown(scan.heads)
    lost = [(line, _lost(head)) for head, line in scan.heads.values() if head.id not in heads]
    for _ in sound(lost, place=f"{origin}:{{}}".format):
        pass
    return History(heads, scan.rows, scan.end)


def newest(file: BinaryIO) -> Head | None:
    """The newest version, by the end of the file alone; None where only the whole can tell, as after a merge."""
    size = tail = file.seek(0, SEEK_END)
    back = _TAIL
    while tail > 0:
        tail = max(0, size - back)
        file.seek(tail)
        text = file.read(size - tail)
        line = text.rstrip(b"\n").rpartition(b"\n")[2]
        if tail and len(line) == len(text.rstrip(b"\n")):
            back *= 8
            continue
        head = item_on(line, Head) if text.endswith(b"\n") else None
        return head if isinstance(head, Head) and head.start == size - len(line) - 1 else None
    return None


class _Scan:
    """What stands in a history, line after line."""

    def __init__(self) -> None:
        self.heads: dict[int, tuple[Head, int]] = {}
        self.rows: dict[int, Positions] = {}
        self.end = 0
        self._at = self._number = 0
        self._open: defaultdict[int, Positions] = defaultdict(partial(array, "q"))

    def take(self, line: bytes) -> str | None:
        """Take in a line; returns what is wrong with it."""
        at, self._at, self._number = self._at, self._at + len(line), self._number + 1
        if not line.endswith(b"\n"):
            return None
        if row := _ROW.match(line):
            self._open[int(row[1])].append(at)
            return None
        head = item_on(line, Head)
        if head is None or isinstance(head, str):
            return head
        self.end = self._at
        return self._close(head)

    def _close(self, head: Head) -> str | None:
        """Of lines with one id the last ones count: those before were left by a killed process, or by a merge."""
        if head.id in self.heads:
            return None
        found = self._open.pop(head.id, array("q"))
        if len(found) < head.added:
            return f"of the {head.added} rows of version {head.version}, {head.added - len(found)} are missing above"
        self.rows[head.id] = found[len(found) - head.added :]
        self.heads[head.id] = (head, self._number)
        return None


def _grown(found: Mapping[int, tuple[Head, int]]) -> dict[int, Head]:
    """Those that can be reached from a first version, parents first."""
    grown: dict[int, Head] = {}
    for head in sorted((head for head, _ in found.values()), key=lambda head: head.version):
        parent = None if head.parent is None else grown.get(head.parent)
        before, count = (parent.version, parent.count) if parent else (0, 0)
        if head.version == before + 1 and _fits(head, count) and (parent or head.parent is None):
            grown[head.id] = head
    return grown


def _fits(head: Head, count: int) -> bool:
    """Whether it takes only rows that the version before has."""
    return all(isinstance(run, int) or run[0] + run[1] <= count for run in head.rows)


def _lost(head: Head) -> str:
    return f"version {head.version} does not fit to the version before it, {head.parent}"


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
    yield row_line(fields) + b"\n"


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
