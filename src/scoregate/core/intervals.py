"""Intervals around a mean difference, and the smallest difference that a comparison could detect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from scoregate.core.distributions import normal_quantile, t_quantile, t_two_sided

# From this many clusters on, quantiles are the normal ones, and no allowance is made for changes that no case shows.
MANY = 50


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean difference of n cases in C clusters, in the unit of the differences.

    Args:
        mean: of the n cases.
        error: its standard error, clustered.
        clusters: C; a case alone is a cluster of one.
        squares: the sum over clusters of squared deviations from the mean, each cluster's sum divided by n / C.
        moment: the same without the mean taken off.
        largest: the largest such difference of a cluster, without its sign.
        changed: how many clusters differ from 0.
    """

    mean: float
    error: float
    clusters: int
    squares: float = 0.0
    moment: float = 0.0
    largest: float = 0.0
    changed: int = 0

    @property
    def df(self) -> int:
        """Degrees of freedom: clusters − 1."""
        return self.clusters - 1

    def interval(self, step: float = 0.0, confidence: float = 0.95) -> tuple[float, float]:
        """The mean ± its half width, where one more cluster has improved and one has got worse by the largest step.

        Half width: q·√((squares + 2·s²) / ((C + 2)·C)), q a quantile of the normal distribution (of Student's t below
        50 clusters), s the largest observed difference or `step`, whichever is larger. Without the two pseudo-clusters
        the interval is too narrow where few cases change much, and has no width where none changes.

        Source: Bonett and Price (2012), Journal of Educational and Behavioral Statistics 37:479, for pass and fail;
        extended to other scores and checked by `benchmarks/calibration.py`.
        """
        if self.df < 1:
            return -inf, inf
        largest = max(self.largest, step)
        error = sqrt((self.squares + 2 * largest**2) / ((self.clusters + 2) * self.clusters))
        half = _quantile((1 + confidence) / 2, self.clusters) * error
        return self.mean - half, self.mean + half

    def score_interval(self, step: float = 0.0, confidence: float = 0.95) -> tuple[float, float]:
        """The means that the differences do not rule out, each by the variance under it.

        Where the mean is by d farther out, more clusters change by the largest step s, which adds d·s to the second
        moment. So a few large falls rule out less than their own variance says. For differences of 0 and −1 alone it is
        Wilson's interval. Args: as of `interval`.

        Source: Wilson (1927), Journal of the American Statistical Association 22:209, extended to other differences.
        """
        if self.df < 1:
            return -inf, inf
        factor = _quantile((1 + confidence) / 2, self.clusters) ** 2 / self.clusters
        variance, largest = self.squares / self.clusters, max(self.largest, step)
        below, above = (_score_distance(factor, variance, largest + 2 * mean) for mean in (self.mean, -self.mean))
        return self.mean - below, self.mean + above

    def detectable(self, scale: float = 1.0, alpha: float = 0.05, power: float = 0.8) -> float | None:
        """The smallest drop that is found with this power if it is the only row; None of a single cluster.

        See `detectable_change`. Args: `scale` is the step that is assumed where no case differs.
        """
        if self.df < 1:
            return None
        largest = self.largest or scale
        typical = sqrt(self.moment / self.changed) if self.changed else scale
        variance = (self.moment + 2 * largest**2) / (self.clusters + 2)
        return detectable_change(variance, typical, self.clusters, alpha=alpha, power=power)

    def t_test(self) -> float:
        """The two-sided p of the paired t test, clustered where there are clusters."""
        if self.df < 1:
            return 1.0
        if not self.error:
            return 0.0 if self.mean else 1.0
        return t_two_sided(self.mean / self.error, self.df)


def _score_distance(factor: float, variance: float, slope: float) -> float:
    """The d > 0 at which d² = factor·(variance + d·slope − d²)."""
    linear = factor * slope
    return (linear + sqrt(linear**2 + 4 * (1 + factor) * factor * variance)) / (2 * (1 + factor))


def measure_spread(clusters: Sequence[tuple[float, int]]) -> Spread:
    """From (sum of differences, number of cases) a cluster; a case alone is a cluster of one.

    SE² = C/(C−1) · Σ_c (Σ_{i∈c} (d_i − mean))² / n². Source: Miller (2024), arXiv 2411.00640.
    """
    n = sum(size for _, size in clusters)
    count = len(clusters)
    one = n / count  # the cases of an average cluster
    totals = [total / one for total, _ in clusters]
    mean = sum(totals) / count
    alone = n == count
    squares = (
        sum((t - mean) ** 2 for t in totals)
        if alone
        else sum((t - size / one * mean) ** 2 for t, (_, size) in zip(totals, clusters, strict=True))
    )
    error = sqrt(squares / (count * (count - 1))) if count > 1 else inf
    moment, largest = sum(t * t for t in totals), max(map(abs, totals))
    return Spread(mean, error, count, squares, moment, largest, count - totals.count(0.0))


def detectable_change(variance: float, typical: float, n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The change δ that a two-sided test at `alpha` finds with this power, by the variance under that change.

    Solves δ = (q(1 − α/2) + q(power))·√((variance + δ·typical − δ²) / n): a change of the mean by δ comes from more
    cases that change by a typical step, which add δ·typical to the second moment. For pass and fail typical is 1.

    Args:
        variance: the second moment of the differences where nothing changes.
        typical: the root mean square of the differences that are not 0.
        n: cases or clusters, at least 2.
    """
    return _score_distance(power_quantiles(n, alpha, power) ** 2 / n, variance, typical)


def power_quantiles(n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The sum of the quantiles that level and power stand for."""
    return _quantile(1 - alpha / 2, n) + _quantile(power, n)


def _quantile(p: float, clusters: int) -> float:
    return normal_quantile(p) if clusters >= MANY else t_quantile(p, clusters - 1)


def wilson(hits: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a proportion: hits of n trials, n more than 0.

    Source: Wilson (1927), Journal of the American Statistical Association 22:209, without continuity correction.
    """
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    middle = (hits + z2 / 2) / (n + z2)
    half = sqrt(z2 * (hits * (n - hits) / n + z2 / 4)) / (n + z2)
    return (0.0 if hits == 0 else max(0.0, middle - half)), (1.0 if hits == n else min(1.0, middle + half))
