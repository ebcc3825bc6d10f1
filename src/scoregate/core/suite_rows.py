"""The rows of one suite against the same suite of the base, before they are read together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf, isnan
from typing import NamedTuple

from scoregate.core.columns import Columns
from scoregate.core.criteria import Criteria
from scoregate.core.fingerprints import what_changed
from scoregate.core.pairs import Pairs, Values, pair_ratios, pair_scores
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
    suite: SuiteResult, olds: Sequence[SuiteResult], criteria: Criteria, *, more: Sequence[SuiteResult] = ()
) -> Iterator[Row]:
    """A row for each evaluator that the suite or its base has.

    Args:
        suite: what is judged. more: further trials of some of its cases.
        olds: runs of the suite's base, the newest first.
        criteria: by what measure differences count.
    """
    old = olds[0]
    cases = _cases(suite.columns, old.columns)
    for name in suite.evaluators:
        row = _score_row(suite, olds, name, criteria=criteria, cases=cases, more=more)
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
    cases: _Cases,
    more: Sequence[SuiteResult],
) -> Row:
    info = suite.evaluators[name]
    pairs = pair_scores(suite.columns, [old.columns for old in olds], name, more=[each.columns for each in more])
    mean, base = pairs.mean, pairs.base
    known = olds[0].evaluators.get(name)
    change = "" if known is None else what_changed(info, known)
    if mean is None and suite.columns.labels.get(name):
        label = Label.NOT_COMPARABLE if change else Label.LABELS if known else Label.NEW
        return Row(suite.label, name, label, None, base, reason=change)
    if mean is None:
        reason = "no case has a score" if len(suite.columns) else "no case was run"
        return Row(suite.label, name, Label.UNMEASURABLE, None, base, reason=reason)
    if change and not _too_many_errors(pairs, criteria):
        return Row(suite.label, name, Label.NOT_COMPARABLE, mean, base, reason=change)
    if known is None or (base is None and not pairs.dropped):
        return Row(suite.label, name, Label.NEW, mean, reason="no base score of this evaluator yet")
    direction = criteria.of(name).higher_is_better
    upwards = info.higher_is_better if direction is None else direction
    checked = info.fingerprint is not None and known.fingerprint is not None
    row = Row(
        suite.label,
        name,
        Label.NOISE,
        mean,
        base,
        added=cases.added,
        removed=cases.removed,
        changed=cases.changed,
        higher_is_better=upwards,
        checked=checked,
    )
    return _row(row, pairs, criteria, bound=1.0, estimate=not change)


def quantity_rows(suite: SuiteResult, olds: Sequence[SuiteResult], criteria: Criteria) -> Iterator[Row]:
    """Rows for latency, cost and tokens, as far as both sides know them; lower is better."""
    for measure, values in QUANTITIES.items():
        pairs = pair_ratios(suite.columns, [old.columns for old in olds], values)
        if pairs.n:
            row = Row(
                suite.label,
                measure.value,
                Label.NOISE,
                _mean(values(suite.columns)),
                _mean(value for old in olds for value in values(old.columns)),
                higher_is_better=False,
                measure=measure,
            )
            yield _row(row, pairs, criteria, bound=inf)


def _row(row: Row, pairs: Pairs, criteria: Criteria, *, bound: float, estimate: bool = True) -> Row:
    """The row with what its pairs say; a label other than `within noise` is final."""
    if pairs.n and estimate:
        row = _estimated(row, pairs, bound)
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


def _estimated(row: Row, pairs: Pairs, bound: float) -> Row:
    found = examine(pairs, bound=bound)
    better, worse = (pairs.rose, pairs.fell) if row.higher_is_better else (pairs.fell, pairs.rose)
    return replace(
        row,
        delta=found.delta,
        n=pairs.n,
        clusters=len(pairs.clusters),
        better=better,
        worse=worse,
        p=found.p,
        smallest_p=found.smallest_p,
        low=found.low,
        high=found.high,
        detectable=found.detectable,
    )


def _mean(values: Iterable[float]) -> float | None:
    valid = [value for value in values if not isnan(value)]
    return sum(valid) / len(valid) if valid else None


class _Cases(NamedTuple):
    """How many cases have no counterpart, or another definition under the same hash."""

    added: int
    removed: int
    changed: int


def _cases(new: Columns, old: Columns) -> _Cases:
    here = dict(zip(new.hashes, new.digests, strict=True))
    there = dict(zip(old.hashes, old.digests, strict=True))
    shared = here.keys() & there.keys()
    changed = sum(1 for case in shared if here[case] and there[case] and here[case] != there[case])
    return _Cases(len(here) - len(shared), len(there) - len(shared), changed)
