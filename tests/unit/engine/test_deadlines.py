"""The time limit of scoring, and calls of the user's code that cancel themselves or take too long."""

from __future__ import annotations

import asyncio
import functools
import random
from time import perf_counter
from types import SimpleNamespace
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest
from anyio import CapacityLimiter

from scoregate.engine import calls
from scoregate.engine.calls import Caller, PausableDeadline, await_result, is_async, retry_delay_s

_FOREVER_S = 300


class AsyncCall:
    async def __call__(self) -> None: ...

    async def method(self) -> None: ...


def test_what_returns_a_coroutine_is_async() -> None:
    async def later() -> None: ...

    def now() -> None: ...

    partial = functools.partial
    for function, expected in (
        (later, True),
        (now, False),
        (partial(later), True),
        (partial(partial(later)), True),
        (partial(now), False),
        (AsyncCall(), True),
        (AsyncCall().method, True),
        (lambda: later(), False),  # noqa: PLW0108
    ):
        assert is_async(function) is expected, function


@pytest.mark.anyio
async def test_code_that_cancels_itself_fails_alone() -> None:
    async def cancel_itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        task.cancel()
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="it was cancelled from within"):
        await await_result(cancel_itself())
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)  # the task itself goes on
    with anyio.move_on_after(0.01) as scope:
        await await_result(asyncio.sleep(_FOREVER_S))
    assert scope.cancelled_caught, "the engine's own cancellation is passed on"


@pytest.mark.anyio
async def test_a_call_over_its_time_limit_says_so() -> None:
    caller = Caller(asyncio.sleep, CapacityLimiter(1), timeout_s=0.01)
    with pytest.raises(TimeoutError, match=r"took longer than the timeout of 0\.01 s"):
        await caller(_FOREVER_S)
    assert await Caller(asyncio.sleep, CapacityLimiter(1), timeout_s=60)(0) is None


@pytest.mark.anyio
async def test_a_duration_is_within_the_time_of_its_call() -> None:
    async def later(value: int) -> int:
        return value

    def now(value: int) -> int:
        return value

    for function in (later, now, lambda value: later(value)):  # noqa: PLW0108
        started = perf_counter()
        value, duration_s = await Caller(function, CapacityLimiter(1)).measure(3)
        assert value == 3
        assert 0 <= duration_s <= perf_counter() - started


class Clock:
    """The time in seconds, which a test sets; sums of binary fractions are exact."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, check_interval_s: float = 0.001) -> None:
        self.now = 0.0
        monkeypatch.setattr(calls, "perf_counter", lambda: self.now)
        monkeypatch.setattr(calls, "_CHECK_INTERVAL_S", check_interval_s)


@pytest.mark.anyio
async def test_the_clock_of_scoring_stops_while_a_case_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    deadline = PausableDeadline(0.125)

    async def pass_time(seconds: float) -> float:
        clock.now += seconds
        for _ in range(5):
            await anyio.sleep(0.002)
        return seconds

    call = deadline.pause_during(pass_time)
    async with deadline.enforce():
        clock.now += 0.0625
        assert await call(1_000.0) == 1_000.0
        async with anyio.create_task_group() as group:
            group.start_soon(call, 50.0)
            group.start_soon(call, 60.0)
        assert not deadline.is_over
        clock.now += 0.046875
        await pass_time(0)
        assert not deadline.is_over, "0.109 of 0.125 seconds"
        clock.now += 0.015625
        with anyio.fail_after(60):
            await anyio.sleep(_FOREVER_S)
    assert deadline.is_over


@pytest.mark.anyio
async def test_the_clock_stands_until_the_last_of_the_overlapping_calls_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits = Clock(monkeypatch, check_interval_s=calls._CHECK_INTERVAL_S), list[float]()

    async def check_later(seconds: float) -> None:
        waits.append(seconds)
        await anyio.lowlevel.checkpoint()

    async def pass_time(seconds: float) -> float:
        """Returns how long the deadline waits until it checks again."""
        clock.now += seconds
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        return waits[-1]

    monkeypatch.setattr(calls.anyio, "sleep", check_later)

    async def wait(end: anyio.Event) -> None:
        await end.wait()

    deadline, ends = PausableDeadline(8.0), [anyio.Event() for _ in range(3)]
    call = deadline.pause_during(wait)
    async with deadline.enforce(), anyio.create_task_group() as group:
        assert await pass_time(1.0) == 7.0
        group.start_soon(call, ends[0])
        assert await pass_time(50.0) == 7.0
        for end in ends[1:]:
            group.start_soon(call, end)
        assert await pass_time(60.0) == 7.0
        for end in ends[:2]:
            end.set()
            assert await pass_time(70.0) == 7.0, "the last one runs"
        ends[2].set()
        assert await pass_time(0.0) == 7.0
        assert await pass_time(2.0) == 5.0
        assert await pass_time(4.96875) == 0.05, "it looks twenty times a second at most"
        assert not deadline.is_over
        clock.now += 0.03125
        with anyio.fail_after(60):
            await anyio.sleep_forever()
    assert deadline.is_over


def test_a_time_limit_is_checked_when_it_may_be_over_and_then_twenty_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, waits, ends = Clock(monkeypatch, check_interval_s=calls._CHECK_INTERVAL_S), list[float](), list[None]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.now += 7.96875 if seconds == 8.0 else seconds

    monkeypatch.setattr(calls.anyio, "sleep", sleep)
    deadline = PausableDeadline(8.0)
    with pytest.raises(StopIteration):
        deadline._watch(8.0, cast(anyio.CancelScope, SimpleNamespace(cancel=lambda: ends.append(None)))).send(None)
    assert (waits, ends, deadline.is_over) == ([8.0, 0.05], [None], True)


@pytest.mark.anyio
async def test_a_failed_call_starts_the_clock_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    deadline = PausableDeadline(0.125)

    async def fail(seconds: float) -> None:
        clock.now += seconds
        raise ValueError(seconds)

    async with deadline.enforce():
        with pytest.raises(ValueError, match="99"):
            await deadline.pause_during(fail)(99.0)
        clock.now += 0.125
        with anyio.fail_after(60):
            await anyio.sleep(_FOREVER_S)
    assert deadline.is_over


@pytest.mark.anyio
async def test_a_block_that_ends_in_time_is_not_cancelled() -> None:
    for limit_s in (None, 60.0):
        deadline, ended = PausableDeadline(limit_s), False
        async with deadline.enforce():
            await anyio.lowlevel.checkpoint()
            ended = True
        assert (ended, deadline.is_over, deadline.has_limit) == (True, False, limit_s is not None)


def test_without_a_limit_calls_are_as_they_were() -> None:
    async def call(_: Any) -> None: ...

    assert PausableDeadline(None).pause_during(call) is call


def test_waits_before_a_retry_double_up_to_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: (low, high))
    assert [retry_delay_s(attempt) for attempt in (1, 2, 3, 5, 6, 9)] == [
        (0, 1.0), (0, 2.0), (0, 4.0), (0, 16.0), (0, 30.0), (0, 30.0),
    ]  # fmt: skip
