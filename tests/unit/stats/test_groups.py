"""The test of values that are alike within groups: published values, tails in closed form, and what has no answer."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import atan, pi, sqrt
from statistics import fmean

import pytest

from scoregate.kernel.compare.statistics import joint_test
from scoregate.kernel.compare.statistics.joint_test import GroupTest

# Four judges' ratings of six targets: Shrout and Fleiss (1979), Psychological Bulletin 86:420, table 2.
RATINGS = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))


def examine(groups: Mapping[str, Sequence[float]]) -> GroupTest:
    """The groups' values in turn, as cases of a suite are."""
    longest = max(map(len, groups.values()), default=0)
    return joint_test.test_groups(
        (name, values[place]) for place in range(longest) for name, values in groups.items() if place < len(values)
    )


def test_published_ratings() -> None:
    """The article gives mean squares of 11.24 and 6.26 and a correlation of .17."""
    found = examine({str(target): ratings for target, ratings in enumerate(RATINGS)})
    assert (found.groups, found.n) == (6, 24)
    assert found.correlation == pytest.approx((11.24 - 6.26) / (11.24 + 3 * 6.26), abs=1e-3)
    assert found.correlation == pytest.approx(0.1657, abs=5e-5)
    assert found.design_effect == pytest.approx(1 + 3 * 0.1657, abs=2e-4)
    assert found.p == pytest.approx(0.1648, abs=5e-5)


def test_groups_of_two_values() -> None:
    """F is 8 with 1 and 2 degrees of freedom, whose tail is 1 − √(F / (F + 2))."""
    found = examine({"a": [0.0, 1.0], "b": [2.0, 3.0]})
    assert found == GroupTest(
        groups=2,
        n=4,
        p=pytest.approx(1 - sqrt(0.8)),
        correlation=pytest.approx((4 - 0.5) / (4 + 0.5)),
        design_effect=pytest.approx(1 + 3.5 / 4.5),
    )


def test_three_groups_of_other_sizes_have_a_known_tail() -> None:
    """With 2 and d degrees of freedom P(F > f) is (1 + 2f/d)^(−d/2), and 2f/d is the ratio of the sums of squares."""
    source = random.Random(1)
    for shift in (0.0, 0.5, 1.5):
        groups = {str(size): [source.gauss(shift * (size % 3), 1) for _ in range(size)] for size in (1, 4, 9)}
        means = {name: fmean(values) for name, values in groups.items()}
        within = sum((value - means[name]) ** 2 for name, values in groups.items() for value in values)
        overall = fmean(value for values in groups.values() for value in values)
        between = sum(len(values) * (means[name] - overall) ** 2 for name, values in groups.items())
        found = examine(groups)
        assert found.p == pytest.approx((1 + between / within) ** (-11 / 2), rel=1e-9)
        assert (found.groups, found.n) == (3, 14)


def test_groups_of_other_sizes_count_with_their_typical_size() -> None:
    """Sizes 1, 2 and 3. Between 84 with 2, within 2.5 with 3 degrees of freedom; typical size (6 − 14/6) / 2 = 11/6.

    Source: Donner (1986), International Statistical Review 54:67, for the correlation and the design effect.
    """
    found = examine({"a": [0.0], "b": [4.0, 5.0], "c": [9.0, 10.0, 11.0]})
    between = 0**2 / 1 + 9**2 / 2 + 30**2 / 3 - 39**2 / 6
    mean_between, mean_within = between / 2, 2.5 / 3
    correlation = (mean_between - mean_within) / (mean_between + 5 / 6 * mean_within)
    assert found.correlation == pytest.approx(correlation)
    assert found.design_effect == pytest.approx(1 + (14 / 6 - 1) * correlation)


def test_equal_values_within_groups_are_as_alike_as_can_be() -> None:
    found = examine({"a": [0.1] * 3, "b": [0.2] * 3, "c": [0.7] * 3})
    assert found.p == pytest.approx(0.0, abs=1e-30)
    assert found.p >= 0.0
    assert (found.correlation, found.design_effect) == (pytest.approx(1.0), pytest.approx(3.0))
    for step in range(60):
        values = [step / 7, step / 3, 0.1]
        assert examine({str(value): [value] * 3 for value in values}).correlation <= 1.0


def test_values_that_differ_more_within_groups_have_a_correlation_below_0() -> None:
    found = examine({"a": [0.0, 1.0], "b": [0.1, 1.0], "c": [0.0, 1.0]})
    assert found.p > 0.9
    assert found.correlation == pytest.approx(-1.0, abs=0.01)
    assert found.design_effect == pytest.approx(0.0, abs=0.01)


def test_without_groups_or_differences_nothing_is_known() -> None:
    for groups in (
        {},
        {"a": [1.0, 0.0, 3.0]},
        {"a": [1.0], "b": [0.0], "c": [2.0]},
        {"a": [0.25, 0.25], "b": [0.25, 0.25]},
        {"a": [0.0, 1.0], "b": [0.0, 1.0]},
    ):
        found = examine(groups)
        assert found == GroupTest(groups=len(groups), n=sum(map(len, groups.values())))
        assert (found.p, found.correlation, found.design_effect) == (1.0, 0.0, 1.0)


def test_two_groups_of_three_values_are_enough() -> None:
    """F is 27 with 1 and 1 degrees of freedom, whose tail is 1 − 2/π · arctan √F."""
    found = examine({"a": [0.0, 1.0], "b": [5.0]})
    assert found.p == pytest.approx(1 - 2 / pi * atan(sqrt(27)))
    assert found.correlation > 0.9


def test_cases_that_do_not_differ_leave_the_joint_test_exact() -> None:
    falls, equal = dict.fromkeys(range(9), -1.0), dict.fromkeys(range(9, 40), 0.0)
    assert joint_test.joint_fall_test([{**falls, **equal}, equal]) == 2.0**-9
