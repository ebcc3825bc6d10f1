"""Intervals around a mean difference, and the smallest difference that could have been seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from scoregate.core.distributions import normal_quantile, t_quantile, t_two_sided


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean difference of n cases in C clusters and its standard error, in the unit of the differences."""

    mean: float
    error: float
    clusters: int

    @property
    def df(self) -> int:
        """Degrees of freedom: clusters − 1."""
        return self.clusters - 1

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """mean ± t·SE."""
        if self.df < 1:
            return -inf, inf
        half = t_quantile((1 + confidence) / 2, self.df) * self.error
        return self.mean - half, self.mean + half

    def detectable(self, alpha: float = 0.05, power: float = 0.8) -> float | None:
        """The smallest effect found with this power: (t(1 − α/2) + t(power))·SE."""
        if self.df < 1:
            return None
        return (t_quantile(1 - alpha / 2, self.df) + t_quantile(power, self.df)) * self.error

    def t_test(self) -> float:
        """The two-sided p of the paired t test, clustered where there are clusters."""
        if self.df < 1:
            return 1.0
        if not self.error:
            return 0.0 if self.mean else 1.0
        return t_two_sided(self.mean / self.error, self.df)


def spread(clusters: Sequence[tuple[float, int]]) -> Spread:
    """From (sum of differences, number of cases) a cluster; a case alone is a cluster of one.

    SE² = C/(C−1) · Σ_c (Σ_{i∈c} (d_i − mean))² / n². Source: Miller (2024), arXiv 2411.00640.
    """
    n = sum(size for _, size in clusters)
    mean = sum(total for total, _ in clusters) / n
    count = len(clusters)
    squares = sum((total - size * mean) ** 2 for total, size in clusters)
    error = sqrt(count / (count - 1) * squares) / n if count > 1 else inf
    return Spread(mean, error, count)


def bonett_price(better: int, worse: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a difference of paired proportions, of n pairs of which some got better and some worse.

    Source: Bonett and Price (2012), Journal of Educational and Behavioral Statistics 37:479, adjusted Wald.
    """
    down, up = (worse + 1) / (n + 2), (better + 1) / (n + 2)
    half = normal_quantile((1 + confidence) / 2) * sqrt((up + down - (up - down) ** 2) / (n + 2))
    return max(-1.0, up - down - half), min(1.0, up - down + half)


def wilson(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a proportion: hits of n trials, n at least 1.

    Source: Wilson (1927), Journal of the American Statistical Association 22:209, without continuity correction.
    """
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    middle = (hits + z2 / 2) / (n + z2)
    half = sqrt(z2 * (hits * (n - hits) / n + z2 / 4)) / (n + z2)
    return (0.0 if hits == 0 else max(0.0, middle - half)), (1.0 if hits == n else min(1.0, middle + half))
