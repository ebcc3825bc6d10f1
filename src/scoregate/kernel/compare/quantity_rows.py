"""Rows that compare the latency, the cost and the tokens of a suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from scoregate.kernel.compare.comparison_rows import Measure, Row, RowLabel, with_estimate
from scoregate.kernel.compare.lost_scores import CaseChanges
from scoregate.kernel.compare.pairing import Side, Values, case_clusters, log_side, pair_sides, quantity_side
from scoregate.kernel.compare.ratios import compute_total_ratio, shared_means
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, SuiteResult

QUANTITIES: dict[Measure, Values] = {
    Measure.LATENCY: lambda columns: columns.durations_ms,
    Measure.COST: lambda columns: columns.costs,
    Measure.TOKENS: lambda columns: columns.tokens,
}


def has_stored_answers(suite: SuiteResult) -> bool:
    """Whether an answer of a model was read from a store, so that cost and tokens are those of only some calls."""
    columns, usage = suite.columns, suite.other_usage
    return bool(columns.cached or columns.partly_paid) or (usage is not None and (usage.cached or usage.stored > 0))


# A run, and each of its suites in the runs of the baseline, the newest first, by the index of the suite.
_Sides: TypeAlias = tuple[Run, Mapping[int, Sequence[SuiteResult]]]


def quantity_rows(indices: Iterable[int], measured: _Sides, whole: _Sides, criteria: Criteria) -> Iterator[Row]:
    """Rows for latency, cost and tokens of suites if both sides know them; lower is better.

    Args:
        indices: the indices of the suites.
        measured: both sides with the cases that ran, which are compared.
        whole: both sides with all cases, for the means and the change of the total: limits count kept results, too.
        criteria: the level and the smallest effects that count.
    """
    for index in indices:
        suite, columns = measured[0].suites[index], whole[0].suites[index].columns
        kept = len(columns) - len(suite.columns)
        for measure in QUANTITIES:
            new, baseline = _read_sides(index, measured, measure)
            pairs = pair_sides(log_side(new), log_side(baseline), case_clusters(suite.columns))
            if not pairs.n:
                continue
            if kept:
                new, baseline = _read_sides(index, whole, measure)
            mean, base, _ = shared_means(new, baseline)
            row = Row(
                *(suite.label, measure.value, RowLabel.NOISE, mean, base),
                measure=measure,
                higher_is_better=False,
                cases=CaseChanges(kept=kept),
                total=None if measure is Measure.LATENCY else compute_total_ratio(new, baseline, columns),
            )
            yield with_estimate(row, pairs, criteria, scale=None)


def _read_sides(index: int, sides: _Sides, measure: Measure) -> tuple[Side, Side]:
    run, baselines = sides
    values, is_paid = QUANTITIES[measure], measure is not Measure.LATENCY
    new = quantity_side([run.suites[index].columns], values, is_paid=is_paid)
    return new, quantity_side([each.columns for each in baselines[index]], values, is_paid=is_paid)
