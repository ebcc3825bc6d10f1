"""Properties for any scores: of the test alone, and of a whole row."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.stats.builders import Scores, row_of

from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.statistics.significance import MAX_ENUMERATED, sign_flip_test

MIRRORED = {RowLabel.BETTER: RowLabel.WORSE, RowLabel.WORSE: RowLabel.BETTER}
KINDS = {
    "binary": st.sampled_from([0.0, 1.0]),
    "rubric": st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
    "percent": st.integers(0, 100).map(lambda percent: percent / 100),
    "continuous": st.floats(0, 1),
}


@st.composite
def two_sides(draw: st.DrawFn, least: int = 1) -> tuple[Scores, Scores]:
    """The scores of a run and its base: one kind, each case repeated as often on one side as on the other."""
    score = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    repeats = draw(st.integers(1, 3))
    trials = st.lists(score, min_size=repeats, max_size=repeats)
    sides = draw(st.lists(st.tuples(trials, trials), min_size=least, max_size=30))
    new, old = ({f"case-{index}": pair[side] for index, pair in enumerate(sides)} for side in (0, 1))
    return new, old


@st.composite
def uneven_sides(draw: st.DrawFn) -> tuple[Scores, Scores]:
    """The scores of a run and its base: one kind, each case with its own number of trials on each side."""
    score = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    trials = st.lists(score, min_size=1, max_size=3)
    sides = draw(st.lists(st.tuples(trials, trials), min_size=10, max_size=20))
    new, old = ({f"case-{index}": pair[side] for index, pair in enumerate(sides)} for side in (0, 1))
    return new, old


def values(limit: int = 40) -> st.SearchStrategy[list[float]]:
    lattice = st.integers(-20, 20).map(lambda step: step / 20)
    return st.lists(lattice, max_size=limit) | st.lists(st.floats(-1, 1), max_size=limit)


def numbers(row: Row) -> list[float]:
    found = (
        row.delta,
        row.estimate.p,
        row.estimate.low,
        row.estimate.high,
        row.estimate.detectable,
        row.estimate.smallest_p,
    )
    return [number for number in found if number is not None]


@given(values())
def test_p_is_a_probability(differences: list[float]) -> None:
    p = sign_flip_test(differences)
    assert p is not None
    assert 0.0 < p <= 1.0


@given(values())
def test_neither_direction_nor_order_changes_p(differences: list[float]) -> None:
    p = sign_flip_test(differences)
    assert sign_flip_test([-d for d in differences]) == pytest.approx(p, abs=1e-12)
    shuffled = random.Random(1).sample(differences, k=len(differences))
    assert sign_flip_test(shuffled) == pytest.approx(p, abs=1e-12)


@given(values(), st.integers(1, 50))
def test_equal_pairs_keep_p(differences: list[float], equal: int) -> None:
    assert sign_flip_test([*differences, *[0.0] * equal]) == sign_flip_test(differences)


@given(st.lists(st.integers(-1_000, 1_000).map(lambda step: step / 1_000), max_size=MAX_ENUMERATED), st.floats(0.1, 30))
def test_scaling_keeps_p(differences: list[float], factor: float) -> None:
    assert sign_flip_test([factor * d for d in differences]) == pytest.approx(sign_flip_test(differences), abs=1e-9)


@given(st.lists(st.floats(0.01, 1), min_size=20, max_size=40), st.sampled_from([0.25, 0.5, 2.0, 16.0]))
def test_scaling_keeps_drawn_p(sizes: list[float], factor: float) -> None:
    off_every_lattice = [sqrt(2) * size for size in sizes]
    differences = [size if index % 3 else -size for index, size in enumerate(off_every_lattice)]
    assert sign_flip_test([factor * d for d in differences]) == sign_flip_test(differences)


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=10))
def test_a_larger_difference_never_raises_p(sizes: list[float]) -> None:
    one_way = sign_flip_test(sizes)
    assert one_way == pytest.approx(2.0 ** -len(sizes))
    assert sign_flip_test([-sizes[0], *sizes[1:]]) >= one_way  # type: ignore[operator]


@given(two_sides())
def test_swapping_run_and_base_flips_the_sign_and_keeps_p(sides: tuple[Scores, Scores]) -> None:
    row, swapped = row_of(*sides), row_of(*reversed(sides))
    assert swapped.delta == pytest.approx(-(row.delta or 0.0), abs=1e-12)
    assert swapped.estimate.p == pytest.approx(row.estimate.p, abs=1e-12)
    assert (swapped.pairs.better, swapped.pairs.worse, swapped.pairs.n) == (
        row.pairs.worse,
        row.pairs.better,
        row.pairs.n,
    )
    check_mirrored(row, swapped)


def check_mirrored(row: Row, swapped: Row) -> None:
    """Getting better needs more than getting worse: rises must outweigh a collapse that no case shows."""
    worse, other = (row, swapped) if row.gain <= 0 else (swapped, row)
    mirrored = (-other.estimate.high, -other.estimate.low)
    if other.label in (RowLabel.BETTER, RowLabel.WORSE) or worse.label is not RowLabel.WORSE:
        assert other.label is MIRRORED.get(worse.label, worse.label)
    if worse.correction.q is not None and other.correction.q is not None:
        assert worse.correction.q <= other.correction.q + 1e-9
    assert (worse.estimate.low, mirrored[1]) == pytest.approx(
        (mirrored[0], max(worse.estimate.high, mirrored[1])), abs=1e-9
    )


@given(two_sides())
def test_rows_are_valid(sides: tuple[Scores, Scores]) -> None:
    row = row_of(*sides)
    assert all(isfinite(number) for number in numbers(row))
    assert row.delta is not None
    assert -1.0 <= row.estimate.low <= row.estimate.high <= 1.0
    assert row.pairs.n == len(sides[0])
    assert row.pairs.better + row.pairs.worse <= row.pairs.n
    assert (row.correction.q is None) == (row.pairs.n < 10 or row.estimate.smallest_p > 0.05)


@given(two_sides(), st.randoms(use_true_random=False))
def test_the_order_of_cases_does_not_matter(sides: tuple[Scores, Scores], source: random.Random) -> None:
    row = row_of(*sides)
    other = row_of(*({case: side[case] for case in shuffled(list(side), source)} for side in sides))
    assert numbers(other) == pytest.approx(numbers(row), abs=1e-9)
    assert other.label is row.label


@settings(max_examples=15)
@given(uneven_sides(), st.randoms(use_true_random=False))
def test_neither_order_nor_direction_matters_with_unequal_repeats(
    sides: tuple[Scores, Scores], source: random.Random
) -> None:
    """Cases and trials finish in any order, and the test of unequal repeats draws random numbers."""
    row = row_of(*sides)
    new, old = ({case: shuffled(side[case], source) for case in shuffled(list(side), source)} for side in sides)
    other, swapped = row_of(new, old), row_of(old, new)
    assert numbers(other) == pytest.approx(numbers(row), abs=1e-9)
    assert swapped.estimate.p == pytest.approx(row.estimate.p, abs=1e-9)
    assert other.label is row.label
    check_mirrored(row, swapped)


def shuffled(names: Sequence[Any], source: random.Random) -> list[Any]:
    return source.sample(names, k=len(names))


@given(two_sides(least=10), st.sampled_from([0.0, 1.0]))
def test_one_more_equal_pair_changes_nothing_but_n(sides: tuple[Scores, Scores], score: float) -> None:
    repeats = len(sides[0]["case-0"])
    row, more = row_of(*sides), row_of(*({**side, "equal": [score] * repeats} for side in sides))
    assert (more.estimate.p, more.estimate.smallest_p, more.pairs.better, more.pairs.worse) == (
        row.estimate.p,
        row.estimate.smallest_p,
        row.pairs.better,
        row.pairs.worse,
    )
    assert more.pairs.n == row.pairs.n + 1
    assert more.delta == pytest.approx((row.delta or 0.0) * row.pairs.n / more.pairs.n, abs=1e-12)


@given(two_sides(), st.integers(1, 4))
def test_pooling_the_same_base_again_moves_no_estimate_and_never_lowers_p(
    sides: tuple[Scores, Scores], runs: int
) -> None:
    """Unequal repeats ask the within-case test too; the larger p counts."""
    new, old = sides
    row, pooled = row_of(new, old), row_of(new, *[old] * (1 + runs))
    assert pooled.delta == pytest.approx(row.delta, abs=1e-9)
    assert pooled.estimate.p >= row.estimate.p - 1e-9
    assert (pooled.pairs.n, pooled.pairs.better, pooled.pairs.worse) == (row.pairs.n, row.pairs.better, row.pairs.worse)


@given(two_sides())
def test_repeats_in_another_order_change_nothing(sides: tuple[Scores, Scores]) -> None:
    new, old = sides
    row = row_of(new, old)
    turned = row_of({case: list(reversed(scores)) for case, scores in new.items()}, old)
    assert numbers(turned) == pytest.approx(numbers(row), abs=1e-9)
    assert (turned.label, turned.pairs.better, turned.pairs.worse) == (row.label, row.pairs.better, row.pairs.worse)


@given(two_sides())
def test_a_run_against_itself_is_unchanged(sides: tuple[Scores, Scores]) -> None:
    new = sides[0]
    turned = {case: list(reversed(scores)) for case, scores in new.items()}
    row = row_of(turned, new)
    assert row.label is (RowLabel.UNCHANGED if row.pairs.n >= 10 else RowLabel.TOO_FEW)
    assert (row.estimate.p, row.pairs.better, row.pairs.worse) == (1.0, 0, 0)
    assert row.delta == pytest.approx(0.0, abs=1e-12)
