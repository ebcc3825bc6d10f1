"""The leader of several variants: the intervals of the others, with few and with many cases."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.unit.stats.builders import cases, columns_of

from scoregate.kernel.compare.leader import Lead, compare_with_leader, correct_level
from scoregate.kernel.compare.pairing import score_side


def compare_variants(*variants: Sequence[float], higher_is_better: bool = True) -> list[Lead]:
    columns = [columns_of({"e": cases(scores)}) for scores in variants]
    sides = [score_side([each], "e") for each in columns]
    return compare_with_leader(sides, columns[0], higher_is_better=higher_is_better)


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_with_few_cases_only_the_end_that_the_test_confirms_is_narrow(higher_is_better: bool) -> None:
    """The other end allows for a change by 1 that no case shows yet."""
    best, worst = [1.0] * 30, [0.9] * 12 + [1.0] * 18
    variants = [best, worst] if higher_is_better else [[1 - score for score in each] for each in (best, worst)]
    leader, other = compare_variants(*variants, higher_is_better=higher_is_better)
    assert leader == Lead()
    assert other.is_worse
    assert other.spread is not None
    plain = other.spread.interval(0.0, 1 - correct_level(2, 0.05))
    assert plain[0] < other.spread.mean < plain[1]
    narrow, wide = (other.high, other.low) if higher_is_better else (other.low, other.high)
    assert wide < plain[0] - 0.02 if higher_is_better else wide > plain[1] + 0.02
    assert narrow == (plain[1] if higher_is_better else plain[0])
    assert abs(other.delta) == pytest.approx(0.04)


def test_with_few_cases_an_interval_without_a_confirmed_difference_is_wide_on_both_sides() -> None:
    leader, other = compare_variants([1.0] * 30, [0.5] * 2 + [1.0] * 28)
    assert leader.spread is None
    assert other.spread is not None
    low, high = other.spread.interval(0.0, 1 - correct_level(2, 0.05))
    assert not other.is_worse
    assert other.low < low - 0.02
    assert other.high > high + 0.02


def test_a_change_by_the_whole_scale_that_cases_show_needs_no_allowance() -> None:
    _, other = compare_variants([1.0] * 50, [0.0] * 20 + [1.0] * 30)
    assert other.spread is not None
    assert (other.low, other.high) == other.spread.interval(0.0, 1 - correct_level(2, 0.05))


def test_the_level_is_that_of_one_of_all_pairs() -> None:
    assert correct_level(2, 0.05) == pytest.approx(0.05)
    assert correct_level(4, 0.06) == pytest.approx(0.01)


def test_equal_variants_with_other_numbers_of_trials_may_differ_by_one_trial() -> None:
    """No mean differs, so the step is that of one trial more with another value, instead of 1."""
    once = {f"c{index}": [1.0] for index in range(60)}
    mixed = {f"c{index}": [1.0, 0.0] if index < 6 else [1.0, 1.0] for index in range(60)}
    more = {f"c{index}": [1.0, 1.0, 0.0, 0.0] if index < 6 else [1.0] * 4 for index in range(60)}
    for values, other, step in ((mixed, more, 0.5), (once, once, 1.0)):
        columns = [columns_of({"e": each}) for each in (values, other)]
        _, lead = compare_with_leader([score_side([each], "e") for each in columns], columns[0], higher_is_better=True)
        assert lead.spread is not None
        assert (lead.delta, lead.spread.largest) == (0.0, 0.0)
        low, high = lead.spread.interval(step, 1 - correct_level(2, 0.05))
        assert lead.low <= low < 0 < high <= lead.high
        assert lead.high == -lead.low < 0.1
