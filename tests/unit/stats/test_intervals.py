"""Intervals, standard errors and detectable effects against scipy and their formulas."""

from __future__ import annotations

import random
from math import inf, sqrt
from typing import Any

import pytest
from tests.unit.stats.oracles import clustered_error

from scoregate.core.intervals import bonett_price, spread
from scoregate.core.pairs import Pairs
from scoregate.core.stats import examine

CLOSE = 1e-9


def differences(n: int, seed: int = 1) -> list[float]:
    source = random.Random(seed)
    return [source.gauss(0.1, 0.4) for _ in range(n)]


def clustered(values: list[float], names: list[str]) -> list[tuple[float, int]]:
    return [
        (sum(v for v, other in zip(values, names, strict=True) if other == name), names.count(name))
        for name in dict.fromkeys(names)
    ]


@pytest.mark.parametrize("n", [2, 10, 57, 400])
def test_cases_alone_are_the_paired_t(n: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    values = differences(n)
    around, expected = spread([(value, 1) for value in values]), stats.ttest_1samp(values, 0)
    low, high = expected.confidence_interval(0.95)
    assert around.t_test() == pytest.approx(expected.pvalue, abs=CLOSE)
    assert around.interval() == pytest.approx((low, high), abs=CLOSE)
    assert around.error == pytest.approx(stats.sem(values), abs=CLOSE)
    assert around.df == n - 1


@pytest.mark.parametrize("n", [10, 57, 400])
def test_clusters_widen_the_error_by_the_formula(n: int) -> None:
    values, source = differences(n), random.Random(n)
    names = [f"conversation-{source.randrange(1 + n // 4)}" for _ in values]
    around = spread(clustered(values, names))
    assert around.error == pytest.approx(clustered_error(values, names), abs=CLOSE)
    assert around.mean == pytest.approx(sum(values) / n, abs=CLOSE)
    assert around.clusters == len(set(names))


def test_copies_within_a_cluster_are_no_evidence() -> None:
    values = differences(20)
    once = spread([(value, 1) for value in values])
    often = spread([(5 * value, 5) for value in values])
    assert often.error == pytest.approx(once.error, abs=CLOSE)
    assert often.interval() == pytest.approx(once.interval(), abs=CLOSE)


@pytest.mark.parametrize("n", [2, 10, 57, 400])
def test_the_detectable_effect(n: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    values = differences(n)
    expected = (stats.t.ppf(0.975, n - 1) + stats.t.ppf(0.8, n - 1)) * stats.sem(values)
    assert spread([(value, 1) for value in values]).detectable() == pytest.approx(expected, abs=CLOSE)


def test_one_cluster_says_nothing_of_its_error() -> None:
    around = spread([(0.5, 1)])
    assert around.interval() == (-inf, inf)
    assert around.detectable() is None
    assert around.t_test() == 1.0
    found = examine(Pairs(1, ((0.5, 1),), rose=1), bound=1.0)
    assert (found.delta, found.p, found.low, found.high, found.detectable) == (0.5, 0.5, -1.0, 1.0, None)


def test_differences_that_are_all_the_same() -> None:
    assert spread([(0.25, 1)] * 9).t_test() == 0.0
    assert spread([(0.0, 1)] * 9).t_test() == 1.0
    assert spread([(0.25, 1)] * 9).interval() == (0.25, 0.25)


@pytest.mark.parametrize("n", [1, 10, 40, 2_000])
def test_bonett_and_price(n: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    z = stats.norm.ppf(0.975)
    for worse, better in ((0, 0), (0, n), (n, 0), (n // 3, n // 5), (n // 2, n // 2)):
        a, e = (worse + 1) / (n + 2), (better + 1) / (n + 2)
        half = z * sqrt((a + e - (a - e) ** 2) / (n + 2))
        expected = max(-1.0, e - a - half), min(1.0, e - a + half)
        assert bonett_price(better, worse, n) == pytest.approx(expected, abs=CLOSE)


def test_binary_pairs_get_the_adjusted_interval_and_others_the_t() -> None:
    values = [1.0] * 4 + [-1.0] * 9 + [0.0] * 27
    clusters = tuple((value, 1) for value in values)
    fourfold = examine(Pairs(40, clusters, rose=4, fell=9, binary=True), bound=1.0)
    assert (fourfold.low, fourfold.high) == bonett_price(4, 9, 40)
    assert fourfold.delta == pytest.approx(-5 / 40)
    other = examine(Pairs(40, clusters, rose=4, fell=9), bound=1.0)
    assert (other.low, other.high) == spread(clusters).interval()


def test_an_interval_ends_where_the_scale_does() -> None:
    found = examine(Pairs(3, ((1.0, 1), (1.0, 1), (-0.5, 1)), rose=2, fell=1), bound=1.0)
    assert (found.low, found.high) == (-1.0, 1.0)
    free = examine(Pairs(3, ((1.0, 1), (1.0, 1), (-0.5, 1)), rose=2, fell=1), bound=inf)
    assert free.low < -1.0
    assert free.high > 1.0
