"""Any callable works, sync or async, and sync code never runs in the event loop's thread."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.testing.builders import PASS, AsyncJudge, Case, Judge, by_hash, echo, only, passing, run

from scoregate.testing.evaluators import BaseAssertions
from scoregate.testing.models import Assertion, BaseTestEvaluator, Evaluation


async def shout(test_case: Case) -> str:
    await asyncio.sleep(0)
    return test_case.input.upper()


def shout_with(mark: str, test_case: Case) -> str:
    return test_case.input.upper() + mark


async def shout_later(mark: str, test_case: Case) -> str:
    return test_case.input.upper() + mark


class Shouter:
    def __call__(self, test_case: Case) -> str:
        return test_case.input.upper()

    def method(self, test_case: Case) -> str:
        return test_case.input.upper()

    async def slowly(self, test_case: Case) -> str:
        return test_case.input.upper()

    @staticmethod
    def static(test_case: Case) -> str:
        return test_case.input.upper()


class AsyncShouter:
    async def __call__(self, test_case: Case) -> str:
        return test_case.input.upper()


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "a function": lambda test_case: test_case.input.upper(),
    "an async function": shout,
    "a lambda that returns a coroutine": lambda test_case: shout(test_case),  # noqa: PLW0108
    "a decorated async function": decorated(shout),
    "a partial": functools.partial(shout_with, ""),
    "a partial of an async function": functools.partial(shout_later, ""),
    "a partial of a partial": functools.partial(functools.partial(shout_later), ""),
    "an object": Shouter(),
    "an async object": AsyncShouter(),
    "a method": Shouter().method,
    "an async method": Shouter().slowly,
    "a static method": Shouter.static,
}


@pytest.mark.parametrize("fn", FUNCTIONS.values(), ids=FUNCTIONS)
def test_fn_can_be_any_callable(fn: Callable[[Any], Any]) -> None:
    result = run(fn, [Judge(passing)], [Case("a"), Case("b")])
    assert {key: case.output for key, case in by_hash(result).items()} == {"a": "A", "b": "B"}


@pytest.mark.parametrize("fn", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_hook_can_be_any_callable(fn: Callable[[Any], Any]) -> None:
    seen: list[Any] = []

    def keep(_case: Case, _output: str, hook_results: Any) -> Evaluation:
        seen.append(hook_results)
        return PASS

    run(echo, [Judge(keep)], [Case("a")], before_evaluators_hook=lambda test_case, _output: fn(test_case))
    assert seen == ["A"]


@pytest.mark.parametrize("kind", [Judge, AsyncJudge])
def test_evaluators_can_be_sync_and_async(kind: type[Judge]) -> None:
    async def later(*_: Any) -> Evaluation:
        await asyncio.sleep(0)
        return PASS

    assert only(run(evaluators=[kind(later)], test_cases=[Case("a")])).evaluations["judge"] == PASS


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_assertions_can_be_sync_and_async(is_async: bool) -> None:
    found = [Assertion("polite", True, True)]

    class Rubric(BaseAssertions[Case, str]):
        id = "rubric"

        def evaluate_assertions(self, test_case: Case, output: str) -> Any:  # noqa: ARG002
            async def later() -> list[Assertion]:
                return found

            return later() if is_async else found

    assert only(run(evaluators=[Rubric()], test_cases=[Case("a")])).evaluations["rubric"].score == 1


def test_sync_user_code_stays_off_the_event_loop() -> None:
    in_a_loop: list[str] = []

    def note(where: str) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        in_a_loop.append(where)

    def fn(test_case: Case) -> str:
        note("fn")
        return test_case.input

    class Sync(BaseTestEvaluator[Case, str]):
        id = "sync"

        def evaluate_test_case(self, test_case: Case, output: str, hook_results: Any) -> Evaluation:  # noqa: ARG002
            note("evaluator")
            return PASS

    result = run(fn, [Sync()], before_evaluators_hook=lambda *_: note("hook") or 1)
    assert result.passed
    assert in_a_loop == []


def test_async_user_code_shares_one_loop() -> None:
    loops: set[int] = set()

    async def note(*_: Any) -> Evaluation:
        loops.add(id(asyncio.get_running_loop()))
        return PASS

    run(note, [AsyncJudge(note)])
    assert len(loops) == 1


def test_a_blocking_fn_does_not_block_others() -> None:
    meeting = threading.Barrier(3, timeout=30)

    def fn(test_case: Case) -> str:
        meeting.wait()
        return test_case.input

    assert run(fn, [Judge(passing)]).passed
