"""How much a comment tells: a ladder of levels, each with less than the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scoregate.ci.report.row_views import RowView


@dataclass(frozen=True, slots=True)
class Detail:
    """How many of each are shown; `rows` counts within a suite."""

    cases: int
    diffs: int
    rows: int
    suites: int
    gates: int
    errors: int


LADDER = (
    Detail(cases=10, diffs=3, rows=1000, suites=200, gates=50, errors=20),
    Detail(cases=5, diffs=1, rows=1000, suites=200, gates=20, errors=10),
    Detail(cases=3, diffs=0, rows=20, suites=200, gates=20, errors=5),
    Detail(cases=0, diffs=0, rows=5, suites=100, gates=10, errors=3),
    Detail(cases=0, diffs=0, rows=0, suites=100, gates=10, errors=0),
    Detail(cases=0, diffs=0, rows=0, suites=0, gates=3, errors=0),
)

# A summary has sixteen times the room of a comment.
SUMMARY_LADDER = (Detail(cases=50, diffs=20, rows=1000, suites=1000, gates=200, errors=200), *LADDER)


def top_rows(rows: Iterable[RowView], limit: int) -> Iterator[RowView]:
    """The first `limit` rows of each suite, in the order given."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row.row.suite] += 1
        if seen[row.row.suite] <= limit:
            yield row
