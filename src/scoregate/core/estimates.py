"""The test, the interval and the smallest detectable effect of a set of pairs, put together."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

from scoregate.core.intervals import MANY, Spread, measure_spread
from scoregate.core.pairing import Pairs
from scoregate.core.significance import sign_flip_test, smallest_p, within_case_test

_ALPHA = 0.05
_UNSEEN_CASES = -log(0.025)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the pairs say of a difference, run − base.

    Args:
        delta: the mean difference.
        p_lower: the one-sided p of a sum as low or lower where nothing changed.
        p_upper: the same of one as high or higher.
        low: with `high`, the 95 % interval of `delta`.
        detectable: the smallest change found four times in five; None where there is one pair only.
        smallest_p: the least that the two-sided p could have been.
        within: the smallest margin within which the difference lies for certain (97.5 % on either side).
    """

    delta: float
    p_lower: float
    p_upper: float
    low: float
    high: float
    detectable: float | None
    smallest_p: float
    within: float

    @property
    def p(self) -> float:
        """The two-sided p: twice the smaller one-sided one."""
        return min(1.0, 2 * min(self.p_lower, self.p_upper))


def estimate_difference(pairs: Pairs, *, scale: float | None, sharper: Pairs | None = None) -> Estimate:
    """Test and estimate.

    Args:
        pairs: at least one pair.
        scale: the largest difference that is possible; None where there is no such bound.
        sharper: the same pairs with trials that were added because of what the first ones showed. They sharpen the
            test; the estimate is from `pairs` alone, as chosen trials would pull it towards 0.
    """
    around = measure_spread(pairs.clusters)
    p_lower, p_upper = one_sided_p(sharper or pairs)
    low, high = _interval(around, pairs, scale, significant=2 * min(p_lower, p_upper) <= _ALPHA)
    bound = inf if scale is None else scale
    return Estimate(
        delta=around.mean,
        p_lower=p_lower,
        p_upper=p_upper,
        low=max(-bound, low),
        high=min(bound, high),
        detectable=around.detectable(1.0 if scale is None else scale),
        smallest_p=smallest_p((sharper or pairs).sums),
        within=_equivalence_margin(around, low, high, pairs.step, scale),
    )


def one_sided_p(pairs: Pairs) -> tuple[float, float]:
    """The p of a sum as low, and as high: of the sign-flip test, and not less than the within-case test's.

    Random signs hold the level where both sides have as many trials of a case, whatever changes. Otherwise differences
    are skewed, and the larger p of both tests counts: one holds if no case changed, the other if cases changed in both
    directions. Simulated in `benchmarks/calibration_repeats.py`.
    """
    p = sign_flip_test(pairs.sums)
    if p is None:
        p = measure_spread(pairs.clusters).t_test()
    falls = sum(pairs.sums) < 0
    lower, upper = (p / 2, 1 - p / 2) if falls else (1 - p / 2, p / 2)
    if pairs.trials:
        within_lower, within_upper = within_case_test(pairs.trials)
        lower, upper = max(lower, within_lower), max(upper, within_upper)
    return lower, upper


def _interval(around: Spread, pairs: Pairs, scale: float | None, *, significant: bool) -> tuple[float, float]:
    """Below 50 clusters a score's interval allows for a change of the whole scale that no case has shown yet.

    Where the test found a change, the end towards 0 is left as the differences have it.
    """
    step = pairs.step if around.largest or pairs.step else (scale or 0.0)
    low, high = around.interval(step)
    if scale is None or around.clusters >= MANY:
        return low, high
    widest = around.interval(scale)
    return (
        low if significant and around.mean > 0 else widest[0],
        high if significant and around.mean < 0 else widest[1],
    )


def _equivalence_margin(around: Spread, low: float, high: float, step: float, scale: float | None) -> float:
    """Of a score the farther end of the score interval, and not less than what n cases can rule out beyond their mean.

    That is a rare change of the whole scale that none of them shows: a change of a share s of all cases stays unseen
    with probability (1 − s)^n, which is 2.5 % at s = 3.7 / n.
    """
    if scale is None:
        return max(-low, high)
    lowest, highest = around.score_interval(step)
    return max(-lowest, highest, abs(around.mean) + _UNSEEN_CASES * scale / around.clusters)
