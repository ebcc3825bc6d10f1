"""Calls of user code: what they return, and how long the function itself took."""

from __future__ import annotations

import asyncio
import time
from time import perf_counter

import anyio
import pytest
from anyio import CapacityLimiter

from scoregate.engine.calls import Caller, CallResult

_PAUSE_S = 0.02


def wait(value: str) -> str:
    time.sleep(_PAUSE_S)
    return value


async def wait_later(value: str) -> str:
    await asyncio.sleep(_PAUSE_S)
    return value


@pytest.mark.anyio
async def test_durations_exclude_the_wait_for_a_thread() -> None:
    caller = Caller(wait, CapacityLimiter(1))
    found: list[CallResult] = []

    async def call() -> None:
        found.append(await caller.measure("a"))

    started = perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(call)
    # One thread calls them one after the other, so all durations together are within the time of the block.
    assert sum(each.duration_s for each in found) <= perf_counter() - started
    assert min(each.duration_s for each in found) >= _PAUSE_S


@pytest.mark.anyio
async def test_both_parts_of_a_function_that_returns_a_coroutine_count() -> None:
    def wait_twice(value: str) -> object:
        return wait_later(wait(value))

    for function, least_s in ((wait, _PAUSE_S), (wait_later, _PAUSE_S), (wait_twice, 2 * _PAUSE_S)):
        for timeout_s in (None, 30):
            value, duration_s = await Caller(function, CapacityLimiter(1), timeout_s=timeout_s).measure("a")
            assert value == "a"
            # The clock of a sleeping event loop is coarser than that of the measurement.
            assert duration_s >= least_s - 0.002
