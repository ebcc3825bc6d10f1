"""Which failing cases are shown: the newly failing ones with the largest drops, or the lowest scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain, groupby
from math import isnan
from operator import itemgetter
from typing import TypeVar

from scoregate.core.case import CaseKey, Status
from scoregate.core.columns import Columns
from scoregate.core.compare import Comparison
from scoregate.core.flips import Flip
from scoregate.core.record import SuiteResult

LISTED = 50
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Pick:
    """A failing trial to show: its place in the run, in the base where it has one, and by how much it fell."""

    suite: int
    key: CaseKey
    drop: float
    base: tuple[int, CaseKey] | None = None
    base_scores: tuple[tuple[str, float], ...] = ()


def picks(comparison: Comparison, limit: int = LISTED) -> list[Pick]:
    """At most `limit` failing trials, suites in turn, the largest drops first; all newly failing, unless none is."""
    if comparison.newly_failing:
        fallen = ((flip.suite, _fall(comparison, flip), flip) for flip in comparison.newly_failing)
        return [_of_flip(comparison, flip, fall) for _, fall, flip in _worst(fallen, limit)]
    suites = comparison.run.suites
    found = ((at, 1 - _lowest(suite, row), row) for at, suite, row in _failing(suites))
    return [Pick(at, suites[at].columns.key(row), missing) for at, missing, row in _worst(found, limit)]


def _worst(found: Iterable[tuple[int, float, _T]], limit: int) -> list[tuple[int, float, _T]]:
    """Of what stands suite by suite, each with its weight, the heaviest."""
    worst = (nlargest(limit, each, key=itemgetter(1)) for _, each in groupby(found, key=itemgetter(0)))
    return in_turn(sorted(chain(*worst), key=itemgetter(1), reverse=True), itemgetter(0))[:limit]


def in_turn(found: Iterable[_T], of: Callable[[_T], Hashable]) -> list[_T]:
    """The first of each group, then the second of each: no group takes all the places that a list has."""
    seen = Counter[Hashable]()
    turns: dict[int, list[_T]] = {}
    for each in found:
        turns.setdefault(seen[of(each)], []).append(each)
        seen[of(each)] += 1
    return [each for turn in sorted(turns) for each in turns[turn]]


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
