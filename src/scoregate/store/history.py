"""The history of a dataset: reading it whole, or only what its newest version is."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from io import SEEK_END
from typing import BinaryIO

from scoregate.store.datasets import Head
from scoregate.store.deltas import Positions, applied
from scoregate.store.lines import item_on
from scoregate.store.problems import sound

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
