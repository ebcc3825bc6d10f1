"""The pace for a server that only refuses: what it allows is used, whatever its bucket holds."""

from __future__ import annotations

from math import ceil

import pytest

from scoregate.models.rate_limit import RateSearch

CALLS = 1_500


def starts(search: RateSearch, per_second: float, burst: float) -> tuple[list[float], int]:
    """When calls were answered, one starting after the other, and how many were refused; Retry-After is in seconds."""
    now, level, filled, refused, answered = 0.0, 0.0, 0.0, 0, list[float]()
    while len(answered) < CALLS:
        now = max(now, now + search.delay_s(now)) + 0.0005
        level, filled = min(burst, level + (now - filled) * per_second), now
        search.record_start(now)
        if level >= 1:
            level -= 1
            answered.append(now)
            search.record_answer(now, len(answered) + refused)
        else:
            refused += 1
            search.record_refusal(now, ceil((1 - level) / per_second), started=len(answered) + refused)
    return answered, refused


@pytest.mark.parametrize(
    ("per_second", "burst"), [(10, 1), (10, 3), (10, 10), (10, 600), (3, 1), (8.3, 1), (100, 1), (1, 1)]
)
def test_once_it_is_found_95_percent_are_used(per_second: float, burst: float) -> None:
    answered, refused = starts(RateSearch(), per_second, burst)
    third = CALLS // 3
    used = (CALLS - third) / (answered[-1] - answered[third - 1])
    assert used >= 0.95 * per_second
    assert refused <= CALLS / 50


def test_nothing_is_held_back_before_the_first_refusal() -> None:
    search = RateSearch()
    for number in range(1_000):
        search.record_start(5.0)
        search.record_answer(5.0, number)
    assert search.delay_s(5.0) <= 0


def test_a_limit_of_a_round_number_is_found_with_few_refusals() -> None:
    search = RateSearch()
    answered, refused = starts(search, 10, 1)
    assert answered[599] <= 1.06 * 60, "without the call that is early by chance; benchmarks/ measures a real server"
    assert refused <= 4
