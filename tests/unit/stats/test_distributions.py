"""The distributions against scipy, within 1e-9."""

from __future__ import annotations

from math import inf, isclose
from typing import Any

import pytest

from scoregate.kernel.compare.statistics.distributions import (
    binomial_half_cdf,
    binomial_half_pmf,
    incomplete_beta,
    normal_quantile,
    t_quantile,
    t_two_sided,
)

CLOSE = 1e-9
DEGREES = (1, 2, 3, 9, 19.5, 49, 199, 999, 9_999, 99_999)


@pytest.fixture(scope="module")
def stats() -> Any:
    return pytest.importorskip("scipy.stats")


@pytest.fixture(scope="module")
def special() -> Any:
    return pytest.importorskip("scipy.special")


@pytest.mark.parametrize("a", [0.1, 0.5, 1, 2.5, 10, 99.5, 1_000, 5_000])
@pytest.mark.parametrize("b", [0.1, 0.5, 1, 2.5, 10, 99.5, 1_000, 5_000])
def test_incomplete_beta(a: float, b: float, special: Any) -> None:
    middle = a / (a + b)
    for x in (0.0, 1e-9, 0.01, 0.3, middle / 2, middle, (1 + middle) / 2, 0.5, 0.7, 0.99, 1 - 1e-9, 1.0):
        assert abs(incomplete_beta(a, b, x) - special.betainc(a, b, x)) < CLOSE


@pytest.mark.parametrize("df", DEGREES)
def test_p_of_t(df: float, stats: Any) -> None:
    for t in (0.0, 1e-12, 1e-6, 1e-4, 0.01, 0.5, 1.0, 1.7, 1.8, 1.96, 2.5, 4.0, 10.0, 60.0, 1e6):
        expected = 2 * stats.t.sf(t, df)
        assert abs(t_two_sided(t, df) - expected) < CLOSE
        assert t_two_sided(-t, df) == t_two_sided(t, df)


@pytest.mark.parametrize("df", DEGREES)
def test_far_tails_keep_their_digits(df: float, stats: Any) -> None:
    for t in (3.0, 6.0, 12.0, 25.0):
        assert isclose(t_two_sided(t, df), 2 * stats.t.sf(t, df), rel_tol=CLOSE)


def test_an_infinite_t_has_a_p_of_0() -> None:
    assert t_two_sided(inf, 9) == 0.0


@pytest.mark.parametrize("df", DEGREES)
def test_quantiles_of_t(df: float, stats: Any) -> None:
    for p in (0.5, 0.500001, 0.6, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9995):
        assert isclose(t_quantile(p, df), stats.t.ppf(p, df), rel_tol=CLOSE, abs_tol=CLOSE)


def test_quantiles_of_the_normal(stats: Any) -> None:
    for p in (1e-9, 0.001, 0.025, 0.2, 0.5, 0.8, 0.9, 0.975, 0.995, 1 - 1e-9):
        assert abs(normal_quantile(p) - stats.norm.ppf(p)) < CLOSE


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 33, 60, 1_000, 5_000])
def test_fair_trials(n: int, stats: Any) -> None:
    some = range(n + 1) if n <= 60 else (0, 1, n // 4, n // 2 - n // 50, n // 2, n // 2 + 1, 3 * n // 4, n)
    for k in (-1, *some, n + 1):
        assert abs(binomial_half_pmf(k, n) - stats.binom.pmf(k, n, 0.5)) < CLOSE
        assert abs(binomial_half_cdf(k, n) - stats.binom.cdf(k, n, 0.5)) < CLOSE
