"""Which failing cases are shown: the newly failing ones with the largest drops, or the lowest scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest
from math import isnan

from scoregate.core.case import CaseKey, Status
from scoregate.core.columns import Columns
from scoregate.core.compare import Comparison
from scoregate.core.flips import Flip
from scoregate.core.record import SuiteResult

LISTED = 50


@dataclass(frozen=True, slots=True)
class Pick:
    """A failing trial to show: its place in the run, in the base where it has one, and by how much it fell."""

    suite: int
    key: CaseKey
    drop: float
    base: tuple[int, CaseKey] | None = None
    base_scores: tuple[tuple[str, float], ...] = ()


def picks(comparison: Comparison, limit: int = LISTED) -> list[Pick]:
    """At most `limit` failing trials, the largest drops first; all newly failing, unless none is."""
    if comparison.newly_failing:
        fallen = nlargest(limit, ((_fall(comparison, flip), -at) for at, flip in enumerate(comparison.newly_failing)))
        return [_of_flip(comparison, comparison.newly_failing[-at], fall) for fall, at in fallen]
    suites = comparison.run.suites
    found = ((1 - _lowest(suite, row), -at, -row) for at, suite, row in _failing(suites))
    return [Pick(-at, suites[-at].columns.key(-row), missing) for missing, at, row in nlargest(limit, found)]


def _failing(suites: Iterable[SuiteResult]) -> Iterator[tuple[int, SuiteResult, int]]:
    for at, suite in enumerate(suites):
        for row in range(len(suite.columns)):
            if suite.columns.status(row) is Status.FAILED:
                yield at, suite, row


def _lowest(suite: SuiteResult, row: int) -> float:
    return min(
        score if suite.evaluators[name].higher_is_better else 1 - score
        for name in _failed(suite.columns, row)
        for score in (suite.columns.score(name, row),)
    )


def _failed(columns: Columns, row: int) -> Iterator[str]:
    return (name for name, rows in columns.failed.items() if row in rows)


def _fall(comparison: Comparison, flip: Flip) -> float:
    """The largest drop among the evaluators that fail the case now."""
    suite = comparison.run.suites[flip.suite]
    failed = set(_failed(suite.columns, flip.row))
    falls = (
        (score - suite.columns.score(name, flip.row)) * (1 if suite.evaluators[name].higher_is_better else -1)
        for name, score in _base_scores(comparison, flip)
        if name in failed
    )
    return max(falls, default=0.0)


def _base_scores(comparison: Comparison, flip: Flip) -> Iterator[tuple[str, float]]:
    assert comparison.base is not None
    columns = comparison.base.suites[flip.base_suite].columns
    for name in columns.scores:
        score = columns.score(name, flip.base_row)
        if not isnan(score):
            yield name, score


def _of_flip(comparison: Comparison, flip: Flip, fall: float) -> Pick:
    assert comparison.base is not None
    key = comparison.run.suites[flip.suite].columns.key(flip.row)
    base = comparison.base.suites[flip.base_suite].columns.key(flip.base_row)
    return Pick(flip.suite, key, fall, (flip.base_suite, base), tuple(_base_scores(comparison, flip)))
