"""The estimate of a difference from pairs: its test, its interval and the smallest detectable effect."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field, replace
from math import inf, isfinite
from typing import ClassVar

from scoregate.kernel.compare.pairing import Pairs
from scoregate.kernel.compare.run_movement import RunMovement
from scoregate.kernel.compare.statistics.intervals import Spread, largest_unseen_share, measure_spread
from scoregate.kernel.compare.statistics.significance import (
    FEWEST_CLUSTERS,
    count_changed,
    exact_sign_flip_p,
    sign_flip_test,
    smallest_p,
    within_case_test,
    within_cluster_test,
)
from scoregate.kernel.types.records import record

_ALPHA = 0.05


@record
class Estimate:
    """The estimated difference, run − baseline, in the unit of the pairs.

    Attributes:
        delta: the mean difference.
        p: the two-sided p: twice the smaller one-sided p without `few`, at most 1.
        p_lower: the one-sided p of a sum as low or lower if nothing changed.
        p_upper: the one-sided p of a sum as high or higher if nothing changed.
        low: the lower end of the 95 % interval of `delta`.
        high: the upper end of the 95 % interval of `delta`.
        detectable: the smallest change that is found with a power of 80 %; None for a single pair.
        smallest_p: the smallest two-sided p that was possible.
        smallest_margin: the smallest margin such that the difference lies in ± margin (97.5 % confidence on each side).
        p_with_fall: the one-sided p for getting better with one more case that falls, see `add_unseen_fall`; 0 if none
            is added, if it is unknown which direction is better, and if the p without it is above 5 %.
        reason: why it doesn't count, such as too many errors; empty if it does.
    """

    delta: float
    p: float
    p_lower: float
    p_upper: float
    low: float
    high: float
    detectable: float | None
    smallest_p: float
    smallest_margin: float
    p_with_fall: float = 0.0
    reason: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of `delta`."""
        return self.low, self.high


@record
class NoEstimate:
    """The reason why nothing was estimated. Nothing is certain then: every p is 1.

    Attributes:
        reason: the reason; empty if the label of the row says it.
        delta: the mean difference of a slice with too few pairs for a test; None without pairs.
    """

    reason: str = ""
    delta: float | None = None
    p: ClassVar[float] = 1.0
    p_lower: ClassVar[float] = 1.0
    p_upper: ClassVar[float] = 1.0
    p_with_fall: ClassVar[float] = 0.0
    detectable: ClassVar[float | None] = None
    interval: ClassVar[tuple[float, float] | None] = None


def estimate_difference(
    pairs: Pairs,
    *,
    scale: float | None,
    test_pairs: Pairs | None = None,
    movement: RunMovement | None = None,
    higher_is_better: bool | None = None,
    few: int = 0,
) -> Estimate:
    """Test a difference and estimate its size.

    Args:
        pairs: at least one pair.
        scale: the largest possible difference; None if there is no bound.
        test_pairs: the same pairs with more trials, chosen by the results of the first trials. Only the test uses them:
            an estimate from chosen trials would be biased towards 0.
        movement: how far whole runs move without any change; None if that is unknown.
        higher_is_better: the direction that gets better; None to treat both alike.
        few: with fewer clusters, the one-sided p are at least the exact ones, without mid-p.

    Returns:
        The estimate. The interval of a score allows for a rare change by `scale` that no case shows yet; if the test is
        significant, the end nearer to 0 doesn't. For getting better this needs a significant `p_with_fall`, too.
    """
    spread, known = measure_spread(pairs.clusters), test_pairs or pairs
    p_lower, p_upper = one_sided_p(known, None if test_pairs else spread)
    p_with_fall = 0.0
    # A larger p is never significant, so one more fall decides nothing.
    if scale is not None and higher_is_better is not None and (p_upper if higher_is_better else p_lower) <= _ALPHA:
        extended = add_unseen_fall(known, scale if higher_is_better else -scale)
        p_with_fall = 0.0 if extended is known else one_sided_p(extended)[1 if higher_is_better else 0]
    is_significant = 2 * max(min(p_lower, p_upper), p_with_fall) <= _ALPHA
    low, high, smallest_margin = _find_bounds(spread, pairs.step, scale, is_significant=is_significant)
    bound = inf if scale is None else scale
    estimate = Estimate(
        delta=spread.mean,
        p=two_sided_p(p_lower, p_upper),
        p_lower=p_lower,
        p_upper=p_upper,
        low=max(-bound, low),
        high=min(bound, high),
        detectable=spread.detectable(1.0 if scale is None else scale),
        smallest_p=_smallest_p(known),
        smallest_margin=smallest_margin,
        p_with_fall=p_with_fall,
    )
    if movement is not None and movement.excess and isfinite(spread.error):
        estimate = _widen(estimate, movement, spread.error, bound)
    exact = exact_sign_flip_p(known.sums) if len(pairs.clusters) < few else None
    if exact is not None:
        p_lower, p_upper = map(max, exact, (estimate.p_lower, estimate.p_upper))
        estimate = replace(estimate, p_lower=p_lower, p_upper=p_upper)
    return estimate


def _find_bounds(
    spread: Spread, step: float, scale: float | None, *, is_significant: bool
) -> tuple[float, float, float]:
    """The ends of the interval, and the smallest margin."""
    low, high = spread.interval(step if spread.largest or step else (scale or 0.0))
    if scale is None:
        return low, high, max(-low, high)
    low, high = allow_for_unseen(spread, (low, high), scale, is_significant=is_significant, alpha=_ALPHA)
    lowest, highest = spread.score_interval(step)
    unseen = largest_unseen_share(spread.clusters, _ALPHA / 2) * scale
    return low, high, max(-lowest, highest, abs(spread.mean) + unseen)


def two_sided_p(lower: float, upper: float) -> float:
    """Twice the smaller one-sided p, at most 1."""
    return min(1.0, 2 * min(lower, upper))


def allow_for_unseen(
    spread: Spread, interval: tuple[float, float], scale: float, *, is_significant: bool, alpha: float
) -> tuple[float, float]:
    """The interval, wide enough for a rare change by the whole scale that no case shows.

    The allowance shrinks as 1/n and the interval as 1/√n. So it decides for few cases and small differences only.

    Args:
        spread: the spread of the differences.
        interval: their interval.
        scale: the largest possible difference.
        is_significant: whether the difference is; then the end nearer to 0 stays.
        alpha: the probability that a change stays unseen that is larger than the allowance, in (0, 1).
    """
    (low, high), unseen = interval, largest_unseen_share(spread.clusters, alpha) * scale
    return (
        low if is_significant and spread.mean > 0 else min(low, spread.mean - unseen),
        high if is_significant and spread.mean < 0 else max(high, spread.mean + unseen),
    )


def add_unseen_fall(pairs: Pairs, scale: float) -> Pairs:
    """The pairs with one more case, which gets worse by the whole scale, as far as no rise is as large.

    Random signs assume that differences are symmetric. If many cases rise a little and rare ones collapse, few cases
    show no collapse, and a mean that didn't change looks better. With one more collapse this happens in at most 5 %.
    For pass and fail a rise is as large as a fall, so nothing is added.

    Args:
        pairs: the pairs.
        scale: the largest possible difference; negative if lower is better.
    """
    size, sign = pairs.n / len(pairs.clusters), 1 if scale > 0 else -1
    missing = abs(scale) * size - max(0.0, *(sign * total for total in pairs.sums))
    if missing <= 0:
        return pairs
    fall = (-sign * missing, max(1, round(size)))
    return replace(pairs, n=pairs.n + fall[1], clusters=(*pairs.clusters, fall), trials=())


def _widen(estimate: Estimate, movement: RunMovement, error: float, bound: float) -> Estimate:
    """The estimate with the movement of whole runs; nothing gets narrower."""
    delta, half_width = estimate.delta, movement.half_width(error)
    lower, upper = map(max, (estimate.p_lower, estimate.p_upper), movement.one_sided_p(delta, error))
    return replace(
        estimate,
        p=two_sided_p(lower, upper),
        p_lower=lower,
        p_upper=upper,
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
class PairSummary:
    """What a row says about its pairs.

    Attributes:
        n: the number of pairs.
        clusters: the number of their clusters: what random signs flip.
        better: the number of pairs that got better.
        worse: the number of pairs that got worse.
        dropped: the number of cases without a pair because of an error on one side.
        able: the number of clusters that can still get worse: the baseline has a score that isn't the worst one. With
            fewer than six of them no outcome is certain enough for a gate.
        differences: the difference of each cluster, below 0 if it got worse, if the row has too few for a test of its
            own. Empty otherwise, as large rows are not tested together.
        is_unequal: whether a case has more trials on one side, so that random signs alone would give false alarms.
    """

    n: int = 0
    clusters: int = 0
    better: int = 0
    worse: int = 0
    dropped: int = 0
    able: int = 0
    differences: Mapping[Hashable, float] = field(default_factory=dict)
    is_unequal: bool = False


def summarize_pairs(
    pairs: Pairs, test_pairs: Pairs | None = None, *, few: int, higher_is_better: bool, is_bounded: bool
) -> PairSummary:
    """Count the pairs of a row by direction, and the clusters that its gate can count on.

    Args:
        pairs: the pairs of the row.
        test_pairs: the pairs of its test, if these are others.
        few: with fewer clusters, a row has too few for a test of its own.
        higher_is_better: whether a higher value is better.
        is_bounded: whether values are scores in [0, 1]. Others can always get worse.
    """
    tested = test_pairs or pairs
    count, differences = len(tested.clusters), dict[Hashable, float]()
    able = (tested.lowerable if higher_is_better else tested.raisable) if is_bounded else count
    better, worse = (pairs.rose, pairs.fell) if higher_is_better else (pairs.fell, pairs.rose)
    if count < few:
        sign = 1.0 if higher_is_better else -1.0
        differences = {name: sign * total for name, total in zip(tested.names, tested.sums, strict=True)}
    return PairSummary(
        *(pairs.n, len(pairs.clusters), better, worse, pairs.errored),
        able=able,
        differences=differences,
        is_unequal=count < few and bool(tested.trials),
    )
