"""The failing trials that reports show: of the newly failing cases, else of all failing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import chain, groupby
from math import isnan
from operator import itemgetter
from typing import TypeVar

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.flips import Flip
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseKey, Status
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.text import rank_names

MAX_FAILING = 50
DIGITS = 9  # of drops that count as equal
_T = TypeVar("_T")


@record
class FailingTrial:
    """A failing trial to show: its suite, key and drop; `base` is its suite and key in the baseline, if it has one."""

    suite: int
    key: CaseKey
    drop: float
    base: tuple[int, CaseKey] | None = None
    base_scores: tuple[tuple[str, float], ...] = ()


def pick_failing(comparison: Comparison, limit: int = MAX_FAILING) -> list[FailingTrial]:
    """Pick a trial of at most `limit` newly failing cases, else failing ones: suites in turn, the largest drops first.

    A failing case that was repeated is shown by its trial with the lowest score.
    """
    suites, baseline = comparison.run.suites, comparison.base
    ranks = rank_names([suite.label for suite in suites])
    if baseline is not None and comparison.newly_failing:
        drops = (
            (flip.suite, _largest_drop(comparison, flip), suites[flip.suite].columns.key(flip.row), flip)
            for flip in comparison.newly_failing
        )
        return [
            FailingTrial(
                flip.suite,
                key,
                drop,
                base=(flip.base_suite, baseline.suites[flip.base_suite].columns.key(flip.base_row)),
                base_scores=tuple(_baseline_scores(comparison, flip)),
            )
            for _, drop, key, flip in _largest_drops(drops, limit, ranks)
        ]
    failing = ((index, drop, key, None) for index, suite in enumerate(suites) for drop, key in _list_failing(suite))
    return [FailingTrial(index, key, drop) for index, drop, key, _ in _largest_drops(failing, limit, ranks)]


def count_failing(run: Run) -> int:
    """The number of cases with a failed trial."""
    return sum(
        len({suite.columns.hashes[row] for row in suite.columns.rows_with(Status.FAILED)})
        if suite.columns.case_count < len(suite.columns)
        else suite.columns.count(Status.FAILED)
        for suite in run.suites
    )


def _list_failing(suite: SuiteResult) -> Iterator[tuple[float, CaseKey]]:
    """The drop and the key of each failing case."""
    failed_rows = suite.columns.rows_with(Status.FAILED)
    failed = ((1 - _lowest_score(suite, row), suite.columns.key(row)) for row in failed_rows)
    if suite.columns.case_count == len(suite.columns):
        return failed
    worst: dict[str, tuple[float, CaseKey]] = {}
    for drop, key in sorted(failed, key=lambda trial: (-round(trial[0], DIGITS), trial[1])):
        worst.setdefault(key.hash, (drop, key))
    return iter(worst.values())


def _largest_drops(
    trials: Iterable[tuple[int, float, CaseKey, _T]], limit: int, ranks: Sequence[int]
) -> list[tuple[int, float, CaseKey, _T]]:
    """The trials with the largest drops, suites in turn; equal drops are in the order of their cases.

    Args:
        trials: the suite, the drop and the key of each, and more; they are ordered by suite.
        limit: how many to pick.
        ranks: the rank of each suite by name; suites finish in any order, so their indices are no order.
    """

    def place(trial: tuple[int, float, CaseKey, _T]) -> tuple[float, int, CaseKey]:
        return -round(trial[1], DIGITS), ranks[trial[0]], trial[2]

    by_suite = (nsmallest(limit, each, key=place) for _, each in groupby(trials, key=itemgetter(0)))
    return interleave(sorted(chain(*by_suite), key=place), itemgetter(0))[:limit]


def interleave(items: Iterable[_T], group_of: Callable[[_T], Hashable]) -> list[_T]:
    """The first item of each group, then the second of each, so that no group fills a list alone."""
    counts = Counter[Hashable]()
    turns: dict[int, list[_T]] = {}
    for each in items:
        turns.setdefault(counts[group_of(each)], []).append(each)
        counts[group_of(each)] += 1
    return [each for turn in sorted(turns) for each in turns[turn]]


def _lowest_score(suite: SuiteResult, row: int) -> float:
    return min(
        score if suite.evaluators[name].higher_is_better else 1 - score
        for name in suite.columns.failed_evaluators(row)
        for score in (suite.columns.score(name, row),)
    )


def _largest_drop(comparison: Comparison, flip: Flip) -> float:
    """The largest drop among the evaluators that fail the case now."""
    suite = comparison.run.suites[flip.suite]
    failed = suite.columns.failed_evaluators(flip.row)
    falls = (
        (score - suite.columns.score(name, flip.row)) * (1 if suite.evaluators[name].higher_is_better else -1)
        for name, score in _baseline_scores(comparison, flip)
        if name in failed
    )
    return max(falls, default=0.0)


def _baseline_scores(comparison: Comparison, flip: Flip) -> Iterator[tuple[str, float]]:
    assert comparison.base is not None
    columns = comparison.base.suites[flip.base_suite].columns
    for name in columns.scores:
        score = columns.score(name, flip.base_row)
        if not isnan(score):
            yield name, score
