"""Permits: how many at once, which call is next, and the effect of a refusal."""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout

import pytest

from scoregate.models.rate_limit import Limiter, Permit


def acquire_permits(limiter: Limiter, count: int) -> tuple[list[Permit], list[Future[Permit]]]:
    given = [limiter.acquire() for _ in range(count)]
    return [permit for permit in given if isinstance(permit, Permit)], [
        permit for permit in given if isinstance(permit, Future)
    ]


def test_calls_are_limited_and_the_first_to_wait_is_next() -> None:
    limiter = Limiter(3)
    permits, waiting = acquire_permits(limiter, 5)
    assert (len(permits), len(waiting)) == (3, 2)
    limiter.release(permits[0])
    assert [future.done() for future in waiting] == [True, False]


def test_a_refusal_halves_once_for_all_concurrent_calls() -> None:
    limiter = Limiter(8)
    permits, _ = acquire_permits(limiter, 8)
    for permit in permits:
        limiter.release_refused(permit, {}, 0.0)
    assert len(acquire_permits(limiter, 8)[0]) == 4


def test_a_second_refusal_halves_again_down_to_one() -> None:
    limiter = Limiter(4)
    for expected in (2, 1, 1):
        (permit, *others), _ = acquire_permits(limiter, 1)
        limiter.release_refused(permit, {}, 0.0)
        assert others == []
        permits, waiting = acquire_permits(limiter, 6)
        assert len(permits) == expected
        for future in waiting:
            limiter.cancel(future)
        for each in permits:
            limiter.release(each, is_answered=False)


def test_answers_raise_the_limit_again() -> None:
    limiter = Limiter(8)
    (permit, *_), _ = acquire_permits(limiter, 1)
    limiter.release_refused(permit, {}, 0.0)
    widths = []
    for _ in range(4):
        permits, waiting = acquire_permits(limiter, 8)
        for future in waiting:
            limiter.cancel(future)
        widths.append(len(permits))
        for each in permits:
            limiter.release(each)
    assert widths == sorted(widths)
    assert widths[0] == 4
    assert 5 <= widths[-1] <= 8


def test_all_calls_wait_as_long_as_the_server_requests() -> None:
    now = [100.0]
    limiter = Limiter(4, clock=lambda: now[0])
    (permit, *_), _ = acquire_permits(limiter, 1)
    limiter.release_refused(permit, {}, 0.2)
    later, again = limiter.acquire(), limiter.acquire(is_retry=True)
    assert isinstance(later, Future)
    assert isinstance(again, Future)
    with pytest.raises(FutureTimeout):
        again.result(timeout=0.5)
    now[0] = limiter.paused_until
    first = again.result(timeout=60)
    now[0] += 60
    assert first.number < later.result(timeout=60).number


def test_a_cancelled_call_takes_no_turn() -> None:
    limiter = Limiter(1)
    (permit, *_), (gone, next_one) = acquire_permits(limiter, 3)
    limiter.cancel(gone)
    limiter.release(permit)
    assert next_one.done()


def test_a_late_turn_is_returned() -> None:
    limiter = Limiter(1)
    (permit, *_), (gone, next_one) = acquire_permits(limiter, 3)
    limiter.release(permit)
    assert gone.done()
    limiter.cancel(gone)
    assert next_one.done()


def test_without_a_header_the_pause_doubles() -> None:
    now = [100.0]
    limiter = Limiter(1, clock=lambda: now[0])
    waits = []
    for _ in range(3):
        permit = limiter.acquire()
        assert isinstance(permit, Permit)
        limiter.release_refused(permit, {}, None)
        waits.append(round(limiter.paused_until - now[0], 3))
        now[0] = limiter.paused_until
    assert waits == [0.25, 0.5, 1.0]


def test_calls_that_are_not_sent_use_up_no_limit() -> None:
    """After the budget is spent every call is given back, far more of them than the server's bucket holds."""
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "10",
        "x-ratelimit-reset-requests": "50s",
    }
    limiter = Limiter(clock=lambda: 0.0)
    (permit, *_), _ = acquire_permits(limiter, 1)
    limiter.release(permit, headers=headers)
    for _ in range(300):
        permit = limiter.acquire()
        assert isinstance(permit, Permit)
        limiter.give_back(permit)
    permits, waiting = acquire_permits(limiter, 12)
    assert (len(permits), len(waiting)) == (10, 2)
    limiter.give_back(permits[0])
    assert [future.done() for future in waiting] == [True, False]


def test_calls_that_fail_without_headers_wait_only_until_the_bucket_refills() -> None:
    now = [0.0]
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "3",
        "x-ratelimit-reset-requests": "57s",
    }
    limiter = Limiter(clock=lambda: now[0])
    (permit, *_), _ = acquire_permits(limiter, 1)
    limiter.release(permit, headers=headers)
    for _ in range(50):
        permit = limiter.acquire()
        if not isinstance(permit, Permit):
            limiter.cancel(permit)
            now[0] += 1.1
            later = limiter.acquire()
            permit = later if isinstance(later, Permit) else later.result(timeout=0)
        limiter.release(permit, is_answered=False)
    assert now[0] >= 45
