"""Rows that compare the latency, the cost and the tokens of a suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scoregate.core.comparison.comparison_rows import Measure, Row, RowLabel, with_estimate
from scoregate.core.comparison.pairing import Values, case_clusters, log_side, pair_sides, quantity_side
from scoregate.core.comparison.ratios import compute_total_ratio, shared_means
from scoregate.core.runs.policy import Criteria
from scoregate.core.runs.run import SuiteResult

QUANTITIES: dict[Measure, Values] = {
    Measure.LATENCY: lambda columns: columns.durations_ms,
    Measure.COST: lambda columns: columns.costs,
    Measure.TOKENS: lambda columns: columns.tokens,
}


def has_stored_answers(suite: SuiteResult) -> bool:
    """Whether an answer of a model was read from a store, so that cost and tokens are those of only some calls."""
    columns, usage = suite.columns, suite.usage
    return bool(columns.cached or columns.partly_paid) or (usage is not None and (usage.cached or usage.stored > 0))


def quantity_rows(suite: SuiteResult, baseline_suites: Sequence[SuiteResult], criteria: Criteria) -> Iterator[Row]:
    """Rows for latency, cost and tokens if both sides know them; lower is better.

    Args:
        suite: the suite of the run.
        baseline_suites: the suite in the runs of the baseline, the newest first.
        criteria: the level and the smallest effects that count.
    """
    for measure, values in QUANTITIES.items():
        is_paid = measure is not Measure.LATENCY
        new = quantity_side([suite.columns], values, is_paid=is_paid)
        baseline = quantity_side([each.columns for each in baseline_suites], values, is_paid=is_paid)
        pairs = pair_sides(log_side(new), log_side(baseline), case_clusters(suite.columns))
        if not pairs.n:
            continue
        mean, base, _ = shared_means(new, baseline)
        row = Row(suite.label, measure.value, RowLabel.NOISE, mean, base, higher_is_better=False, measure=measure)
        row = with_estimate(row, pairs, criteria, scale=None)
        total = None if measure is Measure.LATENCY else compute_total_ratio(new, baseline, suite.columns)
        if total is not None:
            row = replace(row, total=total.value, total_low=total.low, total_high=total.high)
        yield row
