"""How often cases run again, and which of them are significant."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoregate.kernel.job.fresh_trials import LEVEL, FailingCase, FreshTrials, correct_levels, count_rounds
from scoregate.kernel.types.runs.confirmations import Confirmation, ConfirmationOutcome, fisher_p

CASES = [FailingCase("demo", "eval.py", "demo", "{}", f"c{number}") for number in range(6)]


@pytest.mark.parametrize(("cases", "rounds"), [(1, 5), (2, 6), (4, 6), (6, 6), (7, 7), (15, 7), (24, 8)])
def test_a_case_runs_once_more_than_the_level_needs(cases: int, rounds: int) -> None:
    assert count_rounds(cases) == rounds
    assert fisher_p((False,) * (rounds - 1), (True,) * (rounds - 1)) <= LEVEL / cases


def test_all_tested_cases_share_a_false_discovery_rate() -> None:
    strong = Confirmation("demo", "a", (False,) * 6, (True,) * 6, LEVEL)
    weak = Confirmation("demo", "b", (False,) * 4 + (True,), (True,) * 5, LEVEL)  # p = .024
    alone, counted = correct_levels([weak]), Confirmation("demo", "c", (False,) * 3)
    assert [each.outcome for each in alone] == [ConfirmationOutcome.CONFIRMED]
    both = correct_levels([strong, weak, counted])
    assert [each.outcome for each in both] == [ConfirmationOutcome.CONFIRMED] * 3
    noise = Confirmation("demo", "d", (False, True, True), (True, True), LEVEL)
    several = correct_levels([weak, noise, noise])
    assert [each.outcome for each in several] == [ConfirmationOutcome.CLEARED] * 3
    assert both[2] == counted


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_a_case_that_stops_early_would_not_have_been_found(seed: int, size: int, chance: float) -> None:
    source = random.Random(seed)
    cases, rounds = CASES[:size], count_rounds(size)
    plan = {case: [(source.random() < chance, source.random() < 0.9) for _ in range(rounds)] for case in cases}
    fresh = FreshTrials(rounds, dict.fromkeys(cases, ()), dict.fromkeys(cases, ()))
    for number in range(rounds):
        for case in fresh.list_open(number, number):
            fresh.tries[case] = (*fresh.tries[case], plan[case][number][0])
        for case in fresh.list_open(number + 1, number):
            fresh.base_tries[case] = (*fresh.base_tries[case], plan[case][number][1])
    for case, outcomes in plan.items():
        whole = fisher_p([head for head, _ in outcomes], [base for _, base in outcomes])
        has_stopped = len(fresh.tries[case]) + len(fresh.base_tries[case]) < 2 * rounds
        assert not has_stopped or whole > LEVEL / size


def test_without_a_base_a_suite_stops_once_a_case_has_passed() -> None:
    fresh = FreshTrials(5, {CASES[0]: (False,), CASES[1]: (True,)}, dict.fromkeys(CASES[:2], ()), problem="no commit")
    assert fresh.list_open(1, 0) == []
    fresh.tries[CASES[1]] = (False,)
    assert fresh.list_open(1, 0) == CASES[:2]
