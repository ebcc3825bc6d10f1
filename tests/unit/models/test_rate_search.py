"""The rate for a server that only refuses: its limit is used, for any burst size."""

from __future__ import annotations

from math import ceil
from random import Random

import pytest

from scoregate.models.rate_search import RateSearch

CALLS = 1_500


def starts(search: RateSearch, per_second: float, burst: float) -> tuple[list[float], int]:
    """The times of answers to sequential calls, and the number of refusals; Retry-After is in seconds."""
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
def test_a_found_limit_is_used_to_95_percent(per_second: float, burst: float) -> None:
    answered, refused = starts(RateSearch(), per_second, burst)
    third = CALLS // 3
    used = (CALLS - third) / (answered[-1] - answered[third - 1])
    assert used >= 0.95 * per_second
    assert refused <= CALLS / 50


def test_no_call_waits_before_the_first_refusal() -> None:
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


def test_late_calls_do_not_make_the_next_ones_early() -> None:
    """The server allows one call, and requests a whole second after each refusal."""
    search, source = RateSearch(), Random(1)
    now, free, refused, answered = 0.0, 0.0, 0, 0
    while answered < 600:
        started_at = now = now + max(0.0, search.delay_s(now))
        search.record_start(now)
        now += source.expovariate(1000)
        if now >= free:
            free, answered = now + 0.1, answered + 1
            now += 0.02 + source.expovariate(1000)
            search.record_answer(now, answered + refused, now - started_at)
        else:
            refused += 1
            search.record_refusal(now, 1.0, started=answered + refused)
    assert now <= 1.06 * 60, "1.2 if the next call ignores how late the last one was"
    assert refused <= 3


def test_answers_of_different_length_do_not_slow_calls() -> None:
    search, source, now = RateSearch(), Random(1), 0.0
    search.record_answer(0.0, 1)
    search.record_refusal(1.0, 1.0, started=1)
    for number in range(2, 200):
        now += max(0.0, search.delay_s(now))
        search.record_start(now)
        interval_s = search.delay_s(now)
        duration_s = interval_s * source.random()
        now += duration_s
        search.record_answer(now, number, duration_s)
        if number > 100:
            assert search.delay_s(now) <= interval_s - duration_s + 1e-6
