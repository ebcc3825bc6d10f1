"""The within-case permutation test: against every way to deal the trials, and where draws meet the approximation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, product

import pytest

from scoregate.core.comparison.estimates import one_sided_p
from scoregate.core.comparison.pairing import Pairs, Side
from scoregate.core.comparison.ratios import p95_test
from scoregate.core.runs.case_columns import Columns
from scoregate.core.statistics import significance
from scoregate.core.statistics.significance import Trials, within_case_test


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
