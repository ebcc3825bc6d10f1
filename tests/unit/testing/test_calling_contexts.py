"""A suite runs in a script, a thread, a loop, a test, or another suite."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import AsyncJudge, Case, Judge, cases, echo, only, passing, read_events, run

from scoregate.kernel.types.events import SuiteStarted
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.testing.run import grid_search_ctx, run_test_suite


async def echo_later(test_case: Case) -> str:
    await asyncio.sleep(0.001)
    return test_case.input


async def passing_later(*_: Any) -> Any:
    return passing()


def run_suite() -> SuiteResult:
    return run(echo_later, [Judge(passing), AsyncJudge(passing_later, "later")])


def test_inside_a_running_loop() -> None:
    async def main() -> SuiteResult:
        return run_suite()

    assert asyncio.run(main()).passed


def test_twice_inside_a_running_loop() -> None:
    async def main() -> list[bool]:
        found = [run_suite().passed, run_suite().passed]
        await asyncio.sleep(0)
        return found

    assert asyncio.run(main()) == [True, True]


@pytest.mark.anyio
async def test_inside_an_async_test() -> None:
    assert run_suite().passed


def test_exceptions_in_a_loop_propagate() -> None:
    async def main() -> SuiteResult:
        return run(evaluators=[], assert_test=True)

    with pytest.raises(AssertionError, match="demo"):
        asyncio.run(main())


def test_in_a_thread() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(run_suite().passed))
    thread.start()
    thread.join(60)
    assert found == [True]


def test_in_several_threads_at_once(events: Path) -> None:
    results: list[SuiteResult] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(run_test_suite(f"s{n}", cases(30), echo, [Judge(passing)])))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [result.passed for result in results] == [True] * 4
    logs = [{event.suite for event in read_events_of(path)} for path in events.iterdir()]
    assert sorted(logs, key=str) == [{"s0"}, {"s1"}, {"s2"}, {"s3"}]


def read_events_of(path: Path) -> list[Any]:
    from scoregate.kernel.types.event_json import parse_event

    return [parse_event(line) for line in path.read_bytes().splitlines()]


def test_twice_in_one_process_under_one_id(events: Path) -> None:
    first, second = run_suite(), run_suite()
    assert first.passed
    assert not second.passed
    assert [error.message for error in second.errors] == [
        "suite 'demo': a suite with this name ran before (tests/unit/testing/builders.py:73); "
        "give each a name of its own, or pass several tasks to one suite"
    ]
    assert len(list(events.iterdir())) == 2
    assert sum(isinstance(event, SuiteStarted) for event in read_events(events)) == 2


@pytest.mark.parametrize("is_async", [False, True], ids=["in a sync fn", "in an async fn"])
def test_a_suite_within_a_suite(is_async: bool) -> None:
    def inner(test_case: Case) -> int:
        assert grid_search_ctx() == {"outer": 1}
        nested = run_test_suite("inner", cases(3), lambda c: (c.input, grid_search_ctx()), [Judge(passing)])
        assert {case.output[1] for case in nested.cases} == {None}
        assert grid_search_ctx() == {"outer": 1}
        return len(list(nested.cases)) + int(test_case.input)

    async def inner_later(test_case: Case) -> int:
        return inner(test_case)

    result = run(inner_later if is_async else inner, [Judge(passing)], cases(2), grid_search_params={"outer": [1]})
    assert sorted(case.output for case in result.cases) == [3, 4]


def test_a_suite_within_a_timed_suite() -> None:
    case = only(run(lambda _: run_suite().passed, [Judge(passing)], [Case("a")], timeout=60))
    assert (case.output, case.errors) == (True, [])


def test_the_suite_has_the_context_of_the_caller() -> None:
    from contextvars import ContextVar

    current: ContextVar[str] = ContextVar("current", default="none")
    current.set("mine")

    async def main() -> list[str]:
        return [only(run(fn, [], [Case("a")])).output for fn in (lambda _: current.get(), read_later)]

    async def read_later(_case: Case) -> str:
        return current.get()

    assert asyncio.run(main()) == ["mine", "mine"]
    assert only(run(lambda _: current.get(), [], [Case("a")])).output == "mine"


def test_a_missing_folder_is_reported_before_cases_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path / "gone"))
    calls: list[Any] = []
    with pytest.raises(FileNotFoundError):
        run(calls.append)
    assert calls == []
