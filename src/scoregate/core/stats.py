"""The test, the interval and the smallest detectable effect of a set of pairs, put together."""

from __future__ import annotations

from dataclasses import dataclass

from scoregate.core.intervals import Spread, bonett_price, spread
from scoregate.core.pairs import Pairs
from scoregate.core.signflip import sign_flip, smallest_p


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the pairs say: the mean difference, its p and 95 % interval, and what could have been seen.

    `smallest_p` is the least that the test could have given; `detectable` is None where there is one pair only.
    """

    delta: float
    p: float
    low: float
    high: float
    detectable: float | None
    smallest_p: float


def examine(pairs: Pairs, *, bound: float) -> Estimate:
    """Test and estimate. `pairs` has at least one; `bound` is the largest difference that is possible."""
    around = spread(pairs.clusters)
    low, high = _interval(pairs, around)
    return Estimate(
        delta=around.mean,
        p=_p(pairs, around),
        low=max(-bound, low),
        high=min(bound, high),
        detectable=around.detectable(),
        smallest_p=smallest_p(pairs.sums),
    )


def _p(pairs: Pairs, around: Spread) -> float:
    p = sign_flip(pairs.sums)
    return around.t_test() if p is None else p


def _interval(pairs: Pairs, around: Spread) -> tuple[float, float]:
    if pairs.binary:
        return bonett_price(pairs.rose, pairs.fell, pairs.n)
    return around.interval()
