"""The cases of all suites, each with its trials in both runs, the worst change first."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from math import isnan

from scoregate.ci.report.suites import PairedSuite
from scoregate.ci.report.view import ReportView
from scoregate.core.cases import Columns, Status
from scoregate.core.records import record
from scoregate.core.text import case_sort_key

_ROUNDING = 1e-9


class CaseChange(IntEnum):
    """The change of a case from the baseline, worst first."""

    NEWLY_FAILING = 0
    WORSE = 1
    FAILING = 2
    BETTER = 3
    NEW = 4
    SAME = 5
    REMOVED = 6


@record
class CaseEntry:
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


def build_entries(view: ReportView) -> list[CaseEntry]:
    """Build an entry for every case of the run, and for removed cases of the baseline.

    Equal changes are ordered by suite, then by natural order of the hash, or in the order of the run for digests.
    """
    newly = {(label, key.hash) for label, key in view.newly_failing}
    entries = []
    for at, paired_suite in enumerate(view.paired_suites):
        before = _rows_by_case(paired_suite.before) if paired_suite.before is not None else {}
        for case, rows in _rows_by_case(paired_suite.now).items():
            old = before.pop(case, ())
            gain, lowest = _largest_change(paired_suite, rows, old), _lowest_score(paired_suite, rows)
            kind = CaseChange.NEWLY_FAILING
            if (paired_suite.label, case) not in newly:
                kind = _classify(paired_suite.now, rows, old=old, gain=gain)
            entries.append(CaseEntry(at, case, kind, gain, lowest, rows, old))
        entries += [CaseEntry(at, case, CaseChange.REMOVED, 0.0, 1.0, (), old) for case, old in before.items()]
    return sorted(
        entries, key=lambda entry: (entry.kind, entry.gain, entry.lowest, entry.suite, case_sort_key(entry.hash))
    )


def _rows_by_case(columns: Columns) -> dict[str, tuple[int, ...]]:
    """The rows of each case, with repeats by their number."""
    rows_by_case: dict[str, tuple[int, ...]] = {}
    for row, case in enumerate(columns.hashes):
        rows_by_case[case] = (*rows_by_case[case], row) if case in rows_by_case else (row,)
    return {case: tuple(sorted(rows, key=columns.repeats.__getitem__)) for case, rows in rows_by_case.items()}


def _classify(columns: Columns, rows: Iterable[int], *, old: tuple[int, ...], gain: float) -> CaseChange:
    if gain < -_ROUNDING:
        return CaseChange.WORSE
    if any(columns.status(row) in (Status.FAILED, Status.ERRORED) for row in rows):
        return CaseChange.FAILING
    if gain > _ROUNDING:
        return CaseChange.BETTER
    return CaseChange.SAME if old else CaseChange.NEW


def _largest_change(paired_suite: PairedSuite, rows: tuple[int, ...], old: tuple[int, ...]) -> float:
    if paired_suite.before is None or not old:
        return 0.0
    worst, best = 0.0, 0.0
    for evaluator in paired_suite.now.scores:
        was = mean_score(paired_suite.before, evaluator, old)
        now = (
            mean_score(paired_suite.now, evaluator, rows)
            if was is not None and evaluator not in paired_suite.incomparable
            else None
        )
        if was is not None and now is not None:
            change = now - was if paired_suite.higher_is_better.get(evaluator, True) else was - now
            worst, best = min(worst, change), max(best, change)
    return worst if worst < -_ROUNDING else best


def _lowest_score(paired_suite: PairedSuite, rows: tuple[int, ...]) -> float:
    scores = (
        score if paired_suite.higher_is_better.get(evaluator, True) else 1 - score
        for evaluator in paired_suite.now.scores
        if (score := mean_score(paired_suite.now, evaluator, rows)) is not None
    )
    return min(scores, default=1.0)


def mean_score(columns: Columns, evaluator: str, rows: tuple[int, ...]) -> float | None:
    """The mean score of trials; None if none of them has a score."""
    if len(rows) == 1:
        score = columns.score(evaluator, rows[0])
        return None if isnan(score) else score
    known = [score for row in rows if not isnan(score := columns.score(evaluator, row))]
    return sum(known) / len(known) if known else None
