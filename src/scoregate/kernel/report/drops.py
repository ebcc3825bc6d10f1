"""The largest drops of scores that no threshold judges, case by case, with input and output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from heapq import nsmallest
from itertools import islice
from math import isnan

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.pairing import score_side
from scoregate.kernel.report.case_order import NO_FAILED_GATES, FailedGates, take_in_turn
from scoregate.kernel.report.cases import CasePosition, Snapshot, list_texts
from scoregate.kernel.report.context import ReportContext, source_url
from scoregate.kernel.report.excerpts import CaseTexts, format_score
from scoregate.kernel.report.failing_trials import FailingTrial
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
class ScoreDrop:
    """A score that fell: of which evaluator, from what to what, as texts, and the reason that the evaluator gives."""

    evaluator: str
    before: str
    now: str
    why: str


@record
class DropView:
    """A case with scores that fell, as texts.

    `shown` are its input and outputs for the comment, `texts` the same with their titles; they are empty if they may
    not be shown.
    """

    suite: str
    name: str
    scores: tuple[ScoreDrop, ...]
    url: str | None = None
    shown: CaseTexts = CaseTexts()
    texts: tuple[tuple[str, str], ...] = ()


def pick_drops(
    comparison: Comparison,
    gates: FailedGates = NO_FAILED_GATES,
    *,
    failing: Iterable[FailingTrial] = (),
    limit: int = MOST_DROPS,
) -> list[Drop]:
    """Pick at most `limit` drops of more than 0.01: those of failed gates, then evaluators in turn, the largest first.

    Args:
        comparison: the run and its baseline.
        gates: the gates that failed.
        failing: the trials that are listed as failing; their cases are left out.
        limit: how many to pick.
    """
    baseline = comparison.base
    if baseline is None:
        return []
    suites, listed = comparison.run.suites, {(trial.suite, trial.key.hash) for trial in failing}
    drops, ranks = list[Drop](), rank_names([suite.label for suite in suites])
    for index, base_index in comparison.pairs_for(Use.FAILURES):
        suite, base_suite = suites[index], baseline.suites[base_index]
        without = {case for at, case in listed if at == index}
        for row in comparison.rows_of(suite.label):
            if row.label not in _NOT_COMPARED and row.pairs.worse and not suite.columns.judged.get(row.evaluator):
                drops += islice(_find_drops(row, suite, base_suite, (index, base_index), without), limit)

    def rank(drop: Drop) -> int:
        return gates.rank(suites[drop.suite].label, (drop.evaluator,))

    ordered = sorted(
        drops, key=lambda drop: (rank(drop), -round(drop.size, _DIGITS), ranks[drop.suite], drop.evaluator, drop.key)
    )
    return take_in_turn(ordered, lambda drop: (drop.suite, drop.evaluator), rank)[:limit]


def _find_drops(
    row: Row, suite: SuiteResult, base: SuiteResult, places: tuple[int, int], without: Set[str]
) -> Iterator[Drop]:
    name, sign = row.evaluator, 1 if row.higher_is_better else -1
    now, before = score_side([suite.columns], name).means, score_side([base.columns], name).means
    sizes = {case: sign * (before[case] - score) for case, score in now.items() if case in before}
    # Cases finish in any order, so equal drops are in the order of their names.
    fallen = (case for case, size in sizes.items() if size > _LEAST and case not in without)
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
    """Build the views of drops, one for all scores of a case.

    Args:
        comparison: the run and its baseline.
        drops: the drops.
        snapshots: the cases of the run.
        base_snapshots: the cases of the baseline; none if outputs may not be shown.
        context: what reports may show.
    """
    cases = dict[tuple[int, str], list[Drop]]()
    for drop in drops:
        if (drop.suite, drop.key) in snapshots:
            cases.setdefault((drop.suite, drop.key.hash), []).append(drop)
    for first, *others in cases.values():
        suite, snapshot = comparison.run.suites[first.suite], snapshots[first.suite, first.key]
        old, shown = base_snapshots.get(first.base), context.show_outputs
        yield DropView(
            suite=suite.label,
            name=snapshot.name,
            scores=tuple(
                _describe_drop(each, suite, snapshots[each.suite, each.key] if shown else None)
                for each in (first, *others)
            ),
            url=source_url(snapshot.origin or suite.origin, context),
            shown=snapshot.build_texts(old) if shown else CaseTexts(),
            texts=tuple(_list_texts(snapshot, old)) if shown else (),
        )


def _describe_drop(drop: Drop, suite: SuiteResult, snapshot: Snapshot | None) -> ScoreDrop:
    scale = suite.evaluators[drop.evaluator].scale
    why = "" if snapshot is None else snapshot.reasons.get(drop.evaluator, "")
    return ScoreDrop(drop.evaluator, _format_score(drop.before, scale), _format_score(drop.now, scale), why)


def _list_texts(snapshot: Snapshot, old: Snapshot | None) -> Iterator[tuple[str, str]]:
    """Input and outputs with their titles; of a conversation, the lines that differ."""
    if snapshot.turns is None:
        yield from list_texts(snapshot, old)
        return
    texts = snapshot.build_texts(old)
    yield "output", "\n".join(texts.diff) or texts.output
