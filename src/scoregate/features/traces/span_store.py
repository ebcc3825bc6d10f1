"""Spans of a command in a temporary database, so that memory doesn't grow with their number."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import groupby

from scoregate.kernel.types.trace import Span
from scoregate.kernel.types.trajectories.assignment import CaseName, SpanLink, name_cases, read_link
from scoregate.kernel.types.trajectories.otlp import OtlpSpan

# The file ends with the process, so SQLite need not wait for the disk.
_SCHEMA = """
PRAGMA synchronous = OFF;
PRAGMA cache_size = -4000;
PRAGMA temp_store = FILE;
CREATE TABLE spans (trace TEXT, identity BLOB UNIQUE ON CONFLICT IGNORE, link BLOB, content BLOB);
CREATE TABLE assigned (trial INTEGER, span INTEGER, PRIMARY KEY (trial, span)) WITHOUT ROWID;
"""
_LINKS = "SELECT trace, rowid, link FROM spans ORDER BY trace, rowid"
_SPANS = """
SELECT content FROM assigned JOIN spans ON spans.rowid = assigned.span WHERE trial = ? ORDER BY assigned.span LIMIT ?
"""
_EXTRA = "SELECT sum(max(0, count - ?)) FROM (SELECT count(*) AS count FROM assigned GROUP BY trial)"


class SpanStore:
    """Spans in the order of their arrival, and the cases that they belong to. A span that is sent again counts once.

    All of it is in a temporary file without a name, which disappears with the process.
    """

    def __init__(self) -> None:
        # Requests are read in threads, one at a time.
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._database.executescript(_SCHEMA)
        self._cases: dict[CaseName, int] = {}

    def add(self, spans: Iterable[OtlpSpan]) -> None:
        """Add spans.

        Raises:
            sqlite3.Error: they can't be written.
        """
        rows = (_make_row(each) for each in spans)
        with self._database:
            self._database.execute("BEGIN")
            self._database.executemany("INSERT INTO spans VALUES (?, ?, ?, ?)", rows)

    def assign(self) -> int:
        """Assign each span to its case, once all are there.

        Returns:
            The number of spans that belong to no case.

        Raises:
            sqlite3.Error: they can't be written.
        """
        unassigned = 0
        with self._database:
            self._database.execute("BEGIN")
            for _, rows in groupby(self._database.execute(_LINKS), key=lambda row: row[0]):
                # What this process has written, to a file that has no name.
                trace = [(number, SpanLink(*pickle.loads(link))) for _, number, link in rows]
                names = name_cases([link for _, link in trace])
                unassigned += names.count(None)
                self._add_names((name, number) for (number, _), name in zip(trace, names, strict=True))
        return unassigned

    def _add_names(self, names: Iterable[tuple[CaseName | None, int]]) -> None:
        rows = ((self._cases.setdefault(name, len(self._cases)), number) for name, number in names if name is not None)
        self._database.executemany("INSERT INTO assigned VALUES (?, ?)", rows)

    def count_extra(self, most: int) -> int:
        """The number of assigned spans beyond the first `most` of each case."""
        count: int | None = self._database.execute(_EXTRA, (most,)).fetchone()[0]
        return count or 0

    def read_cases(self, most: int) -> Iterator[tuple[CaseName, list[Span]]]:
        """Each case with its spans.

        Args:
            most: the most spans of a case.
        """
        for name, number in self._cases.items():
            rows = self._database.execute(_SPANS, (number, most))
            yield name, [pickle.loads(content) for (content,) in rows]

    def close(self) -> None:
        """Remove the spans."""
        self._database.close()


def _make_row(span: OtlpSpan) -> tuple[str, bytes, bytes, bytes]:
    content = pickle.dumps(span.span)
    identity = blake2b(span.trace_id.encode() + content, digest_size=16).digest()
    return span.trace_id, identity, pickle.dumps(tuple(read_link(span))), content
