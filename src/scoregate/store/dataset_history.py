"""The history of a dataset: its versions and the rows that each of them added."""

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
from scoregate.kernel.types.records import record
from scoregate.store.datasets import Head, Positions, apply_runs
from scoregate.store.errors import check_items
from scoregate.store.json_lines import encode_row, parse_item

_ROW = re.compile(rb'\{"in": ([0-9]{1,18}), "row": ')
_TAIL = 4096


@record
class History:
    """All versions, and the positions of their new rows in the file.

    Args:
        heads: the versions by id, parents first.
        rows: for each version the positions of its new rows, in bytes.
        end: the size of the file up to the end of the last version, in bytes.
    """

    heads: Mapping[int, Head]
    rows: Mapping[int, Positions]
    end: int

    @property
    def tip(self) -> Head | None:
        """The newest version. If two branches added versions, the longest history counts, then the earlier time."""
        return min(self.heads.values(), key=lambda head: (-head.version, head.created_at, head.id), default=None)

    def line(self, head: Head) -> list[Head]:
        """A version and all versions before it, the first one first."""
        line = [head]
        while line[-1].parent is not None:
            line.append(self.heads[line[-1].parent])
        return line[::-1]

    def layout(self, head: Head) -> tuple[Positions, Positions]:
        """For each row of a version its id and its position in the file; -1 if it is not written yet."""
        ids, places, used = array("q"), array("q"), 1
        for each in self.line(head):
            ids = apply_runs(each.rows, ids, array("q", range(used, used + each.added)))
            places = apply_runs(each.rows, places, self.rows[each.id])
            used += each.added
        return ids, places

    def followed_by(self, head: Head) -> History:
        """The history with a version whose rows are not in the file yet."""
        rows = {**self.rows, head.id: array("q", [-1]) * head.added}
        return History({**self.heads, head.id: head}, rows, self.end)


def read_history(file: BinaryIO, *, origin: str) -> History:
    """Read the whole history. An incomplete version at the end, left by a killed process, is ignored.

    Raises:
        StoreError: lists all errors with their lines.
    """
    scan = _Scan()
    problems = ((number, scan.take(line)) for number, line in enumerate(file, 1))
    for _ in check_items(problems, place=f"{origin}:{{}}".format):
        pass
    heads = _connected_versions(head for head, _ in scan.heads.values())
    unconnected = (
        (line, f"version {head.version} does not fit the version before it, {head.parent}")
        for head, line in scan.heads.values()
        if head.id not in heads
    )
    for _ in check_items(unconnected, place=f"{origin}:{{}}".format):
        pass
    return History(heads, scan.rows, scan.end)


def read_newest(file: BinaryIO) -> Head | None:
    """The newest version, from the end of the file only; None if the whole file is needed, as after a merge."""
    size = tail = file.seek(0, SEEK_END)
    back = _TAIL
    while tail > 0:
        tail = max(0, size - back)
        file.seek(tail)
        text = file.read(size - tail)
        line = text.rstrip(b"\n").rpartition(b"\n")[2]
        if tail and len(line) == len(text.rstrip(b"\n")):
            back *= 8  # the line begins further up
            continue
        # Without a line end, a process was killed while it wrote.
        head = parse_item(line, Head) if text.endswith(b"\n") else None
        # After a merge of git, the place is another one.
        return head if isinstance(head, Head) and head.start == size - len(line) - 1 else None
    return None


class _Scan:
    """Collects the lines of a history."""

    def __init__(self) -> None:
        self.heads: dict[int, tuple[Head, int]] = {}
        self.rows: dict[int, Positions] = {}
        self.end = 0
        self._at = self._number = 0
        self._pending_rows: defaultdict[int, Positions] = defaultdict(partial(array, "q"))

    def take(self, line: bytes) -> str | None:
        """Add a line; returns its error message."""
        at, self._at, self._number = self._at, self._at + len(line), self._number + 1
        if not line.endswith(b"\n"):
            return None
        if row := _ROW.match(line):
            self._pending_rows[int(row[1])].append(at)
            return None
        head = parse_item(line, Head)
        if head is None or isinstance(head, str):
            return head
        self.end = self._at
        return self._close(head)

    def _close(self, head: Head) -> str | None:
        """Add a version. If it has too many rows, the last ones count: a killed process or a merge left the others."""
        if head.id in self.heads:  # two branches may make the same version
            return None
        rows = self._pending_rows.pop(head.id, array("q"))
        if len(rows) < head.added:
            return f"of the {head.added} rows of version {head.version}, {head.added - len(rows)} are missing above"
        self.rows[head.id] = rows[len(rows) - head.added :]
        self.heads[head.id] = (head, self._number)
        return None


def _connected_versions(heads: Iterable[Head]) -> dict[int, Head]:
    """The versions whose history goes back to a first version, parents first."""
    connected: dict[int, Head] = {}
    for head in sorted(heads, key=lambda head: head.version):
        parent = None if head.parent is None else connected.get(head.parent)
        if parent is None and head.parent is not None:
            continue
        version, count = (parent.version, parent.count) if parent else (0, 0)
        rows_exist = all(isinstance(run, int) or run[0] + run[1] <= count for run in head.rows)
        if rows_exist and head.version == version + 1:
            connected[head.id] = head
    return connected


_ENTRY = re.compile(rb'\{"in": [0-9]{1,18}, "row": (.*)\}\s*')


@dataclass(slots=True)
class LineDigest:
    """Counts lines and computes their digest while they pass through."""

    count: int = 0
    size: int = 0
    _hash: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))

    @property
    def digest(self) -> str:
        """The digest of the lines with their line ends: 32 hexadecimal digits."""
        digest: str = self._hash.hexdigest()
        return digest

    def lines(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines with line ends."""
        return map(self.line, lines)

    def line(self, line: bytes) -> bytes:
        """The line with a line end."""
        self.count += 1
        return self._add(line + b"\n")

    def pieces(self, file: BinaryIO) -> Iterator[bytes]:
        """The content of a file. Its lines are not counted."""
        while piece := file.read(1 << 20):
            yield self._add(piece)

    def _add(self, piece: bytes) -> bytes:
        self.size += len(piece)
        self._hash.update(piece)
        return piece


def file_digest(file: BinaryIO) -> str:
    """The digest of a whole file, as `LineDigest.digest`."""
    tally = LineDigest()
    for _ in tally.pieces(file):
        pass
    return tally.digest


def history_entries(head: Head, lines: Iterable[bytes], *, start: int) -> Iterator[bytes]:
    """The lines that a version adds to the history: its new rows, then its record.

    Args:
        head: the version.
        lines: all rows of the version in their order, without line ends.
        start: the size of the history, in bytes.

    Raises:
        StoreError: the rows are not those of the version.
    """
    all_lines, written, tally = iter(lines), 0, LineDigest()
    for run in head.rows:
        for _ in range(run if isinstance(run, int) else run[1]):
            line = next(all_lines, b"")
            tally.line(line)
            if isinstance(run, int):
                yield (entry := b'{"in": %d, "row": %s}\n' % (head.id, line))
                written += len(entry)
    if tally.digest != head.digest or next(all_lines, None) is not None:
        raise StoreError("the rows were changed while a version was made from them", advice="Try again.")
    fields = head.model_copy(update={"start": start + written}).model_dump(mode="json", exclude_none=True)
    yield encode_row(fields) + b"\n"


def read_rows(file: BinaryIO, head: Head, places: Positions, *, origin: str) -> Iterator[bytes]:
    """The rows of a version as lines, one by one.

    Args:
        file: the history.
        head: the version.
        places: the positions of the rows, from `History.layout`.
        origin: the name of the file in error messages.

    Raises:
        StoreError: the rows do not match the digest of the version; raised after the last row.
    """
    tally, position = LineDigest(), -1
    for place in places:
        if place != position:
            file.seek(place)
        line = file.readline()
        position = place + len(line)
        entry = _ENTRY.fullmatch(line)
        text = entry[1] if entry else b""
        tally.line(text)
        yield text
    if tally.digest != head.digest:
        raise StoreError(
            f"{origin}: the rows of version {head.version} do not match their checksum",
            advice="Restore the file: git log shows who changed it.",
        )
