"""How many cases a change needs, and what few cases can't rule out: tables, scipy and definitions."""

from __future__ import annotations

from fractions import Fraction
from math import comb, inf, sqrt

import pytest

from scoregate.kernel.compare.statistics.intervals import (
    clopper_pearson_low,
    detectable_change,
    find_smallest,
    largest_unseen_share,
    mean_score_interval,
    measure_spread,
    power_quantiles,
    required_clusters,
    wilson_interval,
)


def test_the_quantiles_of_level_and_power() -> None:
    """The usual 1.96 + 0.84, from tables of the normal distribution, and below 50 cases of Student's t."""
    assert power_quantiles(50) == pytest.approx(1.959964 + 0.841621, abs=2e-6)
    assert power_quantiles(1_000, 0.01, 0.9) == pytest.approx(2.575829 + 1.281552, abs=2e-6)
    assert power_quantiles(10) == pytest.approx(2.262157 + 0.883404, abs=2e-6)
    assert power_quantiles(2, 0.1, 0.95) == pytest.approx(2 * 6.313752, abs=2e-6)
    assert power_quantiles(49) == pytest.approx(2.010635 + 0.849174, abs=2e-6)


def test_the_required_number_of_cases_is_the_smallest_that_detects_the_change() -> None:
    for variance, typical, change in (
        (0.1, 1.0, 0.1),
        (0.02, 0.4, 0.05),
        (0.5, 1.0, 0.9),
        (1e-4, 0.02, 0.5),
        (0.3, 1.0, 0.01),
    ):
        needed = required_clusters(variance, typical, change)
        assert detectable_change(variance, typical, needed) <= change
        assert needed == 2 or detectable_change(variance, typical, needed - 1) > change
    for needed in (3, 37, 400):
        assert required_clusters(0.2, 0.5, detectable_change(0.2, 0.5, needed)) == needed
    assert required_clusters(1e-4, 0.02, 0.5) < required_clusters(0.5, 1.0, 0.9)
    more_power, smaller_level = (
        required_clusters(0.1, 1.0, 0.1, power=0.95),
        required_clusters(0.1, 1.0, 0.1, alpha=0.01),
    )
    assert (
        detectable_change(0.1, 1.0, more_power - 1, power=0.95)
        > 0.1
        >= detectable_change(0.1, 1.0, more_power, power=0.95)
    )
    assert detectable_change(0.1, 1.0, smaller_level, alpha=0.01) <= 0.1
    assert min(more_power, smaller_level) > required_clusters(0.1, 1.0, 0.1)


def test_the_bisection_finds_any_number() -> None:
    for smallest in (1, 2, 3, 10, 63, 64):
        assert find_smallest(smallest.__le__, 0, 64) == smallest
    assert find_smallest(lambda _: False, 3, 4) == 4


def test_the_detectable_change_solves_its_equation() -> None:
    for n, alpha, power in ((20, 0.05, 0.8), (300, 0.01, 0.9)):
        change = detectable_change(0.2, 0.7, n, alpha=alpha, power=power)
        factor = power_quantiles(n, alpha, power)
        assert change == pytest.approx(factor * sqrt((0.2 + 0.7 * change - change**2) / n), rel=1e-12)
        spread = measure_spread([(0.5, 1), (-0.25, 1), *[(0.0, 1)] * (n - 2)])
        variance, typical = spread.expected_variance()
        assert spread.detectable(alpha=alpha, power=power) == detectable_change(
            variance, typical, n, alpha=alpha, power=power
        )


def test_the_rule_of_three() -> None:
    assert largest_unseen_share(100, 0.05) == pytest.approx(0.0295, abs=5e-5)
    for n in (1, 7, 60):
        assert (1 - largest_unseen_share(n, 0.025)) ** n == pytest.approx(0.025)


def tail(hits: int, n: int, share: Fraction) -> Fraction:
    """The probability of at least so many successes."""
    return sum((comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(hits, n + 1)), Fraction())


def test_clopper_and_pearsons_bound_has_its_level() -> None:
    for hits, n, level in ((1, 1, 0.025), (1, 10, 0.05), (7, 10, 0.025), (10, 10, 0.05), (33, 40, 0.01)):
        low = clopper_pearson_low(hits, n, level)
        assert float(tail(hits, n, Fraction(low))) == pytest.approx(level, rel=1e-9)
    assert clopper_pearson_low(10, 10, 0.05) == pytest.approx(0.05**0.1, rel=1e-12)
    assert clopper_pearson_low(0, 10, 0.05) == 0.0


def test_intervals_follow_their_confidence() -> None:
    spread = measure_spread([(0.5, 1), (-0.5, 1), (1.0, 1), *[(0.0, 1)] * 97])
    for compute in (spread.interval, spread.score_interval):
        narrow, wide = compute(confidence=0.8), compute(confidence=0.99)
        assert wide[0] < compute()[0] < narrow[0] < spread.mean < narrow[1] < compute()[1] < wide[1]
    low, high = spread.interval(confidence=0.99)
    # The mean is .01; the squares are 1.5 − 100·.01², and two pseudo-clusters add 2.
    assert (high - low) / 2 == pytest.approx(2.575829 * sqrt((1.49 + 2) / (102 * 100)), rel=1e-6)
    wilson = wilson_interval(30, 100, 0.99)
    z2 = 2.575829**2
    for share in wilson:
        assert (0.3 - share) ** 2 == pytest.approx(z2 * share * (1 - share) / 100, rel=1e-5)
    assert wilson_interval(0, 10)[0] == 0.0
    assert wilson_interval(10, 10)[1] == 1.0


def test_each_end_of_the_score_interval_is_rejected_at_the_level() -> None:
    """(mean − end)² = z² · variance(end) / C, where the change from the mean adds its product with the largest step."""
    for step in (0.0, 2.0):
        spread = measure_spread([(0.5, 1), (-0.25, 1), (-1.0, 1), *[(0.0, 1)] * 61])
        count, largest = 64, max(1.0, step)
        variance = spread.squares / count
        for sign, end in zip((-1, 1), spread.score_interval(step), strict=True):
            d = abs(end - spread.mean)
            slope = largest - sign * 2 * spread.mean
            assert d * d == pytest.approx(1.959964**2 / count * (variance + d * slope - d * d), rel=1e-5)


def test_the_interval_of_a_mean_score_solves_its_equation() -> None:
    """d² = z²/n · (v + d·(g − v/g) − d²), g being the distance to the end of the scale; v has n in its denominator."""
    mean, deviation, n = 0.7, 0.2, 30
    variance = deviation**2 * 29 / 30
    low, high = mean_score_interval(mean, deviation, n)
    for distance, room in ((mean - low, 0.7), (high - mean, 0.3)):
        right = 1.959964**2 / n * (variance + distance * (room - variance / room) - distance**2)
        assert distance**2 == pytest.approx(right, rel=1e-5)
    wide = mean_score_interval(mean, deviation, n, confidence=0.99)
    assert wide[0] < low < high < wide[1]
    one = 0.5 * 1.959964**2 / (1 + 1.959964**2)
    assert mean_score_interval(0.5, 0.0, 1) == pytest.approx((0.5 - one, 0.5 + one), abs=1e-6)


def test_a_mean_at_the_end_of_the_scale_has_an_interval_to_one_side() -> None:
    assert mean_score_interval(1.0, 0.0, 20) == (pytest.approx(wilson_interval(20, 20)[0]), 1.0)
    assert mean_score_interval(0.0, 0.0, 20) == (0.0, pytest.approx(wilson_interval(0, 20)[1]))
    # Rounding of the scores may leave the mean next to the end, and a deviation that no scores there can have.
    low, high = mean_score_interval(1 - 1e-12, 0.4, 20)
    assert low == pytest.approx(wilson_interval(20, 20)[0], abs=1e-6)
    assert high == 1 - 1e-12


def test_the_spread_of_clusters() -> None:
    """Two of size 1 and one of size 2: sums are divided by the mean size 4/3."""
    spread = measure_spread([(1.0, 1), (0.0, 1), (-2.0, 2)])
    assert spread.mean == pytest.approx(-1 / 4)
    # Deviations of the sums from their share of the mean: 1 + ¼, ¼, −2 + ½, each times ¾.
    squares = (9 / 16) * ((5 / 4) ** 2 + (1 / 4) ** 2 + (3 / 2) ** 2)
    assert spread.squares == pytest.approx(squares)
    assert spread.error == pytest.approx(sqrt(squares / 6))
    assert spread.moment == pytest.approx(9 / 16 * 5)
    assert (spread.largest, spread.changed, spread.clusters, spread.df) == (pytest.approx(1.5), 2, 3, 2)
    assert measure_spread([(0.5, 2)]).error == inf


def test_the_spread_of_many_different_values() -> None:
    values = [index * index / 7 for index in range(200)]
    spread, mean = measure_spread([(value, 1) for value in values]), sum(values) / 200
    assert spread.squares == pytest.approx(sum((value - mean) ** 2 for value in values))
    assert spread.moment == pytest.approx(sum(value * value for value in values))


def test_the_t_test_of_two_clusters() -> None:
    """t = mean / error = 2 with one degree of freedom: p = 1 − 2/π · arctan 2."""
    assert measure_spread([(0.5, 1), (1.5, 1)]).t_test() == pytest.approx(0.295167, abs=1e-6)
    assert measure_spread([(-0.5, 1), (-1.5, 1)]).t_test() == pytest.approx(0.295167, abs=1e-6)
