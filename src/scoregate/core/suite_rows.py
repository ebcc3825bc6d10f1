"""The rows of one suite against the same suite of the base, before they are read together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from scoregate.core.columns import Columns
from scoregate.core.criteria import Criteria
from scoregate.core.fingerprints import what_changed
from scoregate.core.lost_scores import CaseSets, Reason, lost_scores
from scoregate.core.pairs import Pairs, Values, amount_side, logarithms, pair, pair_scores, score_side
from scoregate.core.ratios import ratio_of_totals, shared_means
from scoregate.core.record import SuiteResult
from scoregate.core.rows import Label, Measure, Row
from scoregate.core.stats import examine

QUANTITIES: dict[Measure, Values] = {
    Measure.LATENCY: lambda columns: columns.durations_ms,
    Measure.COST: lambda columns: columns.costs,
    Measure.TOKENS: lambda columns: columns.tokens,
}


def new_rows(suite: SuiteResult, reason: str) -> Iterator[Row]:
    """The rows of a suite that the base does not have."""
    for name, info in suite.evaluators.items():
        mean, labels = suite.mean(name), suite.columns.labels.get(name, {})
        label = Label.NEW if mean is not None or labels else Label.UNMEASURABLE
        upwards = info.higher_is_better
        yield Row(suite.label, name, label, mean, reason=reason, higher_is_better=upwards, labels=labels)


def removed_rows(old: SuiteResult) -> Iterator[Row]:
    """The rows of a suite that only the base has."""
    for name in old.evaluators:
        yield Row(old.label, name, Label.REMOVED, base=old.mean(name), reason="this suite is gone")


def score_rows(
    suite: SuiteResult, olds: Sequence[SuiteResult], criteria: Criteria, *, extras: Extras | None = None
) -> Iterator[Row]:
    """A row for each evaluator that the suite or its base has.

    Args:
        suite: what is judged.
        olds: runs of the suite's base, the newest first.
        criteria: by what measure differences count.
        extras: trials of some cases that were added on both sides, chosen by what the first ones showed.
    """
    old = olds[0]
    cases = CaseSets.of(suite.columns, old.columns)
    for name in suite.evaluators:
        row = _score_row(suite, olds, name, criteria=criteria, cases=cases, extras=extras)
        labels, before = (each.columns.labels.get(name, {}) for each in (suite, old))
        yield replace(row, labels=labels, base_labels=before) if labels or before else row
    for name in old.evaluators:
        if name not in suite.evaluators:
            yield Row(suite.label, name, Label.REMOVED, base=old.mean(name), reason="this evaluator is gone")


def _score_row(
    suite: SuiteResult,
    olds: Sequence[SuiteResult],
    name: str,
    *,
    criteria: Criteria,
    cases: CaseSets,
    extras: Extras | None,
) -> Row:
    info, known = suite.evaluators[name], olds[0].evaluators.get(name)
    here, there = score_side([suite.columns], name), score_side([old.columns for old in olds], name)
    pairs = pair(here, there, suite.columns)
    mean, base = (pairs.mean, pairs.base) if pairs.n else (suite.mean(name), olds[0].mean(name))
    change = "" if known is None else what_changed(info, known)
    lost = lost_scores(suite.columns, [old.columns for old in olds], name, cases, here=here, there=there)
    row = Row(suite.label, name, Label.NOISE, mean, base, lost=lost.reasons, gained=lost.gained)
    if not here.means:
        return _without_scores(row, suite, change, known=known is not None)
    if change and not _too_many_errors(pairs, criteria):
        return replace(row, label=Label.NOT_COMPARABLE, mean=suite.mean(name), base=olds[0].mean(name), reason=change)
    if known is None or (not there.means and not pairs.dropped):
        return replace(row, label=Label.NEW, base=None, reason="no base score of this evaluator yet")
    direction = criteria.of(name).higher_is_better
    row = replace(
        row,
        added=cases.added,
        removed=cases.removed,
        changed=len(cases.redefined),
        higher_is_better=info.higher_is_better if direction is None else direction,
        checked=info.fingerprint is not None and known.fingerprint is not None,
    )
    sharper = None if extras is None else extras.pair(suite.columns, olds, name)
    row = _row(row, pairs, criteria, scale=1.0, sharper=sharper, estimate=not change)
    if not info.battles and row.label is not Label.UNMEASURABLE and lost.too_many(criteria.max_lost, criteria.alpha):
        reason = f"{lost.reasons[Reason.NONE]:,} of {lost.of:,} cases lost their score: the evaluator returned None"
        row = replace(row, label=Label.UNMEASURABLE, reason=reason, lost_too_many=True)
    return row


def _without_scores(row: Row, suite: SuiteResult, change: str, *, known: bool) -> Row:
    if suite.columns.labels.get(row.evaluator):
        label = Label.NOT_COMPARABLE if change else Label.LABELS if known else Label.NEW
        return replace(row, label=label, reason=change)
    reason = "no case has a score" if len(suite.columns) else "no case was run"
    return replace(row, label=Label.UNMEASURABLE, reason=reason)


@dataclass(frozen=True, slots=True)
class Extras:
    """More trials of some cases of a suite, as many on one side as on the other: the run's, and its base's."""

    new: Sequence[SuiteResult]
    old: Sequence[SuiteResult]

    def pair(self, columns: Columns, olds: Sequence[SuiteResult], name: str) -> Pairs:
        """The pairs of an evaluator over first and further trials."""
        return pair_scores(
            columns,
            [each.columns for each in (*olds, *self.old)],
            name,
            more=[each.columns for each in self.new],
        )


def quantity_rows(suite: SuiteResult, olds: Sequence[SuiteResult], criteria: Criteria) -> Iterator[Row]:
    """Rows for latency, cost and tokens, as far as both sides know them; lower is better."""
    for measure, values in QUANTITIES.items():
        here, there = amount_side([suite.columns], values), amount_side([old.columns for old in olds], values)
        pairs = pair(logarithms(here), logarithms(there), suite.columns)
        if not pairs.n:
            continue
        mean, base, _ = shared_means(here, there)
        row = Row(suite.label, measure.value, Label.NOISE, mean, base, higher_is_better=False, measure=measure)
        row = _row(row, pairs, criteria, scale=None)
        total = None if measure is Measure.LATENCY else ratio_of_totals(here, there)
        if total is not None:
            row = replace(row, total=total.value, total_low=total.low, total_high=total.high)
        yield row


def _row(
    row: Row,
    pairs: Pairs,
    criteria: Criteria,
    *,
    scale: float | None,
    sharper: Pairs | None = None,
    estimate: bool = True,
) -> Row:
    """The row with what its pairs say; a label other than `within noise` is final."""
    if pairs.n and estimate:
        row = _estimated(row, pairs, scale, sharper)
    row = replace(row, dropped=pairs.dropped)
    if reason := _too_many_errors(pairs, criteria):
        return replace(row, label=Label.UNMEASURABLE, reason=reason)
    if not pairs.n:
        return replace(row, label=Label.NEW, reason="no case has a score in both runs")
    return replace(row, label=Label.TOO_FEW) if len(pairs.clusters) < criteria.few else row


def _too_many_errors(pairs: Pairs, criteria: Criteria) -> str:
    """In words; empty where the share of pairs that were dropped is bearable."""
    tried = pairs.n + pairs.dropped
    bearable = pairs.dropped <= criteria.max_dropped * tried
    return "" if bearable else f"{pairs.dropped:,} of {tried:,} pairs have an error"


def _estimated(row: Row, pairs: Pairs, scale: float | None, sharper: Pairs | None) -> Row:
    found = examine(pairs, scale=scale, sharper=sharper)
    better, worse = (pairs.rose, pairs.fell) if row.higher_is_better else (pairs.fell, pairs.rose)
    lower, upper = found.p_lower, found.p_upper
    return replace(
        row,
        delta=found.delta,
        n=pairs.n,
        clusters=len(pairs.clusters),
        better=better,
        worse=worse,
        p=found.p,
        p_worse=lower if row.higher_is_better else upper,
        p_better=upper if row.higher_is_better else lower,
        smallest_p=found.smallest_p,
        low=found.low,
        high=found.high,
        detectable=found.detectable,
        within=found.within,
    )
