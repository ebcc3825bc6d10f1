"""Intervals of a mean difference, and the smallest difference that a comparison can detect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import fsum, inf, sqrt

from scoregate.kernel.compare.statistics.distributions import incomplete_beta, normal_quantile, t_quantile, t_two_sided
from scoregate.kernel.types.records import record

# From this number of clusters on, quantiles are of the normal distribution instead of Student's t.
MANY = 50
_CLOSE = 1e-9
_FEW_VALUES = 128


@record
class Spread:
    """The mean difference of n cases in C clusters and its variance, in the unit of the differences.

    A cluster's difference is the sum of its cases' differences, divided by the mean size of a cluster, n / C.

    Attributes:
        mean: the mean difference of the n cases.
        error: the cluster-robust standard error of the mean; infinite for one cluster.
        clusters: C; a case without a cluster is a cluster of size 1.
        squares: the sum over clusters of squared deviations from the mean.
        moment: the sum over clusters of squared differences.
        largest: the largest absolute difference of a cluster.
        changed: the number of clusters whose difference isn't 0.
    """

    mean: float
    error: float
    clusters: int
    squares: float
    moment: float
    largest: float
    changed: int

    @property
    def df(self) -> int:
        """Degrees of freedom: clusters − 1."""
        return self.clusters - 1

    def interval(self, step: float = 0.0, confidence: float = 0.95) -> tuple[float, float]:
        """The interval of the mean, with two pseudo-clusters added: one improved and one got worse by the largest step.

        The half width is q·√((squares + 2·s²) / ((C + 2)·C)). q is a quantile of the normal distribution (below 50
        clusters: of Student's t), s is the larger of `step` and the largest observed difference. Without the
        pseudo-clusters the interval is too narrow if few cases change much, and has no width if none changes.

        Args:
            step: the smallest value of s, in the unit of the differences.
            confidence: the confidence level, in (0, 1).

        Returns:
            The lower and the upper end; infinite for one cluster.

        Source: Bonett and Price (2012), Journal of Educational and Behavioral Statistics 37:479, for pass and fail;
        extended to other scores and checked by `benchmarks/calibration.py`.
        """
        if self.df < 1:
            return -inf, inf
        largest = max(self.largest, step)
        error = sqrt((self.squares + 2 * largest**2) / ((self.clusters + 2) * self.clusters))
        half_width = _quantile((1 + confidence) / 2, self.clusters) * error
        return self.mean - half_width, self.mean + half_width

    def score_interval(self, step: float = 0.0, confidence: float = 0.95) -> tuple[float, float]:
        """The score interval of the mean: the means that a score test doesn't reject, each with the variance under it.

        For a mean that is larger by d, more clusters change by the largest step s. This adds d·s to the second moment.
        So a few large drops rule out less than the observed variance suggests. If all differences are 0 or −1, the
        interval is Wilson's.

        Args:
            step: the smallest value of s, in the unit of the differences.
            confidence: the confidence level, in (0, 1).

        Returns:
            The lower and the upper end; infinite for one cluster.

        Source: Wilson (1927), Journal of the American Statistical Association 22:209, extended to other differences.
        """
        if self.df < 1:
            return -inf, inf
        factor = _quantile((1 + confidence) / 2, self.clusters) ** 2 / self.clusters
        variance, largest = self.squares / self.clusters, max(self.largest, step)
        below, above = (_score_distance(factor, variance, largest + 2 * mean) for mean in (self.mean, -self.mean))
        return self.mean - below, self.mean + above

    def detectable(self, scale: float = 1.0, alpha: float = 0.05, power: float = 0.8) -> float | None:
        """The smallest drop that is found with this power, without a correction for other rows.

        Args:
            scale: the step that is assumed if no case differs, in the unit of the differences.
            alpha: the two-sided significance level, in (0, 1).
            power: the probability to find the drop, in (0, 1).

        Returns:
            The drop, see `detectable_change`; None for one cluster.
        """
        if self.df < 1:
            return None
        variance, typical = self.expected_variance(scale)
        return detectable_change(variance, typical, self.clusters, alpha=alpha, power=power)

    def expected_variance(self, scale: float = 1.0) -> tuple[float, float]:
        """The second moment of the differences with two pseudo-clusters, and the typical difference that isn't 0.

        Args:
            scale: the step that is assumed if no case differs, in the unit of the differences.
        """
        largest = self.largest or scale
        typical = sqrt(self.moment / self.changed) if self.changed else scale
        return (self.moment + 2 * largest**2) / (self.clusters + 2), typical

    def t_test(self) -> float:
        """The two-sided p of the paired t test over clusters; 1 for one cluster."""
        if self.df < 1:
            return 1.0
        if not self.error:
            return 0.0 if self.mean else 1.0
        return t_two_sided(self.mean / self.error, self.df)


def largest_unseen_share(clusters: int, alpha: float) -> float:
    """The largest share of all cases that may have changed although none of n cases shows it: (1 − s)^n = alpha.

    For alpha = 0.05 it is about 3 / n.

    Args:
        clusters: n, at least 1.
        alpha: the probability that the change stays unseen, in (0, 1).

    Source: Hanley and Lippman-Hand (1983), JAMA 249:1743, the rule of three.
    """
    return float(1 - alpha ** (1 / clusters))


def _score_distance(factor: float, variance: float, slope: float) -> float:
    """The solution d > 0 of d² = factor·(variance + d·slope − d²)."""
    linear = factor * slope
    return (linear + sqrt(linear**2 + 4 * (1 + factor) * factor * variance)) / (2 * (1 + factor))


def measure_spread(clusters: Sequence[tuple[float, int]]) -> Spread:
    """Measure the mean and the variance of differences.

    The standard error is SE² = C/(C−1) · Σ_c (Σ_{i∈c} (d_i − mean))² / n².

    Args:
        clusters: the sum of differences and the number of cases of each cluster; at least one cluster. A case without a
            cluster is a cluster of size 1.

    Source: Miller (2024), arXiv 2411.00640.
    """
    sums, sizes = zip(*clusters, strict=True)
    n, count = sum(sizes), len(clusters)
    mean_size = n / count
    totals = sums if n == count else tuple(total / mean_size for total in sums)
    # Exact sums: cases finish in any order, which must change no digit.
    mean = fsum(totals) / count
    if n == count:
        squares = fsum(_map_values(lambda t: (t - mean) ** 2, totals))
    else:
        squares = fsum((t - size / mean_size * mean) ** 2 for t, size in zip(totals, sizes, strict=True))
    error = sqrt(squares / (count * (count - 1))) if count > 1 else inf
    moment, largest = fsum(_map_values(lambda t: t * t, totals)), max(map(abs, totals))
    return Spread(mean, error, count, squares, moment, largest, count - totals.count(0.0))


def _map_values(function: Callable[[float], float], values: Sequence[float]) -> Iterator[float]:
    """The function of each value. It is called once for each of few different ones, such as those of pass and fail."""
    distinct = set(values)
    if len(distinct) > _FEW_VALUES:
        return map(function, values)
    return map({value: function(value) for value in distinct}.__getitem__, values)


def detectable_change(variance: float, typical: float, n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The change δ that a two-sided test finds with this power, with the variance under that change.

    Solves δ = (q(1 − α/2) + q(power))·√((variance + δ·typical − δ²) / n). The mean changes by δ because more cases
    change by a typical step; these cases add δ·typical to the second moment.

    Args:
        variance: the second moment of the differences if nothing changes, in squared units of the differences.
        typical: the root mean square of the differences that are not 0; 1 for pass and fail.
        n: the number of cases or clusters, at least 2.
        alpha: the two-sided significance level, in (0, 1).
        power: the probability to find the change, in (0, 1).
    """
    return _score_distance(power_quantiles(n, alpha, power) ** 2 / n, variance, typical)


def required_clusters(
    variance: float, typical: float, change: float, *, alpha: float = 0.05, power: float = 0.8
) -> int:
    """The smallest number of cases or clusters for which `detectable_change` is at most `change`.

    Args:
        variance: see `detectable_change`.
        typical: see `detectable_change`.
        change: the change to find, above 0.
        alpha: the two-sided significance level, in (0, 1).
        power: the probability to find the change, in (0, 1).
    """

    def is_enough(count: int) -> bool:
        return detectable_change(variance, typical, count, alpha=alpha, power=power) <= change

    enough = 2
    while not is_enough(enough):
        enough *= 2
    return find_smallest(is_enough, enough // 2, enough)


def find_smallest(is_enough: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number that is enough, by bisection; `low` is not enough, `high` is."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def power_quantiles(n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The sum of the quantiles of level and power, q(1 − α/2) + q(power), for n cases or clusters."""
    return _quantile(1 - alpha / 2, n) + _quantile(power, n)


def _quantile(p: float, clusters: int) -> float:
    return normal_quantile(p) if clusters >= MANY else t_quantile(p, clusters - 1)


def wilson_interval(hits: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a proportion, without continuity correction.

    Args:
        hits: the number of successes, in [0, n]; may be a fraction.
        n: the number of trials, above 0.
        confidence: the confidence level, in (0, 1).

    Returns:
        The lower and the upper end, in [0, 1].

    Source: Wilson (1927), Journal of the American Statistical Association 22:209.
    """
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    middle = (hits + z2 / 2) / (n + z2)
    half = sqrt(z2 * (hits * (n - hits) / n + z2 / 4)) / (n + z2)
    # The ends are exact: rounding would move them off 0 and 1.
    return (0.0 if hits == 0 else max(0.0, middle - half)), (1.0 if hits == n else min(1.0, middle + half))


def clopper_pearson_low(hits: int, n: int, level: float) -> float:
    """Clopper and Pearson's lower bound of a proportion: it is too high with a probability of at most `level`.

    Args:
        hits: the number of successes, in [0, n].
        n: the number of trials.
        level: the one-sided level, in (0, 1).

    Returns:
        The bound, in [0, 1]; 0 without a success.

    Source: Clopper and Pearson (1934), Biometrika 26:404.
    """
    if hits == 0:
        return 0.0
    low, high = 0.0, hits / n
    for _ in range(60):  # more halvings than a float has bits
        middle = (low + high) / 2
        # The probability of at least so many successes.
        is_too_low = incomplete_beta(hits, n - hits + 1, middle) < level
        low, high = (middle, high) if is_too_low else (low, middle)
    return low


def mean_score_interval(mean: float, deviation: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a mean of scores in [0, 1]: the means that a score test doesn't reject.

    A mean that is higher or lower by d needs a share d/g of the scores at the end of the scale, whose distance from the
    mean is g. Each candidate has the variance of this mixture, v + d·(g − v/g) − d², so that scores which are all equal
    don't make an interval without width. For scores of 0 and 1 it is Wilson's interval.

    Args:
        mean: the mean, in [0, 1].
        deviation: the standard deviation of the scores, with n − 1 in its denominator; 0 for one score.
        n: the number of scores, at least 1.
        confidence: the confidence level, in (0, 1).

    Returns:
        The lower and the upper end, in [0, 1].

    Source: Wilson (1927), Journal of the American Statistical Association 22:209, extended to other scores and checked
    by `benchmarks/calibration_means.py`.
    """
    factor = normal_quantile((1 + confidence) / 2) ** 2 / n
    # No scores in [0, 1] vary more, and rounding may exceed that.
    variance = min(deviation**2 * (n - 1) / n, mean * (1 - mean))

    def distance(room: float) -> float:
        if room < _CLOSE:
            return 0.0
        return min(room, _score_distance(factor, variance, room - variance / room))

    return mean - distance(mean), mean + distance(1 - mean)
