"""Distributions that the tests need, with the standard library only; unit tests compare them with scipy (1e-9)."""

from __future__ import annotations

from functools import lru_cache
from math import exp, fabs, inf, lgamma, log, log1p
from statistics import NormalDist

_NORMAL = NormalDist()
_TINY = 1e-300
_EPSILON = 1e-16


def normal_quantile(p: float) -> float:
    """The quantile of the standard normal distribution at p, 0 < p < 1."""
    return _NORMAL.inv_cdf(p)


def t_two_sided(t: float, df: float) -> float:
    """P(|T| ≥ |t|) for Student's t with `df` > 0 degrees of freedom.

    With the regularised incomplete beta function I it is I_x(df / 2, 1 / 2) at x = df / (df + t²).
    """
    square = t * t
    if square < 3:  # df / (df + t²) would lose the digits of a small t
        return 1 - incomplete_beta(0.5, df / 2, square / (df + square))
    return incomplete_beta(df / 2, 0.5, df / (df + square))


@lru_cache(maxsize=256)
def t_quantile(p: float, df: float) -> float:
    """The quantile of Student's t with `df` > 0 degrees of freedom at p, 0.5 ≤ p < 1, by bisection."""
    low, high = 0.0, 2 * max(1.0, normal_quantile(p))
    while 1 - t_two_sided(high, df) / 2 < p and high < inf:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):  # no float lies between them
            break
        low, high = (middle, high) if 1 - t_two_sided(middle, df) / 2 < p else (low, middle)
    return (low + high) / 2


def binomial_half_pmf(k: int, n: int) -> float:
    """P(X = k) for a binomial variable of n fair trials (p = 0.5)."""
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2)) if 0 <= k <= n else 0.0


def binomial_half_cdf(k: int, n: int) -> float:
    """P(X ≤ k) for a binomial variable of n fair trials (p = 0.5)."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else incomplete_beta(n - k, k + 1, 0.5)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b).

    Args:
        a: the first shape parameter, above 0.
        b: the second shape parameter, above 0.
        x: the upper limit of the integral, in [0, 1].

    Source: continued fraction of DLMF 8.17.22, evaluated by Lentz's method.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast only below it
        return 1 - incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    return front * _continued_fraction(a, b, x) / a


def _continued_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _avoid_zero(1 - (a + b) * x / (a + 1))
    product = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _avoid_zero(1 + term * d)
            c = _avoid_zero(1 + term / c)
            product *= c * d
        if fabs(c * d - 1) < _EPSILON * 10:
            break
    return product


# Lentz's method divides by these values.
def _avoid_zero(value: float) -> float:
    return value if fabs(value) > _TINY else _TINY
