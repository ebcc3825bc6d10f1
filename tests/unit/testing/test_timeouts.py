"""A case that takes too long times out, and only that one."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.unit.testing.builders import Case, Judge, by_hash, echo, outcomes, passing, run

LIMIT = 0.4
HALTING = [Case("a"), Case("slow"), Case("c")]
_HALT_S = 300
_over = threading.Event()


@pytest.fixture(autouse=True, scope="module")
def end_halted_threads() -> Iterator[None]:
    _over.clear()  # with tests of other modules between them, those of this one are in several groups
    yield
    _over.set()


def blocking(test_case: Case) -> str:
    if test_case.input == "slow":
        _over.wait(_HALT_S)
    return test_case.input


async def waiting(test_case: Case) -> str:
    if test_case.input == "slow":
        await asyncio.sleep(_HALT_S)
    return test_case.input


def try_limits(expected: dict[str, str], run_with: Callable[[float], Any]) -> tuple[Any, float]:
    """The result of a run with the first limit that has the expected outcomes, and the limit.

    On a busy machine a case that does nothing may take longer than the first.
    """
    for limit in (LIMIT, 10 * LIMIT, 75 * LIMIT):
        started = time.perf_counter()
        result = run_with(limit)
        assert time.perf_counter() - started < _HALT_S / 2
        if outcomes(result) == expected:
            break
    assert outcomes(result) == expected
    return result, limit


@pytest.mark.parametrize("concurrency", [1, 10])
@pytest.mark.parametrize("fn", [blocking, waiting, lambda c: waiting(c)], ids=["sync", "async", "lambda"])  # noqa: PLW0108
def test_the_rest_runs(fn: Callable[[Any], Any], concurrency: int) -> None:
    result, limit = try_limits(
        {"a": "passed", "slow": "errored", "c": "passed"},
        lambda limit: run(fn, [Judge(passing)], HALTING, max_test_case_concurrency=concurrency, timeout=limit),
    )
    (error,) = by_hash(result)["slow"].errors
    assert (error.error.type, error.error.message) == ("TimeoutError", f"took longer than the timeout of {limit:g} s")


def test_hooks_time_out_too() -> None:
    result = run(echo, [Judge(passing)], HALTING, before_evaluators_hook=lambda c, _: blocking(c), timeout=LIMIT)
    assert outcomes(result)["slow"] == "errored"


def test_a_users_timeout_keeps_its_message() -> None:
    def fn(_case: Case) -> str:
        raise TimeoutError("the database did not answer")

    case = by_hash(run(fn, [], HALTING, timeout=60))["a"]
    assert [error.error.message for error in case.errors] == ["the database did not answer"]


def test_an_async_fn_is_cancelled() -> None:
    cancelled: list[str] = []

    async def fn(test_case: Case) -> str:
        try:
            return await waiting(test_case)
        except asyncio.CancelledError:
            cancelled.append(test_case.input)
            raise

    run(fn, [], HALTING, timeout=LIMIT)
    assert cancelled == ["slow"]


def test_a_timed_out_case_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.engine.run.retry_delay_s", lambda _attempt: 0)
    calls: list[str] = []

    async def fn(test_case: Case) -> str:
        calls.append(test_case.input)
        if len(calls) == 1:
            await asyncio.sleep(_HALT_S)
        return test_case.input

    def run_once(limit: float) -> Any:
        calls.clear()
        return run(fn, [Judge(passing)], [Case("a")], timeout=limit, retry_count=1)

    try_limits({"a": "passed"}, run_once)
    assert calls == ["a", "a"]


def test_a_case_in_time_does_not_time_out() -> None:
    assert run(lambda _: time.sleep(LIMIT), [Judge(passing)], HALTING, timeout=60).passed


def test_a_slow_evaluation_does_not_time_out() -> None:
    def run_with(limit: float) -> Any:
        return run(echo, [Judge(lambda *_: time.sleep(1.5 * limit) or passing())], [Case("a")], timeout=limit)

    try_limits({"a": "passed"}, run_with)


def test_abandoned_threads_do_not_block_exit() -> None:
    gate, before = threading.Event(), set(threading.enumerate())
    run(lambda _: gate.wait(_HALT_S), [], [Case("a")], timeout=LIMIT)
    left = set(threading.enumerate()) - before
    assert left
    assert all(thread.daemon for thread in left)
    gate.set()
    for thread in left:
        thread.join(60)
