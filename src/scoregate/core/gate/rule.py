"""The declaration of a gate rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from scoregate.core.comparison.comparison import Comparison
from scoregate.core.comparison.comparison_rows import Row
from scoregate.core.gate.families import GateLimit
from scoregate.core.gate.finding import Finding, SuiteContext
from scoregate.core.records import record

SuiteRule: TypeAlias = Callable[[SuiteContext], Iterator[Finding]]


@record
class WatchedRows:
    """A table of rows that a relative gate watches. All watched rows of a run share one error rate.

    Attributes:
        list_rows: the rows of a comparison.
        list_limits: the limits on the row at a place of the table that can make the run red.
        put_rows: the comparison with other rows in the same places.
    """

    list_rows: Callable[[Comparison], Sequence[Row]]
    list_limits: Callable[[int, Row, SuiteContext], Iterator[GateLimit]]
    put_rows: Callable[[Comparison, Sequence[Row]], Comparison]


@record
class Rule:
    """A rule of a feature.

    Attributes:
        name: its name in findings and in `severity`.
        failed: the title of a failed finding.
        passed: the title of a passed one.
        check: yields its findings for a suite.
        before: the check of the kernel that it comes before in reports.
        watches: the rows that it watches besides those of the kernel; None for no others.
    """

    name: str
    failed: str
    passed: str
    check: SuiteRule
    before: SuiteRule
    watches: WatchedRows | None = None
