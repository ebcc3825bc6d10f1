"""The sign-flip test against enumeration, McNemar's mid-p, scipy and itself."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import log, sqrt
from typing import Any

import pytest
from tests.unit.stats.references import mid_p

from scoregate.kernel.compare.estimates import estimate_difference
from scoregate.kernel.compare.pairing import Pairs
from scoregate.kernel.compare.statistics import significance
from scoregate.kernel.compare.statistics.intervals import measure_spread
from scoregate.kernel.compare.statistics.significance import (
    MAX_ENUMERATED,
    MAX_HALVED,
    MAX_INVERTED,
    exact_sign_flip_p,
    sign_flip_test,
    smallest_p,
)

CLOSE = 1e-9
LATTICES: dict[str, list[Fraction]] = {
    "halves": [Fraction(k, 2) for k in range(-2, 3)],
    "thirds": [Fraction(k, 3) for k in range(-3, 4)],
    "rubric": [Fraction(k, 4) for k in range(-4, 5)],
    "rubric, five repeats": [Fraction(k, 20) for k in range(-20, 21)],
    "percent": [Fraction(k, 100) for k in range(-100, 101)],
    "mixed": [Fraction(1, 3), Fraction(-1, 4), Fraction(2, 5), Fraction(0), Fraction(-1, 7)],
}


def as_floats(values: Sequence[Fraction]) -> list[float]:
    return [float(value) for value in values]


@pytest.mark.parametrize("lattice", LATTICES)
@pytest.mark.parametrize("n", [1, 2, 5, 9, 12])
def test_lattices_match_enumeration(lattice: str, n: int) -> None:
    source = random.Random(f"{lattice} {n}")
    for _ in range(4 if n < 12 else 1):
        values = source.choices(LATTICES[lattice], k=n)
        assert sign_flip_test(as_floats(values)) == pytest.approx(float(mid_p(values)), abs=CLOSE)


@pytest.mark.parametrize("n", [1, 3, 8, 12, 15])
def test_continuous_values_match_enumeration(n: int) -> None:
    source = random.Random(n)
    values = [Fraction(source.gauss(0.2, 1)) for _ in range(n)]
    assert sign_flip_test(as_floats(values)) == pytest.approx(float(mid_p(values)), abs=CLOSE)


def test_ties_of_continuous_values_count_half() -> None:
    uneven = Fraction(sqrt(2))
    values = [uneven, -uneven, Fraction(1), Fraction(0), -uneven - 1]
    assert sign_flip_test(as_floats(values)) == pytest.approx(float(mid_p(values)), abs=CLOSE)


def test_the_first_n_too_large_to_enumerate_is_still_exact_on_a_lattice() -> None:
    values = random.Random(1).choices(LATTICES["rubric"], k=MAX_ENUMERATED + 1)
    assert sign_flip_test(as_floats(values)) == pytest.approx(float(mid_p(values)), abs=CLOSE)


def test_no_p_exceeds_1() -> None:
    for n in range(2, 3_000, 2):
        p = sign_flip_test([1.0, -1.0] * (n // 2))
        assert p == pytest.approx(1, abs=1e-12)
        assert p <= 1


def test_no_difference_has_p_1() -> None:
    assert sign_flip_test([]) == 1.0
    assert sign_flip_test([0.0] * 40) == 1.0
    assert smallest_p([0.0] * 40) == 1.0


def test_a_rounding_error_is_ignored() -> None:
    rounding = 0.1 + 0.2 - 0.3
    assert rounding
    assert sign_flip_test([rounding] * 50) == 1.0
    assert smallest_p([rounding] * 50) == 1.0
    assert sign_flip_test([rounding] * 50 + [1.0] * 6) == sign_flip_test([1.0] * 6)


def test_mcnemar_mid_p_up_to_sixty() -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    for worse in range(61):
        for better in range(61):
            if fewer_of := worse + better:
                fewer = min(worse, better)
                expected = 2 * stats.binom.cdf(fewer, fewer_of, 0.5) - stats.binom.pmf(fewer, fewer_of, 0.5)
                assert sign_flip_test([-1.0] * worse + [1.0] * better) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize(("worse", "better"), [(2500, 2500), (2400, 2600), (2600, 2300), (5000, 5000), (1, 4999)])
def test_mcnemar_mid_p_of_thousands(worse: int, better: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    n, fewer = worse + better, min(worse, better)
    expected = 2 * stats.binom.cdf(fewer, n, 0.5) - stats.binom.pmf(fewer, n, 0.5)
    assert sign_flip_test([-1.0] * worse + [1.0] * better) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize(("worse", "better"), [(40, 0), (25, 15), (99, 101), (170, 30)])
def test_values_of_one_size_are_counted_whatever_the_size(worse: int, better: int) -> None:
    """Logarithms of a ratio differ by rounding: log(1.3) and -log(1 / 1.3)."""
    down, up = log(1 / 1.3), log(1.3)
    assert -down != up
    counted = sign_flip_test([-1.0] * worse + [1.0] * better)
    assert sign_flip_test([down] * worse + [up] * better) == counted


@pytest.mark.parametrize("n", [6, 10, 14])
def test_scipy_agrees_if_no_sums_tie(n: int) -> None:
    """Without ties only ±|T| itself is as extreme, of which scipy counts all and mid-p half: 2 of 2**n, and 1."""
    stats: Any = pytest.importorskip("scipy.stats")
    source = random.Random(n)
    new, old = ([source.random() for _ in range(n)] for _ in range(2))
    p_value = stats.permutation_test(
        (new, old),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=float("inf"),
        vectorized=True,
    )
    assert sign_flip_test([a - b for a, b in zip(new, old, strict=True)]) == pytest.approx(
        p_value.pvalue - 2**-n, abs=1e-9
    )


def draw_without_lattice(n: int, shift: float, seed: int = 1) -> list[float]:
    source = random.Random(seed)
    return [source.gauss(shift, 1) for _ in range(n)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shift", [0.0, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("n", [14, MAX_HALVED])
def test_inversion_is_enumeration(n: int, shift: float, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = draw_without_lattice(n, shift, seed)
    exact = sign_flip_test(values)
    monkeypatch.setattr(significance, "MAX_HALVED", 0)
    assert sign_flip_test(values) == pytest.approx(exact, abs=2e-4)


@pytest.mark.parametrize("large", [1, 4, 8])
def test_inversion_is_enumeration_if_few_values_dominate(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(large)
    few = [-0.9 + 0.01 * source.gauss(0, 1) for _ in range(large)]
    values = [*few, *(0.02 * source.gauss(0, 1) for _ in range(14 - large))]
    exact = sign_flip_test(values)
    monkeypatch.setattr(significance, "MAX_HALVED", 0)
    assert sign_flip_test(values) == pytest.approx(exact, abs=2e-4)


@pytest.mark.parametrize("n", [40, 200])
def test_inversion_matches_convolution_off_a_lattice(n: int) -> None:
    """A millionth off a rubric's steps is as good as on them."""
    source = random.Random(n)
    steps = source.choices([-0.75, -0.5, -0.25, 0.25, 0.5], k=n)
    values = [step + 1e-6 * source.gauss(0, 1) for step in steps]
    assert sign_flip_test(values) == pytest.approx(sign_flip_test(steps), rel=0.02)


@pytest.mark.parametrize("wanted", [2.5, 3.0, 3.3])
def test_inversion_reaches_far_into_the_tail(wanted: float) -> None:
    """Where 40 rows are corrected together, a p of a thousandth decides. Draws with a seed were off by half there."""
    stats: Any = pytest.importorskip("scipy.stats")
    values = sorted(map(abs, draw_without_lattice(200, 0.0)))
    scale = sqrt(sum(value**2 for value in values))
    for index, value in enumerate(values):
        if sum(values) - 2 * value >= wanted * scale:
            values[index] = -value
    z, kurtosis = sum(values) / scale, -2 * sum(value**4 for value in values) / scale**4
    edgeworth = stats.norm.sf(z) + stats.norm.pdf(z) * kurtosis / 24 * (z**3 - 3 * z)
    assert sign_flip_test(values) == pytest.approx(2 * edgeworth, rel=0.02)


@pytest.mark.parametrize("n", [27, 100, 200])
def test_inversion_approaches_the_normal(n: int) -> None:
    """The sum of many random signs is as good as normal: a check that every value is flipped, at any length."""
    stats: Any = pytest.importorskip("scipy.stats")
    values = draw_without_lattice(n, 0.1)
    expected = 2 * stats.norm.sf(abs(sum(values)) / sqrt(sum(value**2 for value in values)))
    assert sign_flip_test(values) == pytest.approx(expected, abs=0.03)


def test_inversion_is_the_same_in_any_order() -> None:
    values = draw_without_lattice(60, 0.2)
    again = random.Random(2).sample(values, k=len(values))
    assert sign_flip_test(values) == sign_flip_test(values) == sign_flip_test(again)
    assert sign_flip_test([-value for value in values]) == sign_flip_test(values)


def test_inversion_never_gives_zero() -> None:
    p_value = sign_flip_test(draw_without_lattice(100, 50.0))
    assert p_value is not None
    assert 0 < p_value < 1e-9


def make_pairs(differences: Sequence[float]) -> Pairs:
    return Pairs(len(differences), tuple((d, 1) for d in differences))


def test_many_continuous_values_use_the_t_test() -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    values = draw_without_lattice(MAX_INVERTED + 1, 0.1)
    assert sign_flip_test(values) is None
    assert estimate_difference(make_pairs(values), scale=9.0).p == pytest.approx(
        stats.ttest_1samp(values, 0).pvalue, abs=CLOSE
    )
    assert sign_flip_test([*values[1:], 0.0, 0.0]) is not None, "equal pairs do not count towards the limit"


def test_a_lattice_over_the_work_limit_uses_the_t_test() -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    values = random.Random(1).choices(as_floats(LATTICES["percent"]), k=3_000)
    assert sign_flip_test(values) is None
    assert estimate_difference(make_pairs(values), scale=1.0).p == pytest.approx(
        stats.ttest_1samp(values, 0).pvalue, abs=CLOSE
    )


def test_regimes_agree_where_they_meet() -> None:
    """On a lattice of 400 the exact p equals that of the t test."""
    values = random.Random(3).choices(as_floats(LATTICES["rubric"]), k=400)
    exact = sign_flip_test(values)
    assert exact == pytest.approx(measure_spread([(value, 1) for value in values]).t_test(), abs=0.005)


@pytest.mark.parametrize("m", [1, 4, 5, 12, 14])
def test_the_smallest_p_is_reached_when_all_have_one_sign(m: int) -> None:
    for values in ([1.0] * m, [random.Random(m).random() + 0.1 for _ in range(m)]):
        assert sign_flip_test([*values, 0.0, 0.0]) == pytest.approx(smallest_p([*values, 0.0]), abs=1e-12)
        assert smallest_p(values) == 2.0**-m


def test_the_exact_p_counts_equal_outcomes_fully() -> None:
    for values in ([-1.0] * 5, [-0.3, 0.1, -0.25, -0.6], [1.0, 1.0, -1.0], [0.0, 0.0], [0.5, -0.5]):
        signs = list(product((1, -1), repeat=len(values)))
        sums = [sum(sign * value for sign, value in zip(each, values, strict=True)) for each in signs]
        observed = sum(values)
        lower = sum(each <= observed + 1e-12 for each in sums) / len(sums)
        upper = sum(each >= observed - 1e-12 for each in sums) / len(sums)
        assert exact_sign_flip_p(values) == pytest.approx((lower, upper))
    assert exact_sign_flip_p([1.0] * (MAX_ENUMERATED + 1)) is None
