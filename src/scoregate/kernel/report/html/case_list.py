"""The cases of all suites, each with its trials in both runs, the worst change first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from heapq import nsmallest
from typing import NamedTuple

from scoregate.kernel.report.suites import PairedSuite
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.case_columns import Columns, known_values
from scoregate.kernel.types.runs.cases import STATUSES, Status
from scoregate.kernel.types.text import SortKey, case_sort_key, rank_names

_ROUNDING = 1e-9
_FAILING = tuple(map(STATUSES.index, (Status.FAILED, Status.ERRORED)))


class CaseChange(IntEnum):
    """The change of a case from the baseline, worst first."""

    NEWLY_FAILING = 0
    WORSE = 1
    FAILING = 2
    BETTER = 3
    NEW = 4
    SAME = 5
    REMOVED = 6


class CaseEntry(NamedTuple):
    """A case: its rows in the columns of its suite, in the run (`now`) and in the baseline (`before`).

    `gain` is the largest drop of an evaluator, or the largest gain if there is no drop; + is better. `lowest`
    is the lowest score in the run.
    """

    suite: int
    hash: str
    kind: CaseChange
    gain: float
    lowest: float
    now: tuple[int, ...] = ()
    before: tuple[int, ...] = ()


def build_entries(view: ReportView, most: int) -> tuple[list[CaseEntry], int]:
    """Build an entry for every case of the run, and for removed cases of the baseline.

    Equal changes are ordered by suite, then by natural order of the hash, or in the order of the run for digests.

    Args:
        view: the report.
        most: how many entries are kept, the worst ones. Memory grows with their number only.

    Returns:
        The entries, and the number of all cases.
    """
    total = 0

    def count_entries() -> Iterator[CaseEntry]:
        nonlocal total
        for total, entry in enumerate(_iterate_entries(view), 1):  # noqa: B007
            yield entry

    # `nsmallest` returns the same as the beginning of `sorted`, which is faster if all are kept.
    longer_sides = sum(max(len(each.now), len(each.before or ())) for each in view.paired_suites)
    is_small = longer_sides <= most and sum(map(_count_entries, view.paired_suites)) <= most
    ranks = rank_names([each.label for each in view.paired_suites])

    def sort_key(entry: CaseEntry) -> tuple[CaseChange, float, float, int, SortKey]:
        return entry.kind, entry.gain, entry.lowest, ranks[entry.suite], case_sort_key(entry.hash)

    entries = sorted(count_entries(), key=sort_key) if is_small else nsmallest(most, count_entries(), key=sort_key)
    return entries, total


def _count_entries(paired_suite: PairedSuite) -> int:
    """The number of cases of a suite, or more if they have repeats."""
    now, before = paired_suite.now, paired_suite.before
    return len(now) + (len(set(before.hashes).difference(now.hashes)) if before is not None else 0)


def _iterate_entries(view: ReportView) -> Iterator[CaseEntry]:
    newly = {(label, key.hash) for label, key in view.notable.newly_failing}
    for at, paired_suite in enumerate(view.paired_suites):
        scores = [_EvaluatorScores(paired_suite, evaluator) for evaluator in paired_suite.now.scores]
        for case, rows, old in pair_rows(paired_suite):
            if not rows:
                yield CaseEntry(at, case, CaseChange.REMOVED, 0.0, 1.0, (), old)
                continue
            gain, lowest = _compare_scores(scores, rows, old)
            kind = CaseChange.NEWLY_FAILING
            if not newly or (paired_suite.label, case) not in newly:
                kind = _classify(paired_suite.now, rows, old=old, gain=gain)
            yield CaseEntry(at, case, kind, gain, lowest, rows, old)


def pair_rows(paired_suite: PairedSuite) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Each case with its rows in the run and in the baseline; empty if it has none. Removed cases come last."""
    before = dict(_rows_by_case(paired_suite.before)) if paired_suite.before is not None else {}
    for case, rows in _rows_by_case(paired_suite.now):
        yield case, rows, before.pop(case, ())
    for case, rows in before.items():
        yield case, (), rows


def _rows_by_case(columns: Columns) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The rows of each case, with repeats by their number."""
    if not columns.has_repeats:
        yield from ((case, (row,)) for row, case in enumerate(columns.hashes))
        return
    rows_by_case: dict[str, tuple[int, ...]] = {}
    for row, case in enumerate(columns.hashes):
        rows_by_case[case] = (*rows_by_case[case], row) if case in rows_by_case else (row,)
    for case, rows in rows_by_case.items():
        yield case, tuple(sorted(rows, key=columns.repeats.__getitem__))


def _classify(columns: Columns, rows: Iterable[int], *, old: tuple[int, ...], gain: float) -> CaseChange:
    if gain < -_ROUNDING:
        return CaseChange.WORSE
    statuses = columns.statuses
    for row in rows:
        if statuses[row] in _FAILING:
            return CaseChange.FAILING
    if gain > _ROUNDING:
        return CaseChange.BETTER
    return CaseChange.SAME if old else CaseChange.NEW


class ScoreColumn:
    """The scores of one evaluator, by row; none without columns."""

    def __init__(self, columns: Columns | None, evaluator: str) -> None:
        self.scores: Sequence[float] = () if columns is None else columns.scores.get(evaluator, ())
        self._answers = None if columns is None else columns.answers.get(evaluator)

    def average(self, rows: tuple[int, ...]) -> float | None:
        """The mean score of the trials of a case; None if none of them has a score."""
        scores = self.scores
        if len(rows) == 1:
            row = rows[0]
            return score if row < len(scores) and (score := scores[row]) == score else None  # NaN differs from itself
        if (answers := self._answers) is not None:  # scores of one stored answer count once
            rows = tuple({answers.get(row, row): row for row in reversed(rows)}.values())
        known = known_values([scores[row] for row in rows if row < len(scores)])
        return sum(known) / len(known) if known else None


class _EvaluatorScores:
    """The scores of one evaluator on both sides; there are none `before` if they can't be compared."""

    def __init__(self, paired_suite: PairedSuite, evaluator: str) -> None:
        is_comparable = evaluator not in paired_suite.incomparable
        self.now = ScoreColumn(paired_suite.now, evaluator)
        self.before = ScoreColumn(paired_suite.before if is_comparable else None, evaluator)
        self.higher_is_better = paired_suite.higher_is_better.get(evaluator, True)


def _compare_scores(
    scores: Iterable[_EvaluatorScores], rows: tuple[int, ...], old: tuple[int, ...]
) -> tuple[float, float]:
    """The largest drop of a case, or the largest gain if there is no drop, and its lowest score."""
    worst, best, lowest = 0.0, 0.0, 1.0
    for each in scores:
        now = each.now.average(rows)
        if now is None:
            continue
        lowest = min(lowest, now if each.higher_is_better else 1 - now)
        was = each.before.average(old) if old else None
        if was is not None and was != now:
            change = now - was if each.higher_is_better else was - now
            worst, best = min(worst, change), max(best, change)
    return worst if worst < -_ROUNDING else best, lowest
