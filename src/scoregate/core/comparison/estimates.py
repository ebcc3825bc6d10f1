"""The estimate of a difference from pairs: its test, its interval and the smallest detectable effect."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field, replace
from math import inf, isfinite, log

from scoregate.core.comparison.pairing import Pairs
from scoregate.core.comparison.run_movement import RunMovement
from scoregate.core.records import record
from scoregate.core.statistics.intervals import MANY, Spread, measure_spread
from scoregate.core.statistics.significance import (
    FEWEST_CLUSTERS,
    count_changed,
    exact_sign_flip_p,
    sign_flip_test,
    smallest_p,
    within_case_test,
    within_cluster_test,
)

_ALPHA = 0.05
_UNSEEN_CASES = -log(0.025)


@record
class Estimate:
    """The estimated difference, run − baseline, in the unit of the pairs.

    Attributes:
        delta: the mean difference.
        p_lower: the one-sided p of a sum as low or lower if nothing changed.
        p_upper: the one-sided p of a sum as high or higher if nothing changed.
        low: the lower end of the 95 % interval of `delta`.
        high: the upper end of the 95 % interval of `delta`.
        detectable: the smallest change that is found with a power of 80 %; None for a single pair.
        smallest_p: the smallest two-sided p that was possible.
        smallest_margin: the smallest margin such that the difference lies in ± margin (97.5 % confidence on each side).
    """

    delta: float
    p_lower: float
    p_upper: float
    low: float
    high: float
    detectable: float | None
    smallest_p: float
    smallest_margin: float

    @property
    def p(self) -> float:
        """The two-sided p: twice the smaller one-sided p, at most 1."""
        return min(1.0, 2 * min(self.p_lower, self.p_upper))


def estimate_difference(
    pairs: Pairs, *, scale: float | None, test_pairs: Pairs | None = None, movement: RunMovement | None = None
) -> Estimate:
    """Test a difference and estimate its size.

    Args:
        pairs: at least one pair.
        scale: the largest possible difference; None if there is no bound.
        test_pairs: the same pairs with more trials, chosen by the results of the first trials. Only the test uses them:
            an estimate from chosen trials would be biased towards 0.
        movement: how far whole runs move without any change; None if that is unknown.

    Returns:
        The estimate. Below 50 clusters the interval of a score allows for a change by `scale` that no case shows yet;
        if the test is significant, the end nearer to 0 is not widened.
    """
    spread = measure_spread(pairs.clusters)
    p_lower, p_upper = one_sided_p(pairs, spread) if test_pairs is None else one_sided_p(test_pairs)
    step = pairs.step if spread.largest or pairs.step else (scale or 0.0)
    low, high = spread.interval(step)
    if scale is not None and spread.clusters < MANY:
        significant = 2 * min(p_lower, p_upper) <= _ALPHA
        widest_low, widest_high = spread.interval(scale)
        low = low if significant and spread.mean > 0 else widest_low
        high = high if significant and spread.mean < 0 else widest_high
    if scale is None:
        smallest_margin = max(-low, high)
    else:
        # n cases can't rule out a rare change by the whole scale that none of them shows: a change in a share s of all
        # cases stays unseen with probability (1 − s)^n, which is 2.5 % at s = 3.7 / n
        lowest, highest = spread.score_interval(pairs.step)
        smallest_margin = max(-lowest, highest, abs(spread.mean) + _UNSEEN_CASES * scale / spread.clusters)
    bound = inf if scale is None else scale
    estimate = Estimate(
        delta=spread.mean,
        p_lower=p_lower,
        p_upper=p_upper,
        low=max(-bound, low),
        high=min(bound, high),
        detectable=spread.detectable(1.0 if scale is None else scale),
        smallest_p=_smallest_p(test_pairs or pairs),
        smallest_margin=smallest_margin,
    )
    is_wider = movement is not None and movement.excess and isfinite(spread.error)
    return _widen(estimate, movement, spread.error, bound) if is_wider and movement is not None else estimate


def _widen(estimate: Estimate, movement: RunMovement, error: float, bound: float) -> Estimate:
    """The estimate with the movement of whole runs; nothing gets narrower."""
    delta, half_width = estimate.delta, movement.half_width(error)
    lower, upper = movement.one_sided_p(delta, error)
    return replace(
        estimate,
        p_lower=max(estimate.p_lower, lower),
        p_upper=max(estimate.p_upper, upper),
        low=max(-bound, min(estimate.low, delta - half_width)),
        high=min(bound, max(estimate.high, delta + half_width)),
        detectable=max(estimate.detectable or 0.0, movement.detectable(error)),
        smallest_margin=max(estimate.smallest_margin, abs(delta) + half_width),
    )


def _smallest_p(pairs: Pairs) -> float:
    """The smallest two-sided p of `one_sided_p` for this number of clusters that differ."""
    p = smallest_p(pairs.sums)
    return min(1.0, 2 * p) if _has_few_clusters(pairs) else p


def _has_few_clusters(pairs: Pairs) -> bool:
    """Whether cases are in clusters, of which too few differ to be significant."""
    return pairs.has_clusters and count_changed(pairs.sums) < FEWEST_CLUSTERS


def one_sided_p(pairs: Pairs, spread: Spread | None = None) -> tuple[float, float]:
    """The one-sided p of a sum as low or lower, and of a sum as high or higher.

    Args:
        pairs: the pairs.
        spread: their spread, if it is known.

    Each is the p of the sign-flip test (above 200 values that are not on a lattice: of the t test). If sides have
    unequal numbers of trials, it is at least the p of the within-case test.

    Random signs keep the error rate if both sides have as many trials of each case, whatever changes. Otherwise
    differences are skewed. The larger p of both tests is valid then: one test is valid if no case changed, the other
    if cases changed in both directions. `benchmarks/calibration_repeats.py` simulates it, and
    `benchmarks/calibration_clusters.py` for clusters, whose cases are permuted together.

    With several cases in a cluster and fewer than six clusters that differ, the p is exact instead of the mid-p. So it
    is above 2.5 % whatever happens.
    """
    sums = pairs.sums
    p = sign_flip_test(sums)
    if p is None:
        p = (spread or measure_spread(pairs.clusters)).t_test()
    lower, upper = (p / 2, 1 - p / 2) if sum(sums) < 0 else (1 - p / 2, p / 2)
    if _has_few_clusters(pairs) and (exact := exact_sign_flip_p(sums)) is not None:
        lower, upper = exact
    if pairs.trials:
        test = within_cluster_test if pairs.has_clusters else within_case_test
        within_lower, within_upper = test(pairs.trials)
        lower, upper = max(lower, within_lower), max(upper, within_upper)
    return lower, upper


@record
class Units:
    """The units of a row.

    Attributes:
        able: the number of units that can still get worse: the baseline has a score that isn't the worst one. With
            fewer than six of them no outcome is certain enough for a gate.
        differences: the difference of each unit, below 0 if it got worse, if the row has too few units for a test of
            its own. Empty otherwise, as large rows are not tested together.
        is_unequal: whether a case has more trials on one side, so that random signs alone would give false alarms.
    """

    able: int = 0
    differences: Mapping[Hashable, float] = field(default_factory=dict)
    is_unequal: bool = False


def collect_units(pairs: Pairs, *, few: int, higher_is_better: bool, is_bounded: bool) -> Units:
    """Collect the units of a row.

    Args:
        pairs: the pairs of the row.
        few: with fewer units, a row has too few for a test of its own.
        higher_is_better: whether a higher value is better.
        is_bounded: whether values are scores in [0, 1]. Others can always get worse.
    """
    count = len(pairs.clusters)
    able = (pairs.lowerable if higher_is_better else pairs.raisable) if is_bounded else count
    if count >= few:
        return Units(able)
    sign = 1.0 if higher_is_better else -1.0
    differences = {name: sign * total for name, total in zip(pairs.names, pairs.sums, strict=True)}
    return Units(able, differences, is_unequal=bool(pairs.trials))
