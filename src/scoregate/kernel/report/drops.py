"""The largest drops of scores that no threshold judges, case by case, with input and output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from math import isnan

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.pairing import score_side
from scoregate.kernel.report.cases import CasePosition, Snapshot
from scoregate.kernel.report.context import ReportContext, source_url
from scoregate.kernel.report.excerpts import CaseTexts, format_score
from scoregate.kernel.report.failing_trials import interleave
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseKey
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.text import rank_names

MOST_DROPS = 10
_LEAST = 0.01
_DIGITS = 9
_NOT_COMPARED = (RowLabel.UNMEASURABLE, RowLabel.NOT_COMPARABLE, RowLabel.NEW, RowLabel.REMOVED, RowLabel.LABELS)


@record
class Drop:
    """A case whose score fell; scores are means over its trials. `key` is its worst trial, `base` its best one."""

    suite: int
    key: CaseKey
    evaluator: str
    before: float
    now: float
    size: float
    base: tuple[int, CaseKey]


@record
class DropView:
    """A case whose score fell, as texts.

    `texts` are its input and outputs; they are empty if they may not be shown.
    """

    suite: str
    name: str
    evaluator: str
    before: str
    now: str
    why: str
    url: str | None = None
    texts: CaseTexts = CaseTexts()


def pick_drops(comparison: Comparison, limit: int = MOST_DROPS) -> list[Drop]:
    """Pick at most `limit` drops of more than 0.01: evaluators in turn, the largest first."""
    baseline = comparison.base
    if baseline is None:
        return []
    drops, ranks = list[Drop](), rank_names([suite.label for suite in comparison.run.suites])
    for index, base_index in comparison.pairs_for(Use.FAILURES):
        suite, base_suite = comparison.run.suites[index], baseline.suites[base_index]
        for row in comparison.rows_of(suite.label):
            if row.label not in _NOT_COMPARED and row.pairs.worse and not suite.columns.judged.get(row.evaluator):
                drops += islice(_find_drops(row, suite, base_suite, (index, base_index)), limit)
    ordered = sorted(drops, key=lambda drop: (-round(drop.size, _DIGITS), ranks[drop.suite], drop.evaluator, drop.key))
    return interleave(ordered, lambda drop: (drop.suite, drop.evaluator))[:limit]


def _find_drops(row: Row, suite: SuiteResult, base: SuiteResult, places: tuple[int, int]) -> Iterator[Drop]:
    name, sign = row.evaluator, 1 if row.higher_is_better else -1
    now, before = score_side([suite.columns], name).means, score_side([base.columns], name).means
    sizes = {case: sign * (before[case] - score) for case, score in now.items() if case in before}
    # Cases finish in any order, so equal drops are in the order of their names.
    fallen = (case for case, size in sizes.items() if size > _LEAST)
    largest = nsmallest(MOST_DROPS, fallen, key=lambda case: (-round(sizes[case], _DIGITS), case))
    worst, best = _find_extremes(suite.columns, name, largest, sign), _find_extremes(base.columns, name, largest, -sign)
    for case in largest:
        yield Drop(places[0], worst[case], name, before[case], now[case], sizes[case], base=(places[1], best[case]))


def _find_extremes(columns: Columns, evaluator: str, cases: Sequence[str], sign: int) -> dict[str, CaseKey]:
    """The trial of each case with the lowest score, or with the highest if the sign is negative."""
    rows: dict[str, int] = {}
    wanted = set(cases)
    for row, case in enumerate(columns.hashes):
        score = columns.score(evaluator, row)
        if case not in wanted or isnan(score):
            continue
        place = sign * score, columns.repeats[row]
        if case not in rows or place < (sign * columns.score(evaluator, rows[case]), columns.repeats[rows[case]]):
            rows[case] = row
    return {case: columns.key(row) for case, row in rows.items()}


def _format_score(score: float, scale: tuple[float, float] | None) -> str:
    """The score, on the evaluator's own scale if it has one."""
    low, high = scale or (0.0, 1.0)
    return format_score(low + score * (high - low), None)


def build_drops(
    comparison: Comparison,
    drops: Sequence[Drop],
    snapshots: Mapping[CasePosition, Snapshot],
    base_snapshots: Mapping[CasePosition, Snapshot],
    context: ReportContext,
) -> Iterator[DropView]:
    """Build the views of drops.

    Args:
        comparison: the run and its baseline.
        drops: the drops.
        snapshots: the cases of the run.
        base_snapshots: the cases of the baseline; none if outputs may not be shown.
        context: what reports may show.
    """
    for drop in drops:
        if (snapshot := snapshots.get((drop.suite, drop.key))) is None:
            continue
        suite, old = comparison.run.suites[drop.suite], base_snapshots.get(drop.base)
        shown, scale = context.show_outputs, suite.evaluators[drop.evaluator].scale
        yield DropView(
            suite=suite.label,
            name=snapshot.name,
            evaluator=drop.evaluator,
            before=_format_score(drop.before, scale),
            now=_format_score(drop.now, scale),
            why=snapshot.reasons.get(drop.evaluator, "") if shown else "",
            url=source_url(snapshot.origin or suite.origin, context),
            texts=snapshot.build_texts(old) if shown else CaseTexts(),
        )
