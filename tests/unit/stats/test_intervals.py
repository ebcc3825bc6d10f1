"""Intervals, standard errors and detectable effects against scipy and their formulas."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Any

import pytest
from tests.unit.stats.references import clustered_error

from scoregate.kernel.compare.estimates import Estimate, add_unseen_fall, estimate_difference
from scoregate.kernel.compare.pairing import Pairs
from scoregate.kernel.compare.statistics.intervals import (
    MANY,
    detectable_change,
    mean_score_interval,
    measure_spread,
    wilson_interval,
)

CLOSE = 1e-9


def differences(n: int, seed: int = 1) -> list[float]:
    source = random.Random(seed)
    return [source.gauss(0.1, 0.4) for _ in range(n)]


def sum_clusters(values: list[float], names: list[str]) -> list[tuple[float, int]]:
    return [
        (sum(v for v, other in zip(values, names, strict=True) if other == name), names.count(name))
        for name in dict.fromkeys(names)
    ]


@pytest.mark.parametrize("n", [2, 10, 57, 400])
def test_single_cases_match_paired_t(n: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    values = differences(n)
    around, expected = measure_spread([(value, 1) for value in values]), stats.ttest_1samp(values, 0)
    assert around.t_test() == pytest.approx(expected.pvalue, abs=CLOSE)
    assert around.error == pytest.approx(stats.sem(values), abs=CLOSE)
    assert around.df == n - 1


@pytest.mark.parametrize("n", [10, 57, 400])
def test_clusters_widen_the_error_by_the_formula(n: int) -> None:
    values, source = differences(n), random.Random(n)
    names = [f"conversation-{source.randrange(1 + n // 4)}" for _ in values]
    around = measure_spread(sum_clusters(values, names))
    assert around.error == pytest.approx(clustered_error(values, names), abs=CLOSE)
    assert around.mean == pytest.approx(sum(values) / n, abs=CLOSE)
    assert around.clusters == len(set(names))


def test_copies_within_a_cluster_are_no_evidence() -> None:
    values = differences(20)
    once = measure_spread([(value, 1) for value in values])
    often = measure_spread([(5 * value, 5) for value in values])
    assert often.error == pytest.approx(once.error, abs=CLOSE)
    assert often.interval() == pytest.approx(once.interval(), abs=CLOSE)


def quantile(p: float, n: int) -> float:
    stats: Any = pytest.importorskip("scipy.stats")
    return float(stats.norm.ppf(p) if n >= MANY else stats.t.ppf(p, n - 1))


@pytest.mark.parametrize("n", [2, 10, 49, 50, 400])
def test_an_interval_counts_one_more_case_in_either_direction(n: int) -> None:
    values = differences(n)
    mean, largest = sum(values) / n, max(map(abs, values))
    for step in (0.0, 3.0):
        squares = sum((value - mean) ** 2 for value in values) + 2 * max(largest, step) ** 2
        half = quantile(0.975, n) * sqrt(squares / ((n + 2) * n))
        bounds = measure_spread([(value, 1) for value in values]).interval(step)
        assert bounds == pytest.approx((mean - half, mean + half), abs=CLOSE)


@pytest.mark.parametrize("n", [2, 10, 57, 400])
def test_the_detectable_effect_uses_its_own_variance(n: int) -> None:
    values = differences(n)
    smallest = measure_spread([(value, 1) for value in values]).detectable()
    squares = sum(value * value for value in values)
    variance = (squares + 2 * max(map(abs, values)) ** 2) / (n + 2)
    factor = quantile(0.975, n) + quantile(0.8, n)
    assert smallest is not None
    assert smallest == pytest.approx(
        factor * sqrt((variance + smallest * sqrt(squares / n) - smallest**2) / n), abs=CLOSE
    )


def test_the_detectable_effect_of_pass_and_fail_matches_the_audit() -> None:
    """δ = 2.80·√((ψ + δ − δ²) / n) with ψ = (better + worse + 2) / (n + 2)."""
    smallest = measure_spread([(1.0, 1)] * 3 + [(-1.0, 1)] * 5 + [(0.0, 1)] * 92).detectable()
    assert smallest is not None
    assert smallest == pytest.approx(2.8016 * sqrt((10 / 102 + smallest - smallest**2) / 100), abs=1e-4)
    assert detectable_change(10 / 102, 1.0, 100) == pytest.approx(smallest)


def test_one_cluster_has_no_error() -> None:
    around = measure_spread([(0.5, 1)])
    assert around.interval() == (-inf, inf)
    assert around.detectable() is None
    assert around.t_test() == 1.0
    difference = estimate_difference(Pairs(1, ((0.5, 1),), rose=1), scale=1.0)
    assert (difference.delta, difference.p, difference.low, difference.high, difference.detectable) == (
        0.5,
        0.5,
        -1.0,
        1.0,
        None,
    )


def test_equal_differences() -> None:
    assert measure_spread([(0.25, 1)] * 9).t_test() == 0.0
    assert measure_spread([(0.0, 1)] * 9).t_test() == 1.0


def make_pairs(values: Sequence[float], step: float = 0.0) -> Pairs:
    rose, fell = sum(1 for value in values if value > 0), sum(1 for value in values if value < 0)
    return Pairs(len(values), tuple((value, 1) for value in values), rose=rose, fell=fell, step=step)


def examine(
    *values: float, step: float = 0.0, scale: float | None = 1.0, higher_is_better: bool | None = None
) -> Estimate:
    return estimate_difference(make_pairs(values, step), scale=scale, higher_is_better=higher_is_better)


@pytest.mark.parametrize("n", [2, 10, 49, 50, 5_000])
def test_no_interval_is_without_width(n: int) -> None:
    for values in ([0.0] * n, [0.25] * n, [0.0] * (n - 1) + [1.0]):
        examined = examine(*values)
        assert examined.high > examined.low


def test_no_difference_in_many_cases_is_a_narrow_interval() -> None:
    examined = examine(*[0.0] * 1_000)
    assert (examined.delta, examined.low) == (0.0, pytest.approx(-3.0 / 1_000, abs=1e-5))
    assert examined.smallest_margin == pytest.approx(1 - 0.025 ** (1 / 1_000))


@pytest.mark.parametrize("n", [10, 20, 49, 50, 51, 100, 200, 400, 2_000])
def test_an_interval_allows_for_a_change_that_no_case_shows(n: int) -> None:
    """A change in a share s of the cases stays unseen in (1 − s)^n of all runs: 5 % at the end of the interval."""
    small = [0.001, -0.001] * (n // 2) + [0.0] * (n % 2)
    examined = examine(*small)
    assert (1 - examined.high) ** n == pytest.approx(0.05)
    assert examined.low == pytest.approx(-examined.high)
    assert examine(*small, scale=None).high < 0.005, "the logarithm of a ratio has no scale"
    falls = examine(*(value - 0.05 for value in small))
    assert falls.p < 0.002
    assert -0.05 - falls.low == pytest.approx(max(examined.high, falls.high + 0.05))
    assert falls.high < 0, "towards 0, the differences decide"


def test_the_allowance_for_unseen_changes_fades_out() -> None:
    source = random.Random(1)
    values = [0.1 * source.gauss(0, 1) for _ in range(800)]
    for n, is_wider in ((50, True), (100, True), (400, False), (800, False)):
        spread, examined = measure_spread([(value, 1) for value in values[:n]]), examine(*values[:n])
        low, high = spread.interval()
        assert (examined.high > high, examined.low < low) == (is_wider, is_wider)
    widths = [examined.high - examined.low for n in range(40, 60) for examined in [examine(*values[:n])]]
    assert all(0.9 < after / before < 1.1 for before, after in pairwise(widths)), "no step at any number of cases"


@pytest.mark.parametrize("n", [10, 20, 50, 100, 400])
def test_small_rises_without_a_seen_collapse_are_not_better(n: int) -> None:
    """The mean didn't change: 2 of n cases collapse on average, and the others rise. In 13 % of all runs none does."""
    rise = 2 / (n - 2)
    for sign, higher_is_better in ((1, True), (-1, False)):
        values = [sign * rise] * n
        fooled, examined = examine(*values), examine(*values, higher_is_better=higher_is_better)
        assert examined.p == fooled.p < 0.005
        assert examined.p_with_fall > 0.025
        assert examined.low < 0 < examined.high
        assert examine(*values, higher_is_better=not higher_is_better) == fooled, "gates find a fall as before"
        assert examine(*values, scale=None, higher_is_better=higher_is_better).p_with_fall == 0


def test_more_cases_make_small_rises_better() -> None:
    for n, is_better in ((50, False), (150, True)):
        examined = examine(*[0.04, 0.03] * (n // 2), higher_is_better=True)
        assert (examined.p_with_fall <= 0.025, examined.low > 0) == (is_better, is_better)


@pytest.mark.parametrize("size", [1, 3])
def test_pass_and_fail_get_better_as_before(size: int) -> None:
    values = [1.0] * 6 + [-1.0] * 1 + [0.0] * 40
    pairs = Pairs(size * len(values), tuple((size * value, size) for value in values), rose=6, fell=1)
    assert add_unseen_fall(pairs, 1.0) is pairs
    assert estimate_difference(pairs, scale=1.0, higher_is_better=True) == estimate_difference(pairs, scale=1.0)
    rubric = Pairs(pairs.n, tuple((total / 4, size) for total, _ in pairs.clusters), rose=6, fell=1)
    added = add_unseen_fall(rubric, 1.0)
    assert added.clusters[-1] == (-0.75 * size, size)
    assert add_unseen_fall(replace(rubric, clusters=tuple((-t, s) for t, s in rubric.clusters)), -1.0).sums == [
        -total for total in added.sums
    ]


def test_few_cases_rule_out_no_rare_collapse() -> None:
    """2 % of the cases lose all: among 100, none of them may be seen. 184 cases see one with 97.5 %."""
    assert examine(*[0.001, -0.001] * 50).smallest_margin > 0.02
    assert examine(*[0.001, -0.001] * 91).smallest_margin > 0.02
    assert examine(*[0.001, -0.001] * 93).smallest_margin < 0.02


def test_an_interval_ends_with_the_scale() -> None:
    examined = examine(1.0, 1.0, -0.5)
    assert (examined.low, examined.high) == (-1.0, 1.0)
    free = examine(1.0, 1.0, -0.5, scale=None)
    assert free.low < -1.0
    assert free.high > 1.0


def test_chosen_trials_sharpen_the_test_but_not_the_estimate() -> None:
    first = Pairs(60, tuple((d, 1) for d in [-1.0] * 9 + [1.0] * 3 + [0.0] * 48), rose=3, fell=9)
    more = Pairs(60, tuple((d, 1) for d in [-0.8] * 9 + [0.2] * 3 + [0.0] * 48), rose=3, fell=9)
    without, extended = estimate_difference(first, scale=1.0), estimate_difference(first, scale=1.0, test_pairs=more)
    assert extended.delta == without.delta == pytest.approx(-0.1)
    assert (extended.low, extended.high) == (without.low, without.high)
    assert extended.p < without.p


@pytest.mark.parametrize("n", [1, 10, 40, 2_000])
def test_wilson(n: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    for hits in (0, n // 3, n):
        low, high = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
        assert wilson_interval(hits, n) == pytest.approx((low, high), abs=CLOSE)


@pytest.mark.parametrize(("fell", "n"), [(1, 60), (3, 400), (11, 1_000)])
def test_the_score_interval_of_drops_by_one_is_wilsons(fell: int, n: int) -> None:
    low, high = measure_spread([(-1.0, 1)] * fell + [(0.0, 1)] * (n - fell)).score_interval()
    least, most = wilson_interval(fell, n)
    assert low == pytest.approx(-most, abs=CLOSE)
    assert high >= -least, "a mean above 0 takes cases that rise as well"


def test_the_score_interval_is_the_same_mirrored() -> None:
    values = differences(80)
    low, high = measure_spread([(value, 1) for value in values]).score_interval()
    assert measure_spread([(-value, 1) for value in values]).score_interval() == pytest.approx((-high, -low), abs=CLOSE)
    assert low < sum(values) / 80 < high
    assert measure_spread([(0.5, 1)]).score_interval() == (-inf, inf)


@pytest.mark.parametrize(("n", "most"), [(200, 0), (300, 1), (400, 2), (1_000, 11)])
def test_few_collapses_rule_out_no_more_than_their_number(n: int, most: int) -> None:
    """At a true fall of .02 by collapses of 1, equivalent is wrong: so many or fewer are seen in 2.5 % at most."""
    stats: Any = pytest.importorskip("scipy.stats")
    assert stats.binom.cdf(most, n, 0.02) <= 0.025
    seen = [examine(*[-1.0] * fell, *[0.0] * (n - fell)).smallest_margin <= 0.02 for fell in range(most + 3)]
    assert seen == [fell <= most for fell in range(most + 3)]


def test_a_small_drop_widens_the_interval() -> None:
    examined = examine(*[-0.01, -0.011] * 150)
    assert examined.smallest_margin == pytest.approx(0.0105 + 1 - 0.025 ** (1 / 300))


def test_the_interval_of_a_mean_score_is_wilsons_for_pass_and_fail() -> None:
    for n in (1, 2, 7, 60):
        for hits in range(n + 1):
            share = hits / n
            deviation = sqrt(n / (n - 1) * share * (1 - share)) if n > 1 else 0.0
            assert mean_score_interval(share, deviation, n) == pytest.approx(wilson_interval(hits, n), abs=1e-9)


def test_the_interval_of_a_mean_score_contains_the_true_mean_and_has_a_width() -> None:
    draws = random.Random(20_261_123)
    rare = (([1.0] * 46 + [0.75] * 2 + [0.5, 0.0]), 0.96), ([0.8] * 19 + [0.0], 0.76)
    for values, true_mean in rare:
        for n in (5, 20, 60):
            hits, narrowest = 0, 1.0
            for _ in range(1_000):
                scores = draws.choices(values, k=n)
                low, high = mean_score_interval(fmean(scores), stdev(scores), n)
                assert 0 <= low <= fmean(scores) <= high <= 1
                hits += low <= true_mean <= high
                narrowest = min(narrowest, high - low)
            assert hits >= 930, (values, n)
            assert narrowest > 0.02, n


def test_two_clusters_have_an_interval_and_one_has_none() -> None:
    two, one = measure_spread([(0.1, 1), (0.3, 1)]), measure_spread([(0.4, 2)])
    for low, high in (two.interval(), two.score_interval()):
        assert -inf < low < 0.2 < high < inf
    assert one.interval() == one.score_interval() == (-inf, inf)
    assert (two.detectable() is None, one.detectable(), one.t_test()) == (False, None, 1.0)


def test_without_a_changed_case_a_step_of_1_is_assumed() -> None:
    equal = measure_spread([(0.0, 1)] * 10)
    assert equal.expected_variance() == (2 / 12, 1.0)
    assert equal.expected_variance(0.5) == (0.5 / 12, 0.5)
    some = measure_spread([(0.5, 1), (-0.25, 1), *[(0.0, 1)] * 8])
    assert some.expected_variance() == pytest.approx(((0.3125 + 0.5) / 12, sqrt(0.3125 / 2)))
