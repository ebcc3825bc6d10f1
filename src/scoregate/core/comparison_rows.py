"""One row of a comparison, and the label that it earns among the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from scoregate.core.cases import Columns
from scoregate.core.estimates import estimate_difference
from scoregate.core.events import EvaluatorInfo, Fingerprint
from scoregate.core.lost_scores import CaseSets, Reason, find_lost_scores
from scoregate.core.pairing import Pairs, Values, log_side, pair_scores, pair_sides, quantity_side, score_side
from scoregate.core.policy import Criteria, EvaluatorCriteria
from scoregate.core.ratios import ratio_of_totals, shared_means
from scoregate.core.run import SuiteResult
from scoregate.core.significance import correct_by_direction


class Change(StrEnum):
    """What a row comes to; the first that applies, in this order."""

    UNMEASURABLE = "unmeasurable"
    NOT_COMPARABLE = "not comparable"
    NEW = "new"
    REMOVED = "removed"
    LABELS = "labels only"
    TOO_FEW = "too few"
    UNCHANGED = "unchanged"
    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    NOISE = "within noise"


class Measure(StrEnum):
    """What a row compares."""

    SCORE = "score"
    LATENCY = "latency"
    COST = "cost"
    TOKENS = "tokens"


_COMPARED = (Change.UNCHANGED, Change.BETTER, Change.WORSE, Change.EQUIVALENT, Change.NOISE)


@dataclass(frozen=True, slots=True)
class Row:
    """One evaluator of one suite, or one thing that a suite uses up.

    Scores and `delta` (run − base) are in [0, 1]. For latency, cost and tokens `mean` and `base` are milliseconds,
    dollars or counts a case, and `delta`, `low`, `high` and `detectable` natural logarithms of the ratio run / base.

    `mean` and `base` are over the pairs where there are any, else over all cases of their run. `n` pairs of cases in
    `clusters` clusters were compared; `better` and `worse` of them differ. `dropped` pairs had an error on one side;
    `added`, `removed` and `changed` cases have no counterpart or another definition under the same hash. `lost` counts
    the cases that have a score in the base and none in the run, by reason (`none`, `error`, `removed`, `redefined`,
    `waiting`), `gained` those with a score in the run alone; `lost_too_many`: so many were lost to None that the row is
    unmeasurable.

    `low` and `high` bound delta with 95 % confidence; `p` is two-sided and of this row alone, `p_worse` and `p_better`
    are one-sided; `q` is the corrected p, over all rows of a kind and by direction, which labels and gates use;
    `smallest_p` is the least that p could have been; `detectable` is the smallest drop that would have been found four
    times in five if this were the only row. `within` is the smallest margin within which the difference lies (97.5 %
    on either side). `total`, `total_low` and `total_high` are logarithms of the ratio of totals, for cost and tokens.
    `labels` and `base_labels` count what was said without a score. `checked`: both sides carry a fingerprint of the
    evaluator.
    """

    suite: str
    evaluator: str
    label: Change
    mean: float | None = None
    base: float | None = None
    delta: float | None = None
    n: int = 0
    better: int = 0
    worse: int = 0
    p: float | None = None
    p_worse: float | None = None
    p_better: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    dropped: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    lost: Mapping[str, int] = field(default_factory=dict)
    gained: int = 0
    lost_too_many: bool = False
    reason: str = ""
    higher_is_better: bool = True
    q: float | None = None
    smallest_p: float | None = None
    within: float | None = None
    total: float | None = None
    total_low: float | None = None
    total_high: float | None = None
    clusters: int = 0
    checked: bool = True
    measure: Measure = Measure.SCORE
    labels: Mapping[str, int] = field(default_factory=dict)
    base_labels: Mapping[str, int] = field(default_factory=dict)

    @property
    def gain(self) -> float:
        """`delta`, signed so that more is better; 0 where nothing was compared."""
        return (self.delta or 0.0) * (1 if self.higher_is_better else -1)


def label_rows(rows: Sequence[Row], criteria: Criteria) -> list[Row]:
    """The rows with corrected p-values and the labels that depend on them.

    The family is every compared row whose p could have been as small as alpha.
    Source: Tarone (1990), Biometrics 46:515; Benjamini and Hochberg (1995).
    """
    family = [at for at, row in enumerate(rows) if is_in_family(row, criteria.alpha)]
    corrected = correct_by_direction(
        [_p_or_one(rows[at].p_worse) for at in family], [_p_or_one(rows[at].p_better) for at in family]
    )
    found = dict(zip(family, corrected, strict=True))
    return [_with_label(replace(row, q=found.get(at)), criteria) for at, row in enumerate(rows)]


def _p_or_one(p: float | None) -> float:
    return 1.0 if p is None else p


def is_in_family(row: Row, alpha: float) -> bool:
    """Whether a row was compared, and could have been called better or worse at all."""
    return row.label in _COMPARED and row.smallest_p is not None and row.smallest_p <= alpha


def _with_label(row: Row, criteria: Criteria) -> Row:
    if row.label is not Change.NOISE:
        return row
    own = criteria.of(row.evaluator) if row.measure is Measure.SCORE else criteria.of_ratios
    return replace(row, label=_choose_label(row, criteria, own))


def _choose_label(row: Row, criteria: Criteria, own: EvaluatorCriteria) -> Change:
    if not row.better and not row.worse:
        return Change.UNCHANGED
    falls = _p_or_one(row.p_worse) < _p_or_one(row.p_better)
    effect = -row.gain if falls else row.gain
    if row.q is not None and row.q <= criteria.alpha and effect > 0 and effect >= (own.min_effect or 0.0):
        return Change.WORSE if falls else Change.BETTER
    if row.within is not None and row.within <= (own.margin or 0.0):
        return Change.EQUIVALENT
    return Change.NOISE


_PART_NAMES = {"source": "its code", "prompt": "its prompt", "parameters": "its parameters"}


def describe_fingerprint_change(new: EvaluatorInfo, old: EvaluatorInfo) -> str:
    """In words; empty where nothing changed, or where neither side has a fingerprint.

    Another version says it all; one that differs in nothing but its number gives the same scores. A fingerprint that
    one side alone has is a change, as it can't be checked that the evaluator is the same.
    """
    if new.higher_is_better != old.higher_is_better:
        return "its direction changed (higher_is_better)"
    mine, theirs = new.fingerprint or Fingerprint(), old.fingerprint or Fingerprint()
    if (mine == Fingerprint()) != (theirs == Fingerprint()):
        known, unknown = ("now", "in the base") if theirs == Fingerprint() else ("in the base", "now")
        return f"its fingerprint is known {known}, unknown {unknown}"
    if mine.version and theirs.version and mine.version != theirs.version and not _are_equal(mine, theirs):
        return f"judge {new.id} {theirs.version} -> {mine.version}"
    if mine.model and theirs.model and mine.model != theirs.model:
        return f"its model changed: {theirs.model} → {mine.model}"
    differ = [words for part, words in _PART_NAMES.items() if _differ(getattr(mine, part), getattr(theirs, part))]
    return f"{' and '.join(differ)} changed" if differ else ""


def _are_equal(one: Fingerprint, other: Fingerprint) -> bool:
    known = one.source is not None or one.prompt is not None
    return known and replace(one, version=None) == replace(other, version=None)


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other


QUANTITIES: dict[Measure, Values] = {
    Measure.LATENCY: lambda columns: columns.durations_ms,
    Measure.COST: lambda columns: columns.costs,
    Measure.TOKENS: lambda columns: columns.tokens,
}


def new_rows(suite: SuiteResult, reason: str) -> Iterator[Row]:
    """The rows of a suite that the base does not have."""
    for name, info in suite.evaluators.items():
        mean, labels = suite.mean(name), suite.columns.labels.get(name, {})
        label = Change.NEW if mean is not None or labels else Change.UNMEASURABLE
        upwards = info.higher_is_better
        yield Row(suite.label, name, label, mean, reason=reason, higher_is_better=upwards, labels=labels)


def removed_rows(old: SuiteResult) -> Iterator[Row]:
    """The rows of a suite that only the base has."""
    for name in old.evaluators:
        yield Row(old.label, name, Change.REMOVED, base=old.mean(name), reason="this suite is gone")


def score_rows(
    suite: SuiteResult, olds: Sequence[SuiteResult], criteria: Criteria, *, extras: ExtraTrials | None = None
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
            yield Row(suite.label, name, Change.REMOVED, base=old.mean(name), reason="this evaluator is gone")


def _score_row(
    suite: SuiteResult,
    olds: Sequence[SuiteResult],
    name: str,
    *,
    criteria: Criteria,
    cases: CaseSets,
    extras: ExtraTrials | None,
) -> Row:
    info, known = suite.evaluators[name], olds[0].evaluators.get(name)
    here, there = score_side([suite.columns], name), score_side([old.columns for old in olds], name)
    pairs = pair_sides(here, there, suite.columns)
    mean, base = (pairs.mean, pairs.base) if pairs.n else (suite.mean(name), olds[0].mean(name))
    change = "" if known is None else describe_fingerprint_change(info, known)
    lost = find_lost_scores(suite.columns, [old.columns for old in olds], name, cases, here=here, there=there)
    row = Row(suite.label, name, Change.NOISE, mean, base, lost=lost.reasons, gained=lost.gained)
    if not here.means:
        return _with_lost_scores(row, suite, change, known=known is not None)
    if change and not _error_problem(pairs, criteria):
        return replace(row, label=Change.NOT_COMPARABLE, mean=suite.mean(name), base=olds[0].mean(name), reason=change)
    if known is None or (not there.means and not pairs.dropped):
        return replace(row, label=Change.NEW, base=None, reason="no base score of this evaluator yet")
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
    row = _with_estimate(row, pairs, criteria, scale=1.0, sharper=sharper, estimate=not change)
    if not info.battles and row.label is not Change.UNMEASURABLE and lost.too_many(criteria.max_lost, criteria.alpha):
        reason = f"{lost.reasons[Reason.NONE]:,} of {lost.of:,} cases lost their score: the evaluator returned None"
        row = replace(row, label=Change.UNMEASURABLE, reason=reason, lost_too_many=True)
    return row


def _with_lost_scores(row: Row, suite: SuiteResult, change: str, *, known: bool) -> Row:
    if suite.columns.labels.get(row.evaluator):
        label = Change.NOT_COMPARABLE if change else Change.LABELS if known else Change.NEW
        return replace(row, label=label, reason=change)
    reason = "no case has a score" if len(suite.columns) else "no case was run"
    return replace(row, label=Change.UNMEASURABLE, reason=reason)


@dataclass(frozen=True, slots=True)
class ExtraTrials:
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
        here, there = quantity_side([suite.columns], values), quantity_side([old.columns for old in olds], values)
        pairs = pair_sides(log_side(here), log_side(there), suite.columns)
        if not pairs.n:
            continue
        mean, base, _ = shared_means(here, there)
        row = Row(suite.label, measure.value, Change.NOISE, mean, base, higher_is_better=False, measure=measure)
        row = _with_estimate(row, pairs, criteria, scale=None)
        total = None if measure is Measure.LATENCY else ratio_of_totals(here, there)
        if total is not None:
            row = replace(row, total=total.value, total_low=total.low, total_high=total.high)
        yield row


def _with_estimate(
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
        row = _estimate_row(row, pairs, scale, sharper)
    row = replace(row, dropped=pairs.dropped)
    if reason := _error_problem(pairs, criteria):
        return replace(row, label=Change.UNMEASURABLE, reason=reason)
    if not pairs.n:
        return replace(row, label=Change.NEW, reason="no case has a score in both runs")
    return replace(row, label=Change.TOO_FEW) if len(pairs.clusters) < criteria.few else row


def _error_problem(pairs: Pairs, criteria: Criteria) -> str:
    """In words; empty where the share of pairs that were dropped is bearable."""
    tried = pairs.n + pairs.dropped
    bearable = pairs.dropped <= criteria.max_dropped * tried
    return "" if bearable else f"{pairs.dropped:,} of {tried:,} pairs have an error"


def _estimate_row(row: Row, pairs: Pairs, scale: float | None, sharper: Pairs | None) -> Row:
    found = estimate_difference(pairs, scale=scale, sharper=sharper)
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
