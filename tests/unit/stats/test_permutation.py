"""The within-case permutation test: against every way to deal the trials, and where draws meet the approximation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, product
from math import ceil, log
from statistics import NormalDist

import pytest

from scoregate.kernel.compare.estimates import one_sided_p
from scoregate.kernel.compare.pairing import Pairs, Side
from scoregate.kernel.compare.ratios import compute_total_ratio, p95_test
from scoregate.kernel.compare.statistics import significance
from scoregate.kernel.compare.statistics.significance import Trials, within_case_test
from scoregate.kernel.types.runs.case_columns import Columns


def enumerate_deals(cases: Sequence[Trials]) -> tuple[float, float]:
    """Every way to deal the trials of every case."""
    ways = [list(list_deals(new, old)) for new, old in cases]
    sums = [sum(chosen) for chosen in product(*ways)]
    seen = sum(sum(new) / len(new) - sum(old) / len(old) for new, old in cases)
    below, above = sum(s < seen - 1e-9 for s in sums), sum(s > seen + 1e-9 for s in sums)
    equal = len(sums) - below - above
    return (below + equal / 2) / len(sums), (above + equal / 2) / len(sums)


def list_deals(new: Sequence[float], old: Sequence[float]) -> list[float]:
    values, found = [*new, *old], []
    for chosen in combinations(range(len(values)), len(new)):
        ours = [values[index] for index in chosen]
        theirs = [value for index, value in enumerate(values) if index not in chosen]
        found.append(sum(ours) / len(ours) - sum(theirs) / len(theirs))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_draws_match_full_enumeration(seed: int) -> None:
    source = random.Random(seed)
    cases = [([source.random()], [source.random() for _ in range(3)]) for _ in range(5)]
    assert within_case_test(cases) == pytest.approx(enumerate_deals(cases), abs=0.02)


def test_equal_cases_do_not_change_p() -> None:
    assert within_case_test([([1.0], [1.0, 1.0]), ([0.0, 0.0], [0.0])]) == (0.5, 0.5)
    some = [([0.0], [1.0, 1.0, 0.0])] * 6
    assert within_case_test([*some, ([1.0], [1.0] * 3)]) == within_case_test(some)


def test_both_tails_add_up() -> None:
    lower, upper = within_case_test([([1.0], [0.0, 1.0, 1.0]), ([0.0], [1.0, 1.0, 1.0])])
    assert lower + upper == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("count", [3, 40])
def test_neither_order_nor_direction_changes_the_drawn_p(count: int) -> None:
    """Cases and their trials finish in any order."""
    source = random.Random(count)
    cases = [
        ([source.random() for _ in range(1 + index % 2)], [source.random() for _ in range(3 - index % 3)])
        for index in range(count)
    ]
    lower, upper = within_case_test(cases)
    again = source.sample([(new[::-1], old[::-1]) for new, old in cases], k=count)
    assert within_case_test(again) == (lower, upper)
    assert within_case_test([(old, new) for new, old in again]) == (upper, lower)


@pytest.mark.parametrize("trials", [1, 2])
def test_the_order_of_cases_does_not_change_the_p_of_a_percentile(trials: int) -> None:
    source = random.Random(trials)

    def side(factor: float, count: int) -> dict[str, list[float]]:
        return {f"c{index}": [factor * source.lognormvariate(0, 1) for _ in range(count)] for index in range(40)}

    def sort(amounts: dict[str, list[float]], order: int) -> Side:
        return Side.from_reader(
            lambda: ((case, *each) for case in sorted(amounts)[::order] for each in enumerate(amounts[case]))
        )

    new, old = side(1.5, trials), side(1.0, 1)
    first, second = (p95_test(sort(new, order), sort(old, order), Columns()) for order in (1, -1))
    assert first == second < 1


def side_of(*trials: Sequence[float]) -> Side:
    """The amounts of cases c0, c1, …"""
    return Side.from_reader(
        lambda: ((f"c{case}", slot, value) for case, values in enumerate(trials) for slot, value in enumerate(values))
    )


def enumerate_swaps(new: Sequence[float], old: Sequence[float]) -> float:
    """The share of all ways to swap the sides of pairs in which the ratio of percentiles is as large, or larger."""

    def log_ratio(sides: Sequence[tuple[float, float]]) -> float:
        ours, theirs = zip(*sides, strict=True)
        rank = ceil(0.95 * len(sides)) - 1
        return log(sorted(ours)[rank] / sorted(theirs)[rank])

    pairs = list(zip(new, old, strict=True))
    seen = log_ratio(pairs)
    ways = product(*([pair, pair[::-1]] for pair in pairs))
    ratios = [log_ratio(way) for way in ways]
    return sum(ratio >= seen - 1e-9 for ratio in ratios) / len(ratios)


@pytest.mark.parametrize("seed", range(6))
def test_the_p_of_a_percentile_matches_full_enumeration(seed: int) -> None:
    source = random.Random(seed)
    new, old = ([source.lognormvariate(0, 1) for _ in range(11)] for _ in range(2))
    p = p95_test(side_of(*([value] for value in new)), side_of(*([value] for value in old)), Columns())
    assert p == pytest.approx(enumerate_swaps(new, old), abs=0.1)


def test_the_p_of_a_percentile_is_of_the_slow_end() -> None:
    """The slowest cases are slower, all others are faster: no test of the fast end would see it."""
    new = [[10.0 + index] if index < 8 else [0.5 + index / 1000] for index in range(60)]
    old = [[2.0 + index / 100] for index in range(60)]
    assert p95_test(side_of(*new), side_of(*old), Columns()) < 0.03
    assert p95_test(side_of(*old), side_of(*new), Columns()) > 0.97


def test_the_p_of_a_percentile_with_other_numbers_of_trials_counts_each_of_them() -> None:
    slow, fast = [[9.0]] * 12, [[1.0, 1.1, 1.2]] * 12
    assert p95_test(side_of(*slow), side_of(*fast), Columns()) < 0.01
    assert p95_test(side_of(*fast), side_of(*slow), Columns()) > 0.98
    assert p95_test(side_of(*[[1.0]] * 12), side_of(*[[1.0, 1.0, 1.0]] * 12), Columns()) == 1.0


@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
def test_the_approximation_agrees_with_draws_where_they_meet(p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(int(100 * p))

    def case() -> Trials:
        values = [float(source.random() < p) for _ in range(6)]
        return [values[0]], values[1:]

    mixed = [each for each in (case() for _ in range(20_000)) if len({*each[0], *each[1]}) > 1][:400]
    drawn = within_case_test(mixed)
    monkeypatch.setattr(significance, "_MAX_MONTE_CARLO_CASES", 0)
    assert within_case_test(mixed) == pytest.approx(drawn, abs=0.02)


def test_unequal_repeats_take_the_larger_p_of_both_tests() -> None:
    """Five failures among five trials each, and none in the single trials of the run, are no change."""
    dealt = tuple(([1.0], [1.0, 1.0, 0.0, 1.0, 1.0] if index < 7 else [1.0] * 5) for index in range(50))
    sums = tuple((sum(new) / len(new) - sum(old) / len(old), 1) for new, old in dealt)
    alone, both = Pairs(50, sums, rose=7), Pairs(50, sums, rose=7, trials=dealt)
    assert one_sided_p(alone)[1] < 0.005
    assert one_sided_p(both)[1] > 0.1


def test_totals_of_zero_have_no_ratio() -> None:
    some, nothing = side_of([1.0], [3.0]), side_of([0.0], [0.0])
    for new, old in ((some, nothing), (nothing, some), (nothing, nothing), (some, side_of())):
        assert compute_total_ratio(new, old, Columns()) is None
    ratio = compute_total_ratio(some, side_of([1.0], [1.0]), Columns())
    assert ratio is not None
    assert (ratio.times, ratio.n) == (pytest.approx(2.0), 2)
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.low < ratio.value < ratio.high
    one = compute_total_ratio(side_of([2.0]), side_of([1.0]), Columns())
    assert one is not None
    assert (one.low, one.high) == (None, None)


def test_many_cases_of_one_trial_have_no_skewness() -> None:
    """Above 400 cases the normal distribution is used; two trials can be dealt in two ways, which are symmetric."""
    cases = [([float(index % 5 > 0)], [float(index % 5 == 0)]) for index in range(500)]
    z = sum(new[0] - old[0] for new, old in cases) / len(cases) ** 0.5
    assert within_case_test(cases)[1] == pytest.approx(NormalDist().cdf(-z), rel=1e-9)
