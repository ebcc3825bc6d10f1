"""The number of cases or repeats needed to detect a drop, from the measured variance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isnan, sqrt
from statistics import fmean

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.pairing import pair_scores
from scoregate.kernel.compare.statistics.intervals import (
    detectable_change,
    find_smallest,
    measure_spread,
    required_clusters,
)
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_means import score_trials
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import SuiteResult

MOST_REPEATS = 1_000


@record
class RequiredSize:
    """The size that one evaluator of one suite needs, without a correction for other rows.

    Attributes:
        suite: the label of the suite.
        evaluator: the id of the evaluator.
        n: the number of cases that were measured.
        repeats: the mean number of trials per case.
        detectable: the smallest drop of the mean that these cases and repeats detect with a power of 80 %.
        cases: the number of cases that detect the wanted drop, with the same repeats.
        more_repeats: the number of repeats that detect it, with the same cases; None if no number is enough.
        source: what the variance is estimated from.
    """

    suite: str
    evaluator: str
    n: int
    repeats: float
    detectable: float
    cases: int
    more_repeats: int | None
    source: str


@record
class _Variance:
    """The variance of a case's difference between two runs of the same code.

    Attributes:
        between: the part that repeats don't reduce.
        within: the part of one trial on each side; n repeats divide it by n.
        step: the typical difference of a case that differs, with the measured repeats.
        source: what the variance is estimated from.
    """

    between: float
    within: float
    step: float
    source: str

    def with_repeats(self, repeats: float) -> float:
        return self.between + self.within / repeats


def required_sizes(comparison: Comparison, drop: float) -> Iterator[RequiredSize]:
    """Estimate the size that each evaluator needs that scored at least two cases.

    Args:
        comparison: the run and, if there is one, its baseline.
        drop: the drop of the mean score to detect, in (0, 1].
    """
    pairs = dict(comparison.pairs)
    for index, suite in enumerate(comparison.run.suites):
        old = comparison.base.suites[pairs[index]] if comparison.base is not None and index in pairs else None
        for name in suite.evaluators:
            scores: dict[str, list[float]] = {}
            for case, _, score in score_trials([suite.columns], name):
                if not isnan(score):
                    scores.setdefault(case, []).append(score)
            if len(scores) >= 2:
                yield _required_size(list(scores.values()), suite, old, name, drop=drop)


def _required_size(
    trials: list[list[float]], suite: SuiteResult, old: SuiteResult | None, name: str, *, drop: float
) -> RequiredSize:
    n, repeats = len(trials), fmean(len(scores) for scores in trials)
    variance = _estimate_variance(trials, suite, old, name=name, repeats=repeats)
    current = variance.with_repeats(repeats)

    def detectable_with(count: int) -> float:
        """The detectable drop with this number of repeats. Source: Miller (2024), arXiv 2411.00640."""
        expected = variance.with_repeats(count)
        return detectable_change(expected, variance.step * sqrt(expected / current), n)

    cases = required_clusters(current, variance.step, drop)
    more_repeats = None
    if detectable_with(MOST_REPEATS) <= drop:
        more_repeats = find_smallest(lambda count: detectable_with(count) <= drop, 0, MOST_REPEATS)
    return RequiredSize(
        suite.label,
        name,
        n,
        repeats,
        detectable=detectable_change(current, variance.step, n),
        cases=max(Criteria().few, cases),
        more_repeats=more_repeats,
        source=variance.source,
    )


def _estimate_variance(
    trials: list[list[float]], suite: SuiteResult, old: SuiteResult | None, *, name: str, repeats: float
) -> _Variance:
    """Estimate the variance from pairs with the baseline, split by the variance within repeats; else an upper bound.

    Pseudo-cases are added as in `Spread.interval`.
    """
    within = _variance_within_cases(trials)
    pairs = pair_scores(suite.columns, [old.columns], name) if old is not None else None
    if pairs is not None and len(pairs.clusters) >= 2:
        spread = measure_spread(pairs.clusters)
        largest = spread.largest or 1.0
        total = (spread.moment + 2 * largest**2) / (spread.clusters + 2)
        step = sqrt(spread.moment / spread.changed) if spread.changed else largest
        if not spread.changed:
            return _Variance(0.0, total * repeats, step, "all pairs are equal: upper bound")
        if within is None:
            return _Variance(0.0, total * repeats, step, "differences from the baseline; repeats: lower bound")
        noise = min(2 * within, total * repeats)
        return _Variance(total - noise / repeats, noise, step, "differences from the baseline, and repeats")
    if within is not None:
        step = _typical_step(scores for scores in trials if len(scores) > 1)
        return _Variance(
            0.0, 2 * within, step / sqrt(repeats), "repeats" if step else "all repeats are equal: upper bound"
        )
    scores = [scores[0] for scores in trials]
    mean = fmean(scores)
    farthest = max(abs(score - mean) for score in scores) or 1.0
    variance = (sum((score - mean) ** 2 for score in scores) + farthest**2) / (len(scores) + 1)
    source = "all scores are equal: upper bound" if max(scores) == min(scores) else "spread of the scores: upper bound"
    return _Variance(0.0, 2 * variance, _typical_step([sorted(scores)]) or 1.0, source)


def _typical_step(groups: Iterable[list[float]]) -> float:
    """The root mean square of the differences between neighbours that differ; 0 if all are equal."""
    steps = [later - earlier for scores in groups for earlier, later in pairwise(scores) if later != earlier]
    return sqrt(fmean(step * step for step in steps)) if steps else 0.0


def _variance_within_cases(trials: list[list[float]]) -> float | None:
    """The variance of a trial around its case's mean, with one pseudo-deviation; None if no case was repeated."""
    repeated = [scores for scores in trials if len(scores) > 1]
    df = sum(len(scores) - 1 for scores in repeated)
    if not df:
        return None
    deviations = [score - fmean(scores) for scores in repeated for score in scores]
    farthest = max(map(abs, deviations)) or 1.0
    return (sum(deviation**2 for deviation in deviations) + farthest**2) / (df + 1)
