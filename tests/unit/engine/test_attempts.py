"""Attempts of the function under test: what is retried, after which wait, and how long each took."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from scoregate.engine import calls, run
from scoregate.engine.driver import Front, run_to_end
from scoregate.kernel.types import usage
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.suite import Case, Description, RunLimits, Suite
from scoregate.kernel.types.usage import current_meter

pytestmark = pytest.mark.usefixtures("project")


class Clock:
    """The time in seconds, which a test sets. Waits before a retry are noted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        for module in (calls, usage):
            monkeypatch.setattr(module, "perf_counter", lambda: self.now)
        monkeypatch.setattr(run, "retry_delay_s", lambda attempt: attempt * 10.0)
        monkeypatch.setattr(anyio, "sleep", self._wait)

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def call_model(self, wait_s: float, call_s: float) -> None:
        """Call a model that waits for its rate limit first."""
        with current_meter().measure_call():
            with current_meter().measure_wait():
                self.now += wait_s
            self.now += call_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def run_case(task: Callable[[Any], Any], **fields: Any) -> CaseResult:
    suite = Suite("demo", [Case("a", "A")], task, lambda case: Description("", case.value), str, **fields)
    (case,) = run_to_end("demo", Front(lambda _: suite)).cases
    return case


def fail_first(count: int, error: Exception, *, then: Callable[[], None] = lambda: None) -> Callable[[Any], str]:
    """A task of which so many attempts fail."""
    left = [error] * count

    def task(_: Any) -> str:
        then()
        if left:
            raise left.pop()
        return "nine"

    return task


def test_a_duration_leaves_out_waits_for_a_rate_limit(clock: Clock) -> None:
    def task(case: str) -> str:
        clock.call_model(wait_s=4.0, call_s=1.0)
        clock.now += 0.5
        return case

    assert run_case(task).duration_ms == 1_500.0


def test_a_duration_is_that_of_the_last_attempt(clock: Clock) -> None:
    seconds = iter([(8.0, 2.0), (4.0, 1.0)])
    task = fail_first(1, TimeoutError(), then=lambda: clock.call_model(*next(seconds)))
    case = run_case(task, limits=RunLimits(retries=1))
    assert (case.duration_ms, case.attempts) == (1_000.0, 2)


def test_there_are_as_many_retries_as_the_limit_says_each_after_a_longer_wait(clock: Clock) -> None:
    for retries, waits in ((0, []), (1, [10.0]), (3, [10.0, 20.0, 30.0])):
        clock.waits.clear()
        case = run_case(fail_first(9, TimeoutError()), limits=RunLimits(retries=retries))
        assert ([each.error.type for each in case.errors], clock.waits) == (["TimeoutError"], waits)
        case = run_case(fail_first(retries, ConnectionError()), limits=RunLimits(retries=retries))
        assert (case.output, case.attempts, list(case.errors)) == ("nine", retries + 1, [])


def test_an_error_that_would_come_again_is_not_retried(clock: Clock) -> None:
    case = run_case(fail_first(1, ValueError("no")), limits=RunLimits(retries=3))
    assert ([each.error.message for each in case.errors], clock.waits) == (["no"], [])
