"""Concurrency equals its limit: not one more, and not one less."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import PASS, AsyncJudge, Case, Judge, cases, echo, outcomes, passing, read_events, run
from tests.unit.testing.concurrency_counter import ConcurrencyCounter

from scoregate.kernel.types.events import CaseFinished
from scoregate.testing.evaluators import BaseAssertions
from scoregate.testing.models import Assertion, BaseTestEvaluator, Evaluation

BOTH = pytest.mark.parametrize("mode", ["call", "call_async"])


@BOTH
@pytest.mark.parametrize("limit", [1, 3, 10])
def test_cases_in_fn_reach_their_limit_exactly(mode: str, limit: int) -> None:
    counter = ConcurrencyCounter(limit)
    run(getattr(counter, mode), [], cases(2 * limit + 1), max_test_case_concurrency=limit)
    assert counter.most == limit


def test_ten_cases_run_at_once_by_default() -> None:
    counter = ConcurrencyCounter(10)
    run(counter.call_async, [], cases(25))
    assert counter.most == 10


def test_the_hook_is_covered_by_the_limit_of_cases() -> None:
    counter = ConcurrencyCounter(2)
    run(counter.call_async, [], cases(7), max_test_case_concurrency=2, before_evaluators_hook=counter.call)
    assert counter.most == 2


@pytest.mark.parametrize(("kind", "mode"), [(Judge, "call"), (Judge, "call_async"), (AsyncJudge, "call_async")])
def test_an_evaluator_reaches_its_limit_exactly(kind: type[Judge], mode: str) -> None:
    counter = ConcurrencyCounter(3)
    run(echo, [kind(getattr(counter, mode), max_concurrency=3)], cases(10))
    assert counter.most == 3


def test_async_assertions_reach_their_limit() -> None:
    counter = ConcurrencyCounter(4)

    class Rubric(BaseAssertions[Case, str]):
        id = "rubric"
        max_concurrency = 4

        async def evaluate_assertions(self, test_case: Case, output: str) -> list[Assertion]:  # noqa: ARG002
            await counter.call_async()
            return [Assertion("any", True, True)]

    assert run(echo, [Rubric()], cases(12)).passed
    assert counter.most == 4


def test_each_evaluator_has_its_own_limit() -> None:
    one, many = ConcurrencyCounter(1), ConcurrencyCounter(5)
    run(echo, [AsyncJudge(one.call_async, "one", 1), AsyncJudge(many.call_async, "many", 5)], cases(12))
    assert (one.most, many.most) == (1, 5)


@BOTH
def test_evaluators_are_not_covered_by_the_limit_of_cases(mode: str) -> None:
    counter = ConcurrencyCounter(4)
    run(echo, [Judge(getattr(counter, mode), max_concurrency=4)], cases(8), max_test_case_concurrency=1)
    assert counter.most == 4


def test_evaluators_start_while_other_cases_run() -> None:
    evaluated = asyncio.Event()

    async def fn(test_case: Case) -> str:
        if test_case.input == "1":
            await asyncio.wait_for(evaluated.wait(), 60)
        return test_case.input

    async def score(*_: Any) -> Evaluation:
        evaluated.set()
        return PASS

    assert run(fn, [AsyncJudge(score)], cases(2)).passed


def test_a_grid_search_shares_the_limits_among_its_combinations() -> None:
    task, score = ConcurrencyCounter(3), ConcurrencyCounter(2)
    run(
        task.call_async,
        [AsyncJudge(score.call_async, max_concurrency=2)],
        cases(4),
        max_test_case_concurrency=3,
        grid_search_params={"temperature": [0, 1]},
    )
    assert (task.most, score.most) == (3, 2)


def test_a_limit_can_be_a_property() -> None:
    counter = ConcurrencyCounter(2)

    class Limited(BaseTestEvaluator[Case, str]):
        id = "limited"

        @property
        def max_concurrency(self) -> int:  # type: ignore[override]
            return 2

        async def evaluate_test_case(self, test_case: Case, output: str) -> Evaluation:  # noqa: ARG002
            return await counter.call_async()

    run(echo, [Limited()], cases(6))
    assert counter.most == 2


@pytest.mark.parametrize("kind", ["quick", "slow"])
def test_more_cases_than_any_queue_holds_finish(kind: str) -> None:
    async def slow(*_: Any) -> Evaluation:
        await asyncio.sleep(0.001)
        return PASS

    judges = [AsyncJudge(slow, "a"), Judge(passing, "b"), AsyncJudge(slow, "c", 1)]
    result = run(echo, judges if kind == "slow" else [Judge(passing), AsyncJudge(slow, "a", 100)], cases(400))
    assert len(outcomes(result)) == 400
    assert result.passed


def test_evaluations_are_logged_while_a_slow_case_blocks_the_thread(events: Path) -> None:
    others = threading.Semaphore(0)
    finished: list[int] = []

    async def fn(test_case: Case) -> str:
        # Else the last case may take the only place of the judge first, and wait for the others in vain.
        if test_case.input == "last":
            for _ in range(5):
                await asyncio.to_thread(others.acquire, timeout=60)
        return test_case.input

    def score(test_case: Case, _output: str) -> Evaluation:
        others.release()
        deadline = time.monotonic() + 60
        while test_case.input == "last" and time.monotonic() < deadline:
            finished[:] = [1 for event in read_events(events) if isinstance(event, CaseFinished)]
            if len(finished) == 5:
                break
            time.sleep(0.01)
        return PASS

    assert run(fn, [Judge(score, max_concurrency=1)], [*cases(5), Case("last")]).passed
    assert len(finished) == 5
