"""Agreement of judges with people, against other implementations' figures, scipy, and what must always hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import sqrt
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scoregate.kernel.compare.agreement import cohens_kappa, measure_agreement
from scoregate.kernel.compare.judge_checks import Review
from scoregate.kernel.compare.statistics.intervals import wilson_interval

SCORES = (0.0, 0.5, 1.0)
tables = st.lists(st.integers(0, 30), min_size=9, max_size=9).map(
    lambda counts: dict(zip(product(SCORES, SCORES), counts, strict=True))
)


def make_overrides(table: dict[tuple[float, float], int]) -> list[Review]:
    return [Review(judge, person) for (judge, person), count in table.items() for _ in range(count)]


# Rows are the judge's; figures of statsmodels 0.14 (`cohens_kappa`), the first also by hand: (0.7 - 0.5) / 0.5.
@pytest.mark.parametrize(
    ("rows", "value", "error"),
    [
        ([[20, 5], [10, 15]], 0.4, 0.12699606293110033),
        ([[45, 15], [25, 15]], 0.13043478260869554, 0.0986615376234396),
        ([[88, 10, 2], [14, 40, 6], [18, 10, 12]], 0.49152542372881347, 0.05100181557607786),
        ([[53, 5, 2], [11, 14, 5], [1, 6, 3]], 0.4285714285714285, 0.0759588315346638),
    ],
)
def test_kappa_and_its_error_match_references(rows: Sequence[Sequence[int]], value: float, error: float) -> None:
    table = {(i / 2, j / 2): count for i, row in enumerate(rows) for j, count in enumerate(row)}
    agreement = measure_agreement(make_overrides(table))
    assert agreement is not None
    assert agreement.kappa is not None
    assert (agreement.kappa.value, agreement.kappa.error) == pytest.approx((value, error), abs=1e-12)
    assert agreement.n == sum(map(sum, rows))


def test_the_interval_of_kappa_adds_an_agreement_and_a_disagreement() -> None:
    """By hand: 52 judgements, 36 alike; the judge gave 0 to 26, people to 31."""
    kappa = cohens_kappa({(0.0, 0.0): 20, (0.0, 1.0): 5, (1.0, 0.0): 10, (1.0, 1.0): 15})
    assert kappa is not None
    assert kappa.low is not None
    assert kappa.high is not None
    center = (36 / 52 - 0.5) / 0.5
    assert (kappa.low + kappa.high) / 2 == pytest.approx(center)
    smoothed = cohens_kappa({(0.0, 0.0): 41, (0.0, 1.0): 11, (1.0, 0.0): 21, (1.0, 1.0): 31})  # twice as many of each
    assert smoothed is not None
    assert (kappa.high - kappa.low) / 2 == pytest.approx(1.959964 * sqrt(2) * smoothed.error)


@pytest.mark.parametrize("n", [1, 49, 50, 51, 2000])
def test_an_interval_needs_50_judgements_and_has_a_width(n: int) -> None:
    for table in ({(1.0, 1.0): n - 1, (0.0, 0.0): 1}, {(1.0, 1.0): n, (0.0, 1.0): 1}, {(1.0, 0.0): n, (0.0, 1.0): 1}):
        kappa = cohens_kappa(table)
        if kappa is None:
            continue
        if sum(table.values()) < 50:
            assert (kappa.low, kappa.high) == (None, None)
        else:
            assert kappa.low is not None
            assert kappa.high is not None
            assert -1 <= kappa.low <= kappa.value <= kappa.high <= 1
            assert kappa.low < kappa.high


def test_more_than_a_hundred_different_scores_have_no_interval() -> None:
    kappa = cohens_kappa({(index / 200, (index + index % 2) / 200): 1 for index in range(200)})
    assert kappa is not None
    assert (kappa.low, kappa.high) == (None, None)


@given(tables)
def test_errors_are_of_the_delta_method(table: dict[tuple[float, float], int]) -> None:
    """The error computed in another way: from numerical derivatives of kappa."""
    n = sum(table.values())
    assume(n > 0)
    kappa = cohens_kappa(table)
    assume(kappa is not None and chance(shares(table)) < 0.95)
    p, h = shares(table), 1e-6
    slopes = {cell: (value(p | {cell: p[cell] + h}) - value(p | {cell: p[cell] - h})) / (2 * h) for cell in p}
    mean = sum(p[cell] * slopes[cell] for cell in p)
    variance = sum(p[cell] * slopes[cell] ** 2 for cell in p) - mean**2
    assert kappa is not None
    assert kappa.error == pytest.approx(sqrt(max(0.0, variance) / n), abs=1e-4)


def shares(table: dict[tuple[float, float], int]) -> dict[tuple[float, float], float]:
    n = sum(table.values())
    return {cell: count / n for cell, count in table.items()}


def chance(p: dict[tuple[float, float], float]) -> float:
    return sum(sum(p[s, o] for o in SCORES) * sum(p[o, s] for o in SCORES) for s in SCORES)


def value(p: dict[tuple[float, float], float]) -> float:
    return (sum(p[s, s] for s in SCORES) - chance(p)) / (1 - chance(p))


@given(tables)
def test_invariants_hold(table: dict[tuple[float, float], int]) -> None:
    agreement = measure_agreement(make_overrides(table))
    assert (agreement is None) == (not any(table.values()))
    assume(agreement is not None)
    assert agreement is not None
    assert 0 <= agreement.low <= agreement.accuracy <= agreement.high <= 1
    assert sum(agreement.confusion.values()) == agreement.n
    if agreement.kappa is not None:
        assert (agreement.kappa.low is None) == (agreement.n < 50)
        if agreement.kappa.low is not None and agreement.kappa.high is not None:
            assert -1 <= agreement.kappa.low <= agreement.kappa.value <= agreement.kappa.high <= 1 + 1e-12
            assert agreement.kappa.low < agreement.kappa.high
        assert agreement.kappa.value <= agreement.accuracy + 1e-12
    mirrored = measure_agreement(make_overrides({(person, judge): count for (judge, person), count in table.items()}))
    assert mirrored is not None
    assert mirrored.accuracy == agreement.accuracy
    assert (mirrored.kappa is None) == (agreement.kappa is None)
    if mirrored.kappa is not None and agreement.kappa is not None:
        assert mirrored.kappa.value == pytest.approx(agreement.kappa.value)
        assert mirrored.kappa.error == pytest.approx(agreement.kappa.error, abs=1e-7)


def test_full_agreement_and_constant_scores() -> None:
    full = measure_agreement(make_overrides({(0.0, 0.0): 6, (1.0, 1.0): 4}))
    assert full is not None
    assert full.kappa is not None
    assert (full.accuracy, full.kappa.value, full.kappa.error) == (1.0, 1.0, 0.0)
    one = measure_agreement(make_overrides({(1.0, 1.0): 7}))
    assert one is not None
    assert one.kappa is None
    assert (one.accuracy, one.scores) == (1.0, (1.0,))


def test_rounding_errors_do_not_make_scores_differ() -> None:
    agreement = measure_agreement([Review(0.1 + 0.2, 0.3), Review(0.3, 0.7)])
    assert agreement is not None
    assert agreement.confusion == {(0.3, 0.3): 1, (0.3, 0.7): 1}


@settings(deadline=None)  # the first call imports scipy
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(trials: tuple[int, int]) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    hits, n = trials
    expected = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_stratified_sample_is_weighted_back_to_the_run() -> None:
    """The judge fails a tenth of the run's scores and half of the sample; it is wrong in half of its failing scores."""
    sample = [
        *[Review(0, 0, None, 0.1)] * 25,
        *[Review(0, 1, None, 0.1)] * 25,
        *[Review(1, 1, None, 0.1)] * 50,
    ]
    agreement = measure_agreement(sample)
    assert agreement is not None
    assert (agreement.n, agreement.matching, agreement.accuracy) == (100, 75, pytest.approx(0.95))
    assert agreement.confusion == {(0, 0): 25, (0, 1): 25, (1, 1): 50}
    # Of the run: .05 and .05 that the judge fails, .9 that it passes.
    expected = cohens_kappa({(0.0, 0.0): 5, (0.0, 1.0): 5, (1.0, 1.0): 90})
    assert agreement.kappa is not None
    assert expected is not None
    assert agreement.kappa.value == pytest.approx(expected.value)
    # Weights of .2 and 1.8 are worth 100² / (50 · .2² + 50 · 1.8²) = 60.98 reviews.
    assert (agreement.low, agreement.high) == pytest.approx(wilson_interval(0.95 * 60.9756, 60.9756), abs=1e-6)
