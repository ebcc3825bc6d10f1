"""The outcomes of units: what counts as noticed, when all units are one family."""

from __future__ import annotations

import pytest

from scoregate.errors import UsageError
from scoregate.features.interventions.edited_trees.edited_runs import Spent
from scoregate.features.interventions.mutation.budget import Budget
from scoregate.features.interventions.mutation.outcomes import (
    Measured,
    TriedCase,
    UnitOutcome,
    count_score,
    is_hopeless,
    judge_units,
)
from scoregate.features.interventions.mutation.unit_measurement import count_rounds


def tried(passed: int, failed: int, base_passed: int = 8, base_failed: int = 0, name: str = "case") -> TriedCase:
    tries, base = (True,) * passed + (False,) * failed, (True,) * base_passed + (False,) * base_failed
    return TriedCase("demo", name, name, tries, base)


BLIND = Measured(detectable=0.1)


def judge_one(measured: Measured, others: int = 29) -> UnitOutcome:
    return judge_units([BLIND, measured, *[BLIND] * (others - 1)])[1].outcome


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        (Measured(fell=(tried(0, 8),)), UnitOutcome.SEEN),
        (Measured(fell=(tried(0, 8),), gates=("Broken cases of demo",)), UnitOutcome.GATED),
        (Measured(p_worse=1e-6), UnitOutcome.SEEN),
        (Measured(fell=(tried(8, 0),)), UnitOutcome.NOT_NOTICED),
        (Measured(fell=(tried(5, 3),)), UnitOutcome.NOT_NOTICED),
        (Measured(p_worse=0.01), UnitOutcome.NOT_NOTICED),  # one of thirty units has it by chance
        (Measured(fell=(tried(0, 0),)), UnitOutcome.NOT_NOTICED),
        (Measured(fell=(tried(0, 8, 0, 8),)), UnitOutcome.NOT_NOTICED),
        (Measured(gates=("Pass rate of demo",)), UnitOutcome.NOT_NOTICED),  # a gate alone may be red by chance
        (Measured(rose=(tried(8, 0, 0, 8),)), UnitOutcome.BETTER_WITHOUT),
        (Measured(p_better=1e-6), UnitOutcome.BETTER_WITHOUT),
        (Measured(fell=(tried(0, 8),), rose=(tried(8, 0, 0, 8),)), UnitOutcome.SEEN),
        (Measured(is_exercised=False), UnitOutcome.NOT_EXERCISED),
        (Measured(broken="it does not start", fell=(tried(0, 8),)), UnitOutcome.BROKEN),
    ],
    ids=str,
)
def test_the_outcome_of_one_of_thirty_units(measured: Measured, outcome: UnitOutcome) -> None:
    assert judge_one(measured) is outcome


def test_several_cases_that_fall_a_little_are_noticed_together() -> None:
    assert judge_one(Measured(fell=(tried(4, 4),))) is UnitOutcome.NOT_NOTICED
    assert judge_one(Measured(fell=tuple(tried(4, 4, name=f"{n}") for n in range(6)))) is UnitOutcome.SEEN


def test_the_cases_that_show_an_outcome_are_those_that_surely_differ() -> None:
    judged = judge_units([Measured(fell=(tried(0, 8, name="broken"), tried(7, 1, name="chance")))])
    assert [case.name for case in judged[0].cases] == ["broken"]


def test_half_of_the_trials_end_what_shows_nothing() -> None:
    assert is_hopeless([tried(4, 0, 4)])
    assert is_hopeless([tried(3, 1, 3, 1)])
    assert not is_hopeless([tried(0, 4, 4)])
    assert not is_hopeless([tried(2, 2, 4)])


def test_the_score_counts_what_could_be_noticed() -> None:
    measured = [Measured(fell=(tried(0, 8),)), BLIND, Measured(is_exercised=False), Measured(broken="x")]
    score = count_score(judge_units(measured))
    assert (score.noticed, score.units, score.share) == (1, 2, 0.5)
    assert 0 < score.low < 0.5 < score.high < 1
    nothing = count_score(judge_units([Measured(is_exercised=False)]))
    assert (nothing.share, nothing.low, nothing.high) == (None, 0.0, 1.0)


@pytest.mark.parametrize(("units", "rounds"), [(1, 8), (30, 8), (300, 9), (100_000, 13)])
def test_more_units_need_more_rounds(units: int, rounds: int) -> None:
    assert count_rounds(units) == rounds


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("200", Budget(calls=200)),
        ("1 call", Budget(calls=1)),
        ("5 USD", Budget(dollars=5)),
        ("$2.50", Budget(dollars=2.5)),
        ("30 minutes", Budget(minutes=30)),
        ("30m", Budget(minutes=30)),
    ],
)
def test_a_budget_counts_calls_dollars_or_minutes(text: str, budget: Budget) -> None:
    assert Budget.parse(text) == budget


@pytest.mark.parametrize("text", ["", "much", "-3", "5 EUR", "1e3", "3 hours"])
def test_another_budget_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="is no budget"):
        Budget.parse(text)


def test_a_budget_ends_when_it_is_spent() -> None:
    assert Budget(calls=10).explain_end(Spent(9), 0.0) == ""
    assert Budget(calls=10).explain_end(Spent(10), 0.0) == "10 of 10 calls of models were made"
    assert Budget(dollars=1).explain_end(Spent(5, 1.25), 0.0) == "$1.25 of $1.00 were spent"
    assert Budget(minutes=1).explain_end(Spent(), -1e9).startswith("it took ")
