"""The joint test of small rows: exact values, cases that move together, and its error rate."""

from __future__ import annotations

import random
from itertools import product
from math import fsum

import pytest

from scoregate.kernel.compare.statistics.joint_test import joint_fall_test


@pytest.mark.parametrize(("fallen", "p"), [(5, 1 / 32), (6, 1 / 64), (9, 1 / 512), (14, 2.0**-14)])
def test_one_row_in_which_every_case_falls_has_the_exact_probability(fallen: int, p: float) -> None:
    assert joint_fall_test([dict.fromkeys(range(fallen), -1.0)]) == pytest.approx(p)


def test_rows_without_a_difference_say_nothing() -> None:
    assert joint_fall_test([]) == 1.0
    assert joint_fall_test([{"a": 0.0, "b": 1e-12}]) == 1.0


def test_a_rise_is_no_fall() -> None:
    assert joint_fall_test([dict.fromkeys(range(8), 1.0)]) > 0.5


def brute_force(rows: list[dict[str, float]]) -> float:
    """The p by its definition, with every choice of signs."""
    cases = sorted({case for row in rows for case in row})
    variances = [fsum(value**2 for value in row.values()) for row in rows]

    def measure(signs: dict[str, int]) -> tuple[float, float]:
        sums = [fsum(signs[case] * value for case, value in row.items()) for row in rows]
        return -fsum(sums), fsum(min(0.0, total) ** 2 / v for total, v in zip(sums, variances, strict=True))

    outcomes = [measure(dict(zip(cases, each, strict=True))) for each in product((1, -1), repeat=len(cases))]

    def mid_p(axis: int, value: float) -> float:
        above = sum(each[axis] > value + 1e-9 for each in outcomes)
        equal = sum(abs(each[axis] - value) <= 1e-9 for each in outcomes)
        return (above + equal / 2) / len(outcomes)

    smaller = [min(mid_p(0, total), mid_p(1, falls)) for total, falls in outcomes]
    return sum(each <= smaller[0] + 1e-12 for each in smaller) / len(smaller)


def test_it_agrees_with_its_definition() -> None:
    source = random.Random(7)
    for _ in range(20):
        values = (-1.0, -0.5, 0.25, 1.0)
        rows = [{f"{at % 2}{case}": source.choice(values) for case in range(4)} for at in range(3)]
        assert joint_fall_test(rows) == pytest.approx(brute_force(rows))


def test_a_case_has_one_sign_in_all_rows() -> None:
    # Two evaluators of the same five cases are no more evidence than one; of other cases they are.
    row = dict.fromkeys("abcde", -1.0)
    assert joint_fall_test([row, row]) == pytest.approx(1 / 32)
    assert joint_fall_test([row, dict.fromkeys("fghij", -1.0)]) == pytest.approx(1 / 1024)


def test_neither_the_order_of_cases_nor_of_trials_counts() -> None:
    source = random.Random(3)
    rows = [{(suite, case): source.gauss(-0.2, 0.5) for case in range(8)} for suite in range(4)]
    p = joint_fall_test(rows)
    for _ in range(3):
        shuffled = [dict(source.sample(list(row.items()), len(row))) for row in rows]
        assert joint_fall_test(shuffled) == p


def test_one_collapsed_row_is_found_among_rows_that_vary() -> None:
    source = random.Random(11)
    others = [{(row, case): source.choice((-1.0, 0.0, 0.0, 0.0, 1.0)) for case in range(8)} for row in range(11)]
    assert joint_fall_test([{("collapsed", case): -1.0 for case in range(8)}, *others]) < 0.02
    assert joint_fall_test(others) > 0.025


def test_falls_are_not_hidden_by_as_many_rises() -> None:
    falls = [{(row, case): -0.3 for case in range(8)} for row in range(6)]
    rises = [{(row, case): 0.3 for case in range(8)} for row in range(6, 12)]
    assert joint_fall_test([*falls, *rises]) < 0.001


def test_without_a_change_it_is_small_as_seldom_as_its_level() -> None:
    source = random.Random(5)

    def draw() -> float:
        rows = [{(row, case): source.gauss(0, 1) for case in range(8)} for row in range(3)]
        return joint_fall_test(rows)

    ps = [draw() for _ in range(120)]
    assert sum(p <= 0.1 for p in ps) <= 21  # 12 are expected; more than 21 have a probability of 0.3 %
    assert sum(p <= 0.5 for p in ps) >= 43


def test_with_drawn_signs_the_observed_outcome_counts_half() -> None:
    assert joint_fall_test([dict.fromkeys(range(40), -1.0)]) == pytest.approx(0.5 / 10_000)
