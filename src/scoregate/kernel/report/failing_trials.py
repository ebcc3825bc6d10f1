"""The failing trials that reports show: of the newly failing cases, else of all failing ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import chain, groupby
from math import isnan
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.flips import Flip
from scoregate.kernel.report.case_order import NO_FAILED_GATES, FailedGates, take_in_turn
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


def pick_failing(
    comparison: Comparison, gates: FailedGates = NO_FAILED_GATES, limit: int = MAX_FAILING
) -> list[FailingTrial]:
    """Pick a trial of at most `limit` newly failing cases, else failing ones.

    Those of failed gates come first, then suites in turn, the largest drops first. A failing case that was repeated is
    shown by its trial with the lowest score.
    """
    suites, baseline = comparison.run.suites, comparison.base
    order = _Order(suites, rank_names([suite.label for suite in suites]), gates)
    if baseline is not None and comparison.newly_failing:
        drops = ((flip.suite, flip.row, _largest_drop(comparison, flip), flip) for flip in comparison.newly_failing)
        return [
            FailingTrial(
                flip.suite,
                suites[flip.suite].columns.key(flip.row),
                drop,
                base=(flip.base_suite, baseline.suites[flip.base_suite].columns.key(flip.base_row)),
                base_scores=tuple(_baseline_scores(comparison, flip)),
            )
            for _, _, drop, flip in _largest_drops(drops, limit, order)
        ]
    failing = ((index, row, drop, None) for index, suite in enumerate(suites) for drop, row in _list_failing(suite))
    return [
        FailingTrial(index, suites[index].columns.key(row), drop)
        for index, row, drop, _ in _largest_drops(failing, limit, order)
    ]


def count_failing(run: Run) -> int:
    """The number of cases with a failed trial."""
    return sum(
        len({suite.columns.hashes[row] for row in suite.columns.rows_with(Status.FAILED)})
        if suite.columns.case_count < len(suite.columns)
        else suite.columns.count(Status.FAILED)
        for suite in run.suites
    )


def _list_failing(suite: SuiteResult) -> Iterator[tuple[float, int]]:
    """The drop and the row of each failing case."""
    columns = suite.columns
    failed = ((1 - _lowest_score(suite, row), row) for row in columns.rows_with(Status.FAILED))
    if columns.case_count == len(columns):
        return failed
    worst: dict[str, tuple[float, int]] = {}
    for drop, row in sorted(failed, key=lambda trial: (-round(trial[0], DIGITS), columns.key(trial[1]))):
        worst.setdefault(columns.hashes[row], (drop, row))
    return iter(worst.values())


_Place: TypeAlias = tuple[int, int, float, _T]  # a suite, its row, the drop, and more


@record
class _Order:
    """The order of trials. Suites finish in any order, so their indices are no order: `ranks` are those of names."""

    suites: Sequence[SuiteResult]
    ranks: Sequence[int]
    gates: FailedGates

    def rank(self, trial: _Place[Any]) -> int:
        """Whether it belongs to a failed gate."""
        suite = self.suites[trial[0]]
        return self.gates.rank(suite.label, suite.columns.failed_evaluators(trial[1])) if self.gates.evaluators else 0

    def place(self, trial: _Place[Any]) -> tuple[int, float, int, CaseKey]:
        """Those of failed gates first, then the largest drops; equal drops are in the order of their cases."""
        suite, row, drop, _ = trial
        return self.rank(trial), -round(drop, DIGITS), self.ranks[suite], self.suites[suite].columns.key(row)


def _largest_drops(trials: Iterable[_Place[_T]], limit: int, order: _Order) -> list[_Place[_T]]:
    """The first trials, suites in turn.

    Args:
        trials: the trials, ordered by suite.
        limit: how many to pick.
        order: their order.
    """
    by_suite = (nsmallest(limit, each, key=order.place) for _, each in groupby(trials, key=itemgetter(0)))
    return take_in_turn(sorted(chain(*by_suite), key=order.place), itemgetter(0), order.rank)[:limit]


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
