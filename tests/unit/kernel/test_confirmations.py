"""What further trials of a case say about it."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.kernel.types.runs.confirmations import Confirmation, ConfirmationOutcome, fisher_p

TRIALS = st.lists(st.booleans(), max_size=6).map(tuple)
CONFIRMED, CLEARED, NOT_CERTAIN, FAILS_IN_BASE, OPEN = ConfirmationOutcome


@given(TRIALS, TRIALS)
def test_fishers_p_is_the_share_of_deals_with_as_many_failures(tries: tuple[bool, ...], base: tuple[bool, ...]) -> None:
    trials = (*tries, *base)
    deals = list(combinations(range(len(trials)), len(tries)))
    failures = [sum(not trials[place] for place in deal) for deal in deals]
    as_many = sum(count >= tries.count(False) for count in failures)
    assert fisher_p(tries, base) == pytest.approx(as_many / len(deals))


@pytest.mark.parametrize(
    ("tries", "base_tries", "level", "outcome"),
    [
        ("fffff", "ppppp", 0.025, CONFIRMED),
        ("ffffp", "ppppp", 0.025, CONFIRMED),
        ("fffpp", "ppppp", 0.025, NOT_CERTAIN),
        ("ffppp", "ppppp", 0.025, CLEARED),
        ("fffff", "fffff", 0.025, FAILS_IN_BASE),
        ("fff", "fff", 0.025, FAILS_IN_BASE),
        ("fffff", "ppppp", 0.003, OPEN),  # too few trials had a result
        ("fffff", "", 0.025, OPEN),
        ("fffp", "", 0.025, NOT_CERTAIN),
        ("fp" * 5_000, "p" * 10_000, 0.025, CONFIRMED),  # a stored run may hold any number
        ("", "", 0.025, OPEN),
        ("", "ppp", 0.025, OPEN),
        ("fff", "", None, CONFIRMED),
        ("fff", "fff", None, FAILS_IN_BASE),
        ("fpp", "", None, CLEARED),
        ("fp", "", None, OPEN),
    ],
)
def test_the_outcome_of_a_case(tries: str, base_tries: str, level: float | None, outcome: ConfirmationOutcome) -> None:
    head, base = (tuple(each == "p" for each in trials) for trials in (tries, base_tries))
    assert Confirmation("demo", "c", head, base, level).outcome is outcome
