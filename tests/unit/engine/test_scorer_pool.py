"""Batches of a sync scorer: how many trials share a switch to a thread, and how far the task is ahead."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest
from anyio import CapacityLimiter
from anyio.abc import TaskGroup

from scoregate.engine import scoring
from scoregate.engine.event_log import EventLog
from scoregate.engine.scoring import ScorerPool
from scoregate.engine.trial import CURRENT, Trial
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.suite import Case, Scorer
from scoregate.kernel.types.usage import METER

pytestmark = pytest.mark.anyio
GOOD = Evaluation(1.0)


class Clock:
    """The time in seconds, which a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(scoring, "perf_counter", lambda: self.now)

    def scorer(self, seconds: float) -> Callable[..., Evaluation]:
        """A scorer that takes so long."""

        def score(*_: Any) -> Evaluation:
            self.now += seconds
            return GOOD

        return score


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def make_pool(score: Callable[..., Any], trials: int = 5, max_concurrency: int = 10) -> ScorerPool:
    """A pool with trials that wait."""
    pool = ScorerPool(Scorer(EvaluatorInfo("judge"), score, max_concurrency), CapacityLimiter(1))
    log = EventLog("demo", None)
    for number in range(trials):
        pool.channel.add(Trial(Case(f"c{number}", number), number, log, None))
    return pool


def score_batch(pool: ScorerPool, slots: int = 1) -> list[tuple[str, Any]]:
    """The cases of a batch and their results."""
    results: deque[Any] = deque()
    pool._score_batch(results, slots)
    return [(trial.case.hash, result) for trial, result, _ in results]


async def test_a_batch_ends_after_two_milliseconds(clock: Clock) -> None:
    for seconds, count in ((0.0, 5), (0.0009, 3), (0.01, 1)):
        pool = make_pool(clock.scorer(seconds))
        assert score_batch(pool) == [(f"c{number}", GOOD) for number in range(count)]
        assert len(pool.channel) == 5 - count


async def test_a_batch_that_is_at_its_end_takes_no_more(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_BATCH_S", 0.25)
    assert len(score_batch(make_pool(clock.scorer(0.125)))) == 2


async def test_a_batch_has_a_slot_for_each_result_to_await(clock: Clock) -> None:
    async def score_later() -> Evaluation:
        return GOOD

    def score(number: int, _: Any) -> Any:
        return score_later() if number % 2 else clock.scorer(0)()

    results = score_batch(make_pool(score), slots=2)
    assert [name for name, _ in results] == ["c0", "c1", "c2", "c3"], "the second to await is the last"
    assert [result for _, result in results[::2]] == [GOOD, GOOD]
    for _, coroutine in results[1::2]:
        assert await coroutine == GOOD


async def test_each_call_of_a_batch_has_its_own_trial_and_meter(clock: Clock) -> None:
    seen: list[Any] = []

    def score(*_: Any) -> Evaluation:
        trial, meter = CURRENT.get(), METER.get()
        assert trial is not None
        assert meter is not None
        seen.append((trial.case.hash, meter.case, meter.repeat, meter.evaluator))
        return clock.scorer(0)()

    tokens = CURRENT.set(None), METER.set(None)
    try:
        score_batch(make_pool(score, 2))
    finally:
        CURRENT.reset(tokens[0])
        METER.reset(tokens[1])
    assert seen == [("c0", "c0", 0, "judge"), ("c1", "c1", 1, "judge")]


async def test_an_error_is_the_result_of_its_trial(clock: Clock) -> None:
    def score(number: int, _: Any) -> Evaluation:
        if number:
            raise errors[number - 1]
        return clock.scorer(0)()

    errors = ValueError("no"), SystemExit(2)
    assert score_batch(make_pool(score, 3)) == [("c0", GOOD), ("c1", errors[0]), ("c2", errors[1])]


async def test_an_interrupt_ends_the_batch() -> None:
    def score(*_: Any) -> Evaluation:
        raise KeyboardInterrupt

    pool = make_pool(score, 3)
    with pytest.raises(KeyboardInterrupt):
        score_batch(pool)
    assert len(pool.channel) == 2


async def test_a_batch_waits_for_the_one_before_only_at_the_start_or_if_it_is_fast(clock: Clock) -> None:
    pool = make_pool(clock.scorer(0.01))
    assert pool._batch_wait_s == pytest.approx(0.05)
    score_batch(pool)
    assert pool._batch_wait_s == pytest.approx(0.04)
    clock.now += 1
    assert pool._batch_wait_s < 0, "a slow scorer, after the start"
    pool = make_pool(clock.scorer(0.0002))
    score_batch(pool)
    clock.now += 1
    assert pool._batch_wait_s == pytest.approx(0.004)


async def test_a_scorer_is_fast_if_its_calls_take_less_than_a_third_of_a_millisecond(clock: Clock) -> None:
    for seconds, is_fast in ((0.0002, True), (0.0004, False), (0.01, False)):
        for trials in (1, 3):
            pool = make_pool(clock.scorer(seconds), trials)
            assert not pool._is_fast
            score_batch(pool)
            assert pool._is_fast is is_fast


class Emitting:
    """A pool of four trials whose log notes the cases that end, and a loop whose timers don't run by themselves."""

    def __init__(self, score: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
        self.pool = make_pool(score, 0)
        self.ended: list[str] = []
        self.timers: list[tuple[float, Callable[[], None], asyncio.TimerHandle]] = []
        self._loop = asyncio.get_running_loop()
        monkeypatch.setattr(self._loop, "call_later", self._call_later)
        for number in range(4):
            trial = Trial(Case(f"c{number}", number), 0, EventLog("demo", None, None, self._noter(f"c{number}")), None)
            trial.pending_scorers = 1
            self.pool.channel.add(trial)

    def _noter(self, name: str) -> Callable[[], None]:
        return lambda: self.ended.append(name)

    def _call_later(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        handle = self._loop.call_at(self._loop.time() + 9999, callback)
        self.timers.append((delay, callback, handle))
        return handle

    def end_timer(self) -> list[str]:
        """What has ended when the time is over; from a thread."""
        done = threading.Event()

        def end() -> None:
            for _, callback, _ in self.timers:
                callback()
            done.set()

        self._loop.call_soon_threadsafe(end)
        assert done.wait(300)
        return list(self.ended)


async def test_finished_results_of_a_slow_batch_are_emitted_before_its_end(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    early: list[list[str]] = []

    async def score_later() -> Evaluation:
        return GOOD

    def score(number: int, _: Any) -> Any:
        if number == 3:
            early.append(emitting.end_timer())
            early.append(emitting.end_timer())
        return score_later() if number == 2 else clock.scorer(0)()

    emitting = Emitting(score, monkeypatch)
    pool, end = emitting.pool, anyio.Event()
    for _ in range(2):
        pool._slots.acquire_nowait()
    pending = await pool._run_batch(end, 2)
    assert early == [["c0", "c1"]] * 2, "the third is to be awaited, so the event loop has it later"
    assert emitting.ended == ["c0", "c1", "c3"]
    assert ([trial.case.hash for trial, _, _ in pending], end.is_set()) == (["c2"], True)
    assert pool._slots.value == 9, "one is for the result to await"
    assert [(delay, handle.cancelled()) for delay, _, handle in emitting.timers] == [(0.1, True)]
    assert await pending[0][1] == GOOD


@pytest.mark.usefixtures("clock")
async def test_what_an_interrupted_run_does_not_await_is_closed() -> None:
    """Otherwise Python warns of it."""

    async def interrupt() -> Evaluation:
        raise KeyboardInterrupt

    async def score_later() -> Evaluation:
        return GOOD

    def score(number: int, _: Any) -> Any:
        if number == 2:
            raise KeyboardInterrupt
        return made[0] if number == 0 else GOOD

    made = [score_later(), score_later()]
    pool = make_pool(score, 3)
    with pytest.raises(KeyboardInterrupt):
        await pool._run_batch(anyio.Event(), 9)
    trial = Trial(Case("a", 1), 0, EventLog("demo", None), None)
    meter = trial.make_meter("judge")
    pending: deque[Any] = deque((trial, result, meter) for result in (interrupt(), asyncio.sleep(0), made[1], GOOD))
    with pytest.raises(KeyboardInterrupt):
        await pool._await_results(pending, cast(TaskGroup, None))
    assert [inspect.getcoroutinestate(each) for each in made] == ["CORO_CLOSED"] * 2
    assert inspect.getcoroutinestate(pending[0][1]) == "CORO_CLOSED"


@pytest.mark.usefixtures("clock")
async def test_a_batch_makes_space_for_trials_that_wait() -> None:
    pool = make_pool(lambda *_: GOOD, 0)
    trial = Trial(Case("a", 1), 0, EventLog("demo", None), None)
    for _ in range(64):
        pool.channel.add(trial)
    trial.pending_scorers = 99
    async with anyio.create_task_group() as group:
        group.start_soon(pool.channel.put, trial)
        for _ in range(9):
            await anyio.lowlevel.checkpoint()
        assert len(pool.channel) == 64
        pool._slots.acquire_nowait()
        await pool._run_batch(anyio.Event(), 1)
    assert len(pool.channel) == 1


class Pause:
    """Something to await that goes on later."""

    def __await__(self) -> Generator[None, None, None]:
        yield


async def test_a_scorer_that_the_event_loop_closes_has_no_result() -> None:
    async def score(*_: Any) -> None:
        await Pause()

    log = EventLog("demo", None)
    trial = Trial(Case("a", 1), 0, log, None)
    pool = make_pool(score, 0)
    pool.channel.add(trial)
    working = pool.work(cast(TaskGroup, None))
    working.send(None)
    working.close()
    assert list(log.lines()) == []


@pytest.mark.parametrize(("max_concurrency", "capacity"), [(1, 64), (40, 80)])
async def test_the_function_under_test_is_ahead_by_twice_the_workers(max_concurrency: int, capacity: int) -> None:
    pool = make_pool(lambda *_: GOOD, 0, max_concurrency)
    trial = Trial(Case("a", 1), 0, EventLog("demo", None), None)
    for _ in range(capacity):
        with anyio.fail_after(60):
            await pool.channel.put(trial)
    async with anyio.create_task_group() as group:
        group.start_soon(pool.channel.put, trial)
        for _ in range(9):
            await anyio.lowlevel.checkpoint()
        assert len(pool.channel) == capacity
        group.cancel_scope.cancel()
