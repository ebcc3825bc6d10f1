"""The tables of variants: one for each evaluator of a suite that ran with several tasks or parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from scoregate.features.variants.matrix import VariantMatrix, build_matrix
from scoregate.kernel.compare.variants import VariantRanking, VariantScore, VariantState
from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.text import display_name
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.run import SuiteResult

_LONGEST_NAME, _LONGEST_SUITE = 60, 120
_STATES = {
    VariantState.BEST: ReportState.BETTER,
    VariantState.CANDIDATE: ReportState.HELD,
    VariantState.WORSE: ReportState.WORSE,
    VariantState.UNRANKED: ReportState.UNCERTAIN,
    VariantState.NOT_COMPARABLE: ReportState.NOT_COMPARABLE,
}


@record
class VariantRowView:
    """One variant as text. `state` chooses the sign; `note` explains the verdict; unknown values are a dash."""

    state: ReportState
    rank: str
    name: str
    mean: str
    delta: str
    interval: str
    verdict: str
    note: str
    p50: str
    tokens: str
    cost: str


@record
class VariantTable:
    """One ranking. `sentence` is what it says; `is_first` is true for the first one of a suite.

    `matrix` has the same variants by their parameters; None in outputs that don't show it.
    """

    ranking: VariantRanking
    suite: str
    evaluator: str
    sentence: str
    rows: tuple[VariantRowView, ...]
    is_first: bool
    matrix: VariantMatrix | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns of time and cost that any variant has a value for."""
        names = ("p50", "tokens", "cost")
        return tuple(name for name in names if any(getattr(row, name) != number_format.NONE for row in self.rows))


def build_variant_tables(
    rankings: Iterable[VariantRanking], suites: Sequence[SuiteResult] | None = None
) -> Iterator[VariantTable]:
    """Build a table for each ranking, in their order.

    Args:
        rankings: the rankings.
        suites: the suites of their run, for matrices; None for tables without one.
    """
    previous = None
    for ranking in rankings:
        suite_key = ranking.suite, frozenset(row.label for row in ranking.rows)
        yield VariantTable(
            ranking,
            display_name(ranking.suite, _LONGEST_SUITE),
            display_name(ranking.evaluator, _LONGEST_SUITE),
            ranking.describe(lambda name: display_name(name, _LONGEST_NAME)),
            tuple(map(_build_row, ranking.rows)),
            is_first=suite_key != previous,
            matrix=None if suites is None else build_matrix(ranking, suites),
        )
        previous = suite_key


def _build_row(row: VariantScore) -> VariantRowView:
    rank = number_format.NONE if row.rank is None else f"{row.rank}"
    if row.rank is not None and row.last_rank not in (None, row.rank):
        rank = f"{row.rank}–{row.last_rank}"
    notes = [row.reason]
    if row.missing and not row.reason:
        notes.append(f"{number_format.count(row.missing, 'case')} without a score")
    if row.errors:
        notes.append(number_format.count(row.errors, "error"))
    interval = ""
    if row.low is not None and row.high is not None:
        interval = f"[{number_format.difference(row.low)}, {number_format.difference(row.high)}]"
    return VariantRowView(
        state=_STATES[row.state],
        rank=rank,
        name=display_name(row.name, _LONGEST_NAME),
        mean=number_format.score(row.mean),
        delta=_format_delta(row),
        interval=interval,
        verdict=str(row.state),
        note=", ".join(filter(None, notes)),
        p50=number_format.NONE if row.p50_ms is None else number_format.duration(row.p50_ms / 1000),
        tokens=number_format.NONE if row.tokens is None else number_format.tokens(row.tokens),
        cost=number_format.NONE if row.cost is None else number_format.cost(row.cost),
    )


def _format_delta(row: VariantScore) -> str:
    if row.delta is None:
        return number_format.NONE
    return "leader" if row.low is None else number_format.difference(row.delta)


def variant_data(table: VariantTable) -> dict[str, Any]:
    """A ranking as dicts, lists, strings and numbers, for JSON."""
    data = asdict(table.ranking)
    rows = [row | {"state": str(row["state"])} for row in data["rows"]]
    best = table.ranking.best
    return data | {
        "rows": rows,
        "best": best.name if best else None,
        "candidates": [row.name for row in table.ranking.candidates],
        "sentence": table.sentence,
    }
