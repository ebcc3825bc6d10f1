"""The rows of a comparison, before their p-values are corrected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from types import MappingProxyType

from scoregate.kernel.compare.adjustment import Adjustment
from scoregate.kernel.compare.agreeing_runs import suites_with_evaluator
from scoregate.kernel.compare.estimates import Estimate, NoEstimate, PairSummary, estimate_difference, summarize_pairs
from scoregate.kernel.compare.extra_trials import ExtraTrials
from scoregate.kernel.compare.lost_scores import CaseChanges, CaseSets, LostScores, Reason, find_lost_scores
from scoregate.kernel.compare.pairing import Pairs, Side, case_clusters, pair_sides, score_side
from scoregate.kernel.compare.ratios import Ratio
from scoregate.kernel.compare.run_movement import RunMovement, measure_movement
from scoregate.kernel.compare.statistics.distributions import normal_quantile
from scoregate.kernel.compare.statistics.intervals import measure_spread
from scoregate.kernel.types.amounts import exceeds_share, round_off
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
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
class Correction:
    """How the p of a row was corrected.

    Attributes:
        q: the p corrected for all rows of a kind, by direction; labels and gates use it. None for rows in no family.
        min_effect: the smallest change that gets a label, if the change is significant and smaller; None otherwise.
    """

    q: float | None = None
    min_effect: float | None = None


@record
class LabelCounts:
    """The number of labels given instead of scores, by label, in the run and in the baseline."""

    run: Mapping[str, int] = field(default_factory=dict)
    base: Mapping[str, int] = field(default_factory=dict)


@record
class BaseRuns:
    """The runs of the baseline that a row is compared with.

    Attributes:
        count: the number of runs whose scores of the evaluator count.
        movement: how far whole runs move without any change; None if that is unknown.
    """

    count: int = 1
    movement: RunMovement | None = None


@record
class Row:
    """The comparison of one evaluator of one suite, or of the suite's latency, cost or tokens.

    Scores and `delta` are in [0, 1]. For latency, cost and tokens, `mean` and `base` are milliseconds, US dollars or
    counts per case; the estimate is of natural logarithms of the ratio run / baseline.

    Attributes:
        suite: the label of the suite.
        evaluator: the id of the evaluator, or the name of the measure.
        label: the result of the comparison.
        mean: the run's mean over the pairs; without pairs, and with kept results, over all its cases.
        base: the baseline's mean, likewise.
        estimate: the change over the pairs, run − baseline, or the reason why it is unknown.
        pairs: counts of the pairs.
        cases: counts of the cases that are not the same on both sides.
        lost: the cases with a score on one side only.
        unscaled: whether the row is unmeasurable because scores of one side are on no known scale.
        higher_is_better: whether a higher value is better.
        correction: the p corrected for the number of rows.
        total: the ratio of totals, for cost and tokens.
        checked: whether both sides have a fingerprint of the evaluator.
        measure: the quantity that the row compares.
        labels: the labels given instead of scores.
        setup_change: how the model, the arguments or the tools under test differ from the baseline's; or empty.
        accepted: the entry that accepts a regression of this row; None without one.
        base_runs: the runs of the baseline.
        adjustment: another cause of the change; None if none was measured. If it has a `delta`, the estimate is that of
            the change without this cause.
    """

    suite: str
    evaluator: str
    label: RowLabel
    mean: float | None = None
    base: float | None = None
    estimate: Estimate | NoEstimate = field(default_factory=NoEstimate)
    pairs: PairSummary = field(default_factory=PairSummary)
    cases: CaseChanges = field(default_factory=CaseChanges)
    lost: LostScores = field(default_factory=LostScores)
    unscaled: bool = False
    higher_is_better: bool = True
    correction: Correction = field(default_factory=Correction)
    total: Ratio | None = None
    checked: bool = True
    measure: Measure = Measure.SCORE
    labels: LabelCounts = field(default_factory=LabelCounts)
    setup_change: str = ""
    accepted: AcceptedRegression | None = None
    base_runs: BaseRuns = field(default_factory=BaseRuns)
    adjustment: Adjustment | None = None

    @property
    def reason(self) -> str:
        """An explanation of the label; may be empty."""
        return self.estimate.reason

    @property
    def delta(self) -> float | None:
        """The mean change over the pairs, run − baseline."""
        return self.estimate.delta

    @property
    def p_worse(self) -> float:
        """The one-sided p for getting worse, without correction; with too few pairs the exact p, without mid-p."""
        return self.estimate.p_lower if self.higher_is_better else self.estimate.p_upper

    @property
    def p_better(self) -> float:
        """The one-sided p for getting better, likewise; of scores with one more case that falls."""
        p = self.estimate.p_upper if self.higher_is_better else self.estimate.p_lower
        return max(p, self.estimate.p_with_fall)

    @property
    def is_accepted(self) -> bool:
        """Whether it is worse, and not certainly by more than an entry accepts.

        An entry accepts the drop that was seen when it was written. Every second run of the same code drops by more.
        """
        return self.label is RowLabel.WORSE and self.allows_drop

    @property
    def allows_drop(self) -> bool:
        """Whether an entry accepts its drop, also one that is within noise."""
        return self.accepted is not None and self.accepted.allows(self._least_drop())

    def _least_drop(self) -> float:
        """The smallest plausible drop at a one-sided level of 0.5 %; that of the interval is 2.5 %."""
        delta, interval = self.delta or 0.0, self.estimate.interval
        half_width = 0.0 if interval is None else abs(interval[1 if self.higher_is_better else 0] - delta)
        return round_off(-self.gain - half_width * _WIDER)

    @property
    def gain(self) -> float:
        """`delta` without its last digits, with the sign changed if lower is better; 0 if nothing was compared."""
        return round_off((self.delta or 0.0) * (1 if self.higher_is_better else -1))

    @property
    def effect(self) -> float:
        """The change of the mean over all cases, with the sign of `gain`: kept results are in it, with no change."""
        if not self.cases.kept or self.mean is None or self.base is None:
            return self.gain
        return round_off((self.mean - self.base) * (1 if self.higher_is_better else -1))

    def reject(self, reason: str) -> Row:
        """The row, whose estimate doesn't count."""
        return replace(self, label=RowLabel.UNMEASURABLE, estimate=replace(self.estimate, reason=reason))

    def reject_lost(self, explanation: str = "") -> Row:
        """The row, which lost too many scores; another reason why it is unmeasurable stays."""
        if self.label is RowLabel.UNMEASURABLE:
            return self
        count = f"{self.lost.reasons[Reason.NONE]:,} of {self.lost.total:,} cases"
        lost = replace(self.lost, too_many=True)
        return replace(self.reject(f"{count} lost their score{explanation}"), lost=lost)


def new_rows(suite: SuiteResult, reason: str) -> Iterator[Row]:
    """The rows of a suite that only the run has; `reason` explains why."""
    for name, info in suite.evaluators.items():
        mean, labels = suite.mean(name), suite.columns.labels.get(name, {})
        has_scores = mean is not None or bool(labels)
        why = describe_unscaled(suite, name) or (reason if has_scores else _describe_no_scores(suite, info))
        label = RowLabel.NEW if has_scores else RowLabel.UNMEASURABLE
        row = Row(suite.label, name, label, mean, estimate=NoEstimate(why), higher_is_better=info.higher_is_better)
        yield replace(row, labels=LabelCounts(labels)) if labels else row


def carried_rows(suite: SuiteResult, baseline: SuiteResult) -> Iterator[Row]:
    """The rows of a suite that did not run because no change can affect it: its scores are no new evidence."""
    source = suite.trials.find_run(TrialOrigin.CARRIED)
    reason = NoEstimate(f"results of {source.name if source is not None else ''}")
    for evaluator, info in suite.evaluators.items():
        mean, base, labels = suite.mean(evaluator), baseline.mean(evaluator), suite.columns.labels.get(evaluator, {})
        yield Row(
            *(suite.label, evaluator, RowLabel.UNAFFECTED, mean, base, reason),
            higher_is_better=info.higher_is_better,
            labels=LabelCounts(labels, labels),
        )


def removed_rows(baseline: SuiteResult) -> Iterator[Row]:
    """The rows of a suite that only the baseline has."""
    for name in baseline.evaluators:
        yield _removed_row(baseline.label, baseline, name, "this suite is gone")


def _removed_row(suite: str, baseline: SuiteResult, name: str, reason: str) -> Row:
    return Row(suite, name, RowLabel.REMOVED, base=baseline.mean(name), estimate=NoEstimate(reason))


@record
class ScoredRow:
    """A row before it is known whether it lost too many scores, which depends on all rows.

    Attributes:
        row: the row.
        max_lost: the largest share of scores that may be lost, in [0, 1]; None if that doesn't matter.
    """

    row: Row
    max_lost: float | None = None


def score_rows(
    suite: SuiteResult,
    baseline_suites: Sequence[SuiteResult],
    criteria: Criteria,
    *,
    extras: ExtraTrials | None = None,
    run_means: Mapping[str, Sequence[float]] = MappingProxyType({}),
    setup_change: str = "",
) -> Iterator[ScoredRow]:
    """A row for each evaluator that the suite or its baseline has.

    Args:
        suite: the suite of the run.
        baseline_suites: the suite in the runs of the baseline, the newest first.
        criteria: the level and the smallest effects that count.
        extras: more trials of some cases on both sides, chosen by the results of the first trials.
        run_means: the means of runs between which nothing changed, by evaluator.
        setup_change: how the setup of the suite differs from the baseline's.
    """
    baseline = baseline_suites[0]
    cases = CaseSets.from_columns(suite.columns, baseline.columns)
    for name in suite.evaluators:
        means, known = run_means.get(name, ()), suites_with_evaluator(baseline_suites, name)
        labels = LabelCounts(*(each.columns.labels.get(name, {}) for each in (suite, baseline)))
        row = Row(
            suite.label, name, RowLabel.NOISE, labels=labels, base_runs=BaseRuns(len(known)), setup_change=setup_change
        )
        yield _score_row(row, suite, known, criteria=criteria, cases=cases, extras=extras, run_means=means)
    for name in baseline.evaluators:
        if name not in suite.evaluators:
            row = _removed_row(suite.label, baseline, name, "this scorer is gone")
            yield ScoredRow(replace(row, setup_change=setup_change))


def _describe_no_scores(suite: SuiteResult, info: EvaluatorInfo) -> str:
    if not len(suite.columns):
        return "no case was run"
    return "the baseline has no outputs to compare with" if info.battles else "no case has a score"


def _score_row(
    row: Row,
    suite: SuiteResult,
    baseline_suites: Sequence[SuiteResult],
    *,
    criteria: Criteria,
    cases: CaseSets,
    extras: ExtraTrials | None,
    run_means: Sequence[float],
) -> ScoredRow:
    name, runs = row.evaluator, row.base_runs
    info, base_info = suite.evaluators[name], baseline_suites[0].evaluators.get(name)
    base_columns = [each.columns for each in baseline_suites]
    new, baseline = score_side([suite.columns], name), score_side(base_columns, name)
    pairs = pair_sides(new, baseline, case_clusters(suite.columns))
    change = "" if base_info is None else describe_fingerprint_change(info, base_info)
    lost = find_lost_scores(suite.columns, base_columns, name, cases, new=new, baseline=baseline)
    unscaled = find_unscaled(suite, [] if change or not new.means else baseline_suites, name)
    is_changed = bool(change) and not _error_problem(pairs, criteria)
    is_paired = pairs.n and not unscaled and not is_changed
    mean, base = (pairs.mean, pairs.base) if is_paired else (suite.mean(name), baseline_suites[0].mean(name))
    row = replace(row, mean=mean, base=base, lost=lost)
    if unscaled:
        return ScoredRow(replace(row.reject(unscaled), unscaled=base_info is not None))
    if not new.means and suite.columns.labels.get(name):
        label = RowLabel.NOT_COMPARABLE if change else RowLabel.NEW if base_info is None else RowLabel.LABELS
        return ScoredRow(replace(row, label=label, estimate=NoEstimate(change)))
    if not new.means:
        return ScoredRow(row.reject(_describe_no_scores(suite, info)))
    if is_changed:
        return ScoredRow(replace(row, label=RowLabel.NOT_COMPARABLE, estimate=NoEstimate(change)))
    if base_info is None or (not baseline.means and not pairs.errored):
        unknown = NoEstimate("no baseline score of this scorer yet")
        return ScoredRow(replace(row, label=RowLabel.NEW, base=None, estimate=unknown))
    direction = criteria.evaluator_criteria(name).higher_is_better
    row = replace(
        row,
        cases=cases.changes,
        higher_is_better=info.higher_is_better if direction is None else direction,
        checked=info.fingerprint is not None and base_info.fingerprint is not None,
        base_runs=replace(runs, movement=_measure_movement(run_means, pairs, new, baseline, runs=runs.count)),
    )
    test_pairs = None if extras is None else extras.pair_with_first(suite.columns, baseline_suites, name)
    row = with_estimate(row, pairs, criteria, scale=1.0, test_pairs=test_pairs, estimate=not change)
    return ScoredRow(row, None if info.battles else criteria.max_lost)


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
        few, is_bounded, rises = criteria.few, scale is not None, row.higher_is_better
        found = estimate_difference(
            pairs,
            scale=scale,
            test_pairs=test_pairs,
            movement=row.base_runs.movement,
            higher_is_better=rises,
            few=few,
        )
        counts = summarize_pairs(pairs, test_pairs, few=few, higher_is_better=rises, is_bounded=is_bounded)
        row = replace(row, estimate=found, pairs=counts)
    elif pairs.errored:
        row = replace(row, pairs=PairSummary(dropped=pairs.errored))
    if reason := _error_problem(pairs, criteria):
        return row.reject(reason)
    if not pairs.n:
        return replace(row, label=RowLabel.NEW, estimate=NoEstimate("no case has a score in both runs"))
    return replace(row, label=RowLabel.TOO_FEW) if len(pairs.clusters) < criteria.few else row


def _error_problem(pairs: Pairs, criteria: Criteria) -> str:
    """Why too many pairs have an error, and on which side; empty if their share is allowed."""
    total = pairs.n + pairs.errored
    if not exceeds_share(pairs.errored, total, criteria.max_dropped):
        return ""
    return f"{pairs.errored:,} of {total:,} pairs have an error {pairs.describe_errors()}"
