"""The rows of a comparison, before their p-values are corrected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from types import MappingProxyType

from scoregate.kernel.compare.adjustment import Adjustment
from scoregate.kernel.compare.agreeing_runs import suites_with_evaluator
from scoregate.kernel.compare.estimates import Units, collect_units, estimate_difference
from scoregate.kernel.compare.extra_trials import ExtraTrials
from scoregate.kernel.compare.lost_scores import CaseSets, LostScores, find_lost_scores
from scoregate.kernel.compare.pairing import (
    Pairs,
    Side,
    case_clusters,
    pair_sides,
    score_side,
)
from scoregate.kernel.compare.run_movement import RunMovement, measure_movement
from scoregate.kernel.compare.statistics.distributions import normal_quantile
from scoregate.kernel.compare.statistics.intervals import measure_spread
from scoregate.kernel.compare.statistics.significance import exact_sign_flip_p
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.limit_checks import exceeds_share, round_off
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.evidence import TrialOrigin
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.runs.score_rules import describe_unscaled, find_unscaled

# An accepted row fails again at a level of 0.5 %: a project has several entries.
_WIDER = normal_quantile(0.995) / normal_quantile(0.975)


class RowLabel(StrEnum):
    """The label of a row: the first that applies, in this order."""

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
    UNAFFECTED = "not affected"
    EXPLAINED = "drift"  # by an adjustment; `result.json` had it before there were others


class Measure(StrEnum):
    """The quantity that a row compares."""

    SCORE = "score"
    LATENCY = "latency"
    COST = "cost"
    TOKENS = "tokens"


@record
class Row:
    """The comparison of one evaluator of one suite, or of the suite's latency, cost or tokens.

    Scores and `delta` are in [0, 1]. For latency, cost and tokens, `mean` and `base` are milliseconds, US dollars or
    counts per case; `delta`, `low`, `high` and `detectable` are natural logarithms of the ratio run / baseline.

    Attributes:
        suite: the label of the suite.
        evaluator: the id of the evaluator, or the name of the measure.
        label: the result of the comparison.
        mean: the run's mean over the pairs; without pairs, and with `kept`, over all its cases.
        base: the baseline's mean, likewise.
        delta: run − baseline over the pairs.
        n: the number of pairs.
        better: the number of pairs that got better.
        worse: the number of pairs that got worse.
        p: the two-sided p of this row, without correction.
        p_worse: the one-sided p for getting worse, without correction; with too few pairs the exact p, without mid-p.
        p_better: the one-sided p for getting better, likewise; of scores with one more case that falls.
        low: the lower end of the 95 % interval of `delta`.
        high: the upper end of the 95 % interval of `delta`.
        detectable: the smallest drop found with a power of 80 %, without correction.
        dropped: the number of cases without a pair because of an error on one side.
        added: the number of cases in the run only.
        removed: the number of cases in the baseline only.
        changed: the number of cases with a different definition under the same hash.
        lost: the number of cases with a score in the baseline only, by `Reason`.
        gained: the number of cases with a score in the run only.
        lost_too_many: whether the row is unmeasurable because so many scores are lost to None.
        unscaled: whether the row is unmeasurable because scores of one side are on no known scale.
        reason: an explanation of the label; may be empty.
        higher_is_better: whether a higher value is better.
        q: the p corrected for all rows of a kind, by direction; labels and gates use it.
        smallest_p: the smallest p that was possible.
        within: the smallest margin such that the difference lies in ± margin (97.5 % confidence on each side).
        total: the logarithm of the ratio of totals, for cost and tokens.
        total_low: the lower end of the interval of `total`.
        total_high: the upper end of the interval of `total`.
        clusters: the number of clusters of the pairs.
        checked: whether both sides have a fingerprint of the evaluator.
        measure: the quantity that the row compares.
        labels: the number of labels given instead of scores, by label.
        base_labels: the number of labels in the baseline, by label.
        setup_change: how the model, the arguments or the tools under test differ from the baseline's; or empty.
        accepted: the entry that accepts a regression of this row; None without one.
        base_runs: the number of runs of the baseline whose scores of the evaluator count.
        movement: how far whole runs move without any change; None if that is unknown.
        adjustment: another cause of the change; None if none was measured. If it has a `delta`, that of the row, its
            interval and the p are those of the change without this cause.
        kept: the number of trials that keep the base's results. They are in the means, and not compared.
        min_effect: the smallest change that gets a label, if the change is significant and smaller; None otherwise.
        units: what random signs flip.
    """

    suite: str
    evaluator: str
    label: RowLabel
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
    unscaled: bool = False
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
    setup_change: str = ""
    accepted: AcceptedRegression | None = None
    base_runs: int = 1
    movement: RunMovement | None = None
    adjustment: Adjustment | None = None
    kept: int = 0
    min_effect: float | None = None
    units: Units = field(default_factory=Units)

    @property
    def is_accepted(self) -> bool:
        """Whether it is worse, and not certainly by more than an entry accepts.

        An entry accepts the drop that was seen when it was written. Every second run of the same code drops by more.
        """
        return self.label is RowLabel.WORSE and self.accepted is not None and self.accepted.allows(self._least_drop())

    def _least_drop(self) -> float:
        """The smallest plausible drop at a one-sided level of 0.5 %; that of the interval is 2.5 %."""
        delta, near = self.delta or 0.0, self.high if self.higher_is_better else self.low
        half_width = 0.0 if near is None else abs(near - delta)
        return round_off(-self.gain - half_width * _WIDER)

    @property
    def gain(self) -> float:
        """`delta` without its last digits, with the sign changed if lower is better; 0 if nothing was compared."""
        return round_off((self.delta or 0.0) * (1 if self.higher_is_better else -1))

    @property
    def effect(self) -> float:
        """The change of the mean over all cases, with the sign of `gain`: kept results are in it, with no change."""
        if not self.kept or self.mean is None or self.base is None:
            return self.gain
        return round_off((self.mean - self.base) * (1 if self.higher_is_better else -1))


def new_rows(suite: SuiteResult, reason: str) -> Iterator[Row]:
    """The rows of a suite that only the run has; `reason` explains why."""
    for name, info in suite.evaluators.items():
        mean, labels = suite.mean(name), suite.columns.labels.get(name, {})
        has_scores = mean is not None or bool(labels)
        why = describe_unscaled(suite, name) or (reason if has_scores else _describe_no_scores(suite, info))
        label = RowLabel.NEW if has_scores else RowLabel.UNMEASURABLE
        higher_is_better = info.higher_is_better
        yield Row(suite.label, name, label, mean, reason=why, higher_is_better=higher_is_better, labels=labels)


def carried_rows(suite: SuiteResult, baseline: SuiteResult) -> Iterator[Row]:
    """The rows of a suite that did not run because no change can affect it: its scores are no new evidence."""
    source = suite.trials.find_run(TrialOrigin.CARRIED)
    name = source.name if source is not None else ""
    for evaluator, info in suite.evaluators.items():
        mean, base, labels = suite.mean(evaluator), baseline.mean(evaluator), suite.columns.labels.get(evaluator, {})
        row = Row(suite.label, evaluator, RowLabel.UNAFFECTED, mean, base, higher_is_better=info.higher_is_better)
        yield replace(row, labels=labels, base_labels=labels, reason=f"results of {name}")


def removed_rows(baseline: SuiteResult) -> Iterator[Row]:
    """The rows of a suite that only the baseline has."""
    for name in baseline.evaluators:
        yield Row(baseline.label, name, RowLabel.REMOVED, base=baseline.mean(name), reason="this suite is gone")


@record
class ScoredRow:
    """A row before it is known whether it lost too many scores, which depends on all rows.

    Attributes:
        row: the row.
        lost: its lost scores.
        max_lost: the largest share of scores that may be lost, in [0, 1].
    """

    row: Row
    lost: LostScores = field(default_factory=LostScores)
    max_lost: float = 1.0


def score_rows(
    suite: SuiteResult,
    baseline_suites: Sequence[SuiteResult],
    criteria: Criteria,
    *,
    extras: ExtraTrials | None = None,
    run_means: Mapping[str, Sequence[float]] = MappingProxyType({}),
) -> Iterator[ScoredRow]:
    """A row for each evaluator that the suite or its baseline has.

    Args:
        suite: the suite of the run.
        baseline_suites: the suite in the runs of the baseline, the newest first.
        criteria: the level and the smallest effects that count.
        extras: more trials of some cases on both sides, chosen by the results of the first trials.
        run_means: the means of runs between which nothing changed, by evaluator.
    """
    baseline = baseline_suites[0]
    cases = CaseSets.from_columns(suite.columns, baseline.columns)
    for name in suite.evaluators:
        means, known = run_means.get(name, ()), suites_with_evaluator(baseline_suites, name)
        scored = _score_row(suite, known, name, criteria=criteria, cases=cases, extras=extras, run_means=means)
        row = replace(scored.row, base_runs=len(known))
        labels, base_labels = (each.columns.labels.get(name, {}) for each in (suite, baseline))
        row = replace(row, labels=labels, base_labels=base_labels) if labels or base_labels else row
        yield replace(scored, row=row)
    for name in baseline.evaluators:
        if name not in suite.evaluators:
            reason = "this evaluator is gone"
            yield ScoredRow(Row(suite.label, name, RowLabel.REMOVED, base=baseline.mean(name), reason=reason))


def _describe_no_scores(suite: SuiteResult, info: EvaluatorInfo) -> str:
    if not len(suite.columns):
        return "no case was run"
    return "the baseline has no outputs to compare with" if info.battles else "no case has a score"


def _score_row(
    suite: SuiteResult,
    baseline_suites: Sequence[SuiteResult],
    name: str,
    *,
    criteria: Criteria,
    cases: CaseSets,
    extras: ExtraTrials | None,
    run_means: Sequence[float],
) -> ScoredRow:
    info, base_info = suite.evaluators[name], baseline_suites[0].evaluators.get(name)
    new, baseline = score_side([suite.columns], name), score_side([each.columns for each in baseline_suites], name)
    pairs = pair_sides(new, baseline, case_clusters(suite.columns))
    mean, base = (pairs.mean, pairs.base) if pairs.n else (suite.mean(name), baseline_suites[0].mean(name))
    change = "" if base_info is None else describe_fingerprint_change(info, base_info)
    lost = find_lost_scores(
        suite.columns, [each.columns for each in baseline_suites], name, cases, new=new, baseline=baseline
    )
    row = Row(suite.label, name, RowLabel.NOISE, mean, base, lost=lost.reasons, gained=lost.gained)
    if reason := find_unscaled(suite, [] if change or not new.means else baseline_suites, name):
        row = replace(row, mean=suite.mean(name), base=baseline_suites[0].mean(name), reason=reason)
        return ScoredRow(replace(row, label=RowLabel.UNMEASURABLE, unscaled=base_info is not None))
    if not new.means and suite.columns.labels.get(name):
        label = RowLabel.NOT_COMPARABLE if change else RowLabel.NEW if base_info is None else RowLabel.LABELS
        return ScoredRow(replace(row, label=label, reason=change))
    if not new.means:
        return ScoredRow(replace(row, label=RowLabel.UNMEASURABLE, reason=_describe_no_scores(suite, info)))
    if change and not _error_problem(pairs, criteria):
        mean, base = suite.mean(name), baseline_suites[0].mean(name)
        return ScoredRow(replace(row, label=RowLabel.NOT_COMPARABLE, mean=mean, base=base, reason=change))
    if base_info is None or (not baseline.means and not pairs.errored):
        reason = "no baseline score of this evaluator yet"
        return ScoredRow(replace(row, label=RowLabel.NEW, base=None, reason=reason))
    direction = criteria.evaluator_criteria(name).higher_is_better
    row = replace(
        row,
        added=cases.added,
        removed=cases.removed,
        changed=len(cases.redefined),
        higher_is_better=info.higher_is_better if direction is None else direction,
        checked=info.fingerprint is not None and base_info.fingerprint is not None,
        movement=_measure_movement(run_means, pairs, new, baseline, runs=len(baseline_suites)),
    )
    test_pairs = None if extras is None else extras.pair_with_first(suite.columns, baseline_suites, name)
    row = with_estimate(row, pairs, criteria, scale=1.0, test_pairs=test_pairs, estimate=not change)
    return ScoredRow(row) if info.battles else ScoredRow(row, lost, criteria.max_lost)


def _measure_movement(
    means: Sequence[float], pairs: Pairs, new: Side, baseline: Side, *, runs: int
) -> RunMovement | None:
    if not pairs.n or not means:
        return None
    error = measure_spread(pairs.clusters).error
    return measure_movement(means, error, trials=new.mean_trials, base_trials=baseline.mean_trials, pooled=runs)


def with_estimate(
    row: Row,
    pairs: Pairs,
    criteria: Criteria,
    *,
    scale: float | None,
    test_pairs: Pairs | None = None,
    estimate: bool = True,
) -> Row:
    """The row with its estimate; a label other than `within noise` is final.

    Args:
        row: the row without an estimate.
        pairs: the pairs of the row.
        criteria: how many errors a row may have, and how many clusters it needs.
        scale: see `estimate_difference`, as `test_pairs`.
        estimate: whether to estimate at all.
    """
    if pairs.n and estimate:
        difference = estimate_difference(
            pairs, scale=scale, test_pairs=test_pairs, movement=row.movement, higher_is_better=row.higher_is_better
        )
        better, worse = (pairs.rose, pairs.fell) if row.higher_is_better else (pairs.fell, pairs.rose)
        lower, upper = difference.p_lower, difference.p_upper
        is_exact = len(pairs.clusters) < criteria.few
        if is_exact and (exact := exact_sign_flip_p((test_pairs or pairs).sums)) is not None:
            lower, upper = max(lower, exact[0]), max(upper, exact[1])
        units = collect_units(
            test_pairs or pairs,
            few=criteria.few,
            higher_is_better=row.higher_is_better,
            is_bounded=scale is not None,
        )
        row = replace(
            row,
            units=units,
            delta=difference.delta,
            n=pairs.n,
            clusters=len(pairs.clusters),
            better=better,
            worse=worse,
            p=difference.p,
            p_worse=lower if row.higher_is_better else upper,
            p_better=max(upper if row.higher_is_better else lower, difference.p_with_fall),
            smallest_p=difference.smallest_p,
            low=difference.low,
            high=difference.high,
            detectable=difference.detectable,
            within=difference.smallest_margin,
        )
    row = replace(row, dropped=pairs.errored)
    if reason := _error_problem(pairs, criteria):
        return replace(row, label=RowLabel.UNMEASURABLE, reason=reason)
    if not pairs.n:
        return replace(row, label=RowLabel.NEW, reason="no case has a score in both runs")
    return replace(row, label=RowLabel.TOO_FEW) if len(pairs.clusters) < criteria.few else row


def _error_problem(pairs: Pairs, criteria: Criteria) -> str:
    """Why too many pairs have an error; empty if their share is allowed."""
    total = pairs.n + pairs.errored
    is_too_many = exceeds_share(pairs.errored, total, criteria.max_dropped)
    return f"{pairs.errored:,} of {total:,} pairs have an error" if is_too_many else ""
