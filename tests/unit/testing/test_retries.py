"""A transient failure is retried, any other is not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.unit.testing.builders import Case, Judge, by_hash, only, passing, run

from scoregate.engine import calls


class StatusError(Exception):
    """Like errors of clients of language models."""

    def __init__(self, status_code: Any) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code


TRANSIENT = [
    TimeoutError("slow"),
    ConnectionResetError("reset"),
    ConnectionRefusedError(),
    BrokenPipeError(),
    StatusError(429),
    StatusError(500),
    StatusError(503),
    StatusError(599),
]
LASTING = [ValueError("x"), KeyError("x"), StatusError(400), StatusError(404), StatusError(600), StatusError("500")]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Skip waiting, and record the attempts that would have waited."""
    attempts: list[int] = []

    def no_time(attempt: int) -> float:
        attempts.append(attempt)
        return 0

    monkeypatch.setattr("scoregate.engine.run.retry_delay_s", no_time)
    return attempts


class Flaky:
    """Raises the given number of times, then answers."""

    def __init__(self, error: Exception, times: int) -> None:
        self.calls: Counter[str] = Counter()
        self._error = error
        self._times = times

    def __call__(self, test_case: Case) -> str:
        self.calls[test_case.input] += 1
        if self.calls[test_case.input] <= self._times:
            raise self._error
        return test_case.input

    async def later(self, test_case: Case) -> str:
        return self(test_case)


@pytest.mark.parametrize("error", TRANSIENT, ids=repr)
def test_a_transient_failure_is_retried(error: Exception) -> None:
    fn = Flaky(error, 2)
    case = only(run(fn, [Judge(passing)], [Case("a")], retry_count=2))
    assert (fn.calls["a"], case.attempts, case.status, case.errors) == (3, 3, "passed", [])


def test_an_async_fn_is_retried() -> None:
    assert only(run(Flaky(TimeoutError(), 1).later, [Judge(passing)], [Case("a")], retry_count=1)).attempts == 2


@pytest.mark.parametrize("error", LASTING, ids=repr)
def test_permanent_errors_are_not(error: Exception) -> None:
    fn = Flaky(error, 1)
    case = only(run(fn, [Judge(passing)], [Case("a")], retry_count=5))
    assert (fn.calls["a"], case.status) == (1, "errored")


def test_retries_are_off_by_default() -> None:
    fn = Flaky(TimeoutError(), 1)
    assert only(run(fn, [], [Case("a")])).status == "errored"
    assert fn.calls["a"] == 1


def test_the_last_failure_is_recorded(waits: list[int]) -> None:
    fn = Flaky(ConnectionError("gone"), 9)
    result = run(fn, [Judge(passing)], [Case("a"), Case("b")], retry_count=2)
    assert fn.calls == {"a": 3, "b": 3}
    assert sorted(waits) == [1, 1, 2, 2]
    assert [error.error.message for error in by_hash(result)["a"].errors] == ["gone"]


def test_the_hook_is_retried() -> None:
    hook = Flaky(TimeoutError(), 1)
    case = only(run(lambda c: c.input, [], [Case("a")], before_evaluators_hook=lambda c, _: hook(c), retry_count=1))
    assert (case.attempts, case.errors) == (2, [])


def test_evaluators_are_not_retried() -> None:
    score = Flaky(TimeoutError(), 1)
    case = only(run(lambda c: c.input, [Judge(lambda c, _: score(c))], [Case("a")], retry_count=3))
    assert (score.calls["a"], case.status) == (1, "errored")


def test_waits_are_random_and_bounded() -> None:
    for attempt, most in [(1, 1), (2, 2), (3, 4), (6, 30), (60, 30)]:
        found = [calls.retry_delay_s(attempt) for _ in range(50)]
        assert all(0 <= wait <= most for wait in found)
        assert len(set(found)) > 1
