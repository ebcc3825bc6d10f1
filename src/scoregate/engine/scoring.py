"""The second stage: each scorer has a pool with as many workers as it may run concurrently."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from functools import cached_property, partial
from time import perf_counter
from typing import Any, Generic, TypeAlias, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.abc import TaskGroup

from scoregate.engine.calls import await_result, is_async
from scoregate.engine.errors import EXIT_EXCEPTIONS
from scoregate.engine.trial import Trial, emit_result, enter_trial, report_budget_stop
from scoregate.kernel.types.suite import Scorer
from scoregate.kernel.types.usage import UsageMeter

T = TypeVar("T")


class Channel(Generic[T]):
    """A queue between producers and workers; `put` waits while it contains `capacity` items."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: deque[T] = deque()
        self._consumers: deque[asyncio.Event] = deque()
        self._producers: deque[asyncio.Event] = deque()
        self._is_closed = False
        self._is_producer_woken = False

    async def put(self, item: T) -> None:
        """Wait until there is space, and add an item."""
        if len(self._items) >= self._capacity:
            while len(self._items) >= self._capacity:
                await _wait_in_queue(self._producers)
                self._is_producer_woken = False
            if len(self._items) + 1 < self._capacity:
                self._wake_producer()
        self.add(item)

    def add(self, item: T) -> None:
        """Add an item even if there is no space. Only for use in the event loop."""
        self._items.append(item)
        if len(self._items) == 1:
            _wake_next(self._consumers)

    def _wake_producer(self) -> None:
        """Wake one producer; it wakes the next one if there is still space."""
        if self._producers and not self._is_producer_woken:
            self._is_producer_woken = True
            _wake_next(self._producers)

    async def wait_for_item(self) -> bool:
        """Wait until there is an item; False if the channel is closed and empty."""
        if self._items:
            return True
        while not self._items:
            if self._is_closed:
                return False
            self._wake_producer()
            await _wait_in_queue(self._consumers)
        if len(self._items) > 1:
            _wake_next(self._consumers)
        return True

    def take(self) -> T | None:
        """Remove and return the next item; None if another worker took it. Thread-safe."""
        try:
            return self._items.popleft()
        except IndexError:
            return None

    def __len__(self) -> int:
        return len(self._items)

    def notify_space(self) -> None:
        """Wake a producer if there is space. Call it in the event loop after `take`."""
        if len(self._items) <= self._capacity // 2:
            self._wake_producer()

    def close(self) -> None:
        """End the channel: `wait_for_item` returns False once it is empty."""
        self._is_closed = True
        while self._consumers:
            _wake_next(self._consumers)


async def _wait_in_queue(queue: deque[asyncio.Event]) -> None:
    event = asyncio.Event()  # not anyio's, which looks up the event loop first
    queue.append(event)
    await event.wait()


def _wake_next(queue: deque[asyncio.Event]) -> None:
    if queue:
        queue.popleft().set()


class _SuspendNotifier(Generic[T]):
    """Awaits an awaitable, and calls `on_suspend` each time before that suspends."""

    def __init__(self, awaitable: Awaitable[T], on_suspend: Callable[[], None]) -> None:
        self._awaitable, self._on_suspend = awaitable, on_suspend

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._awaitable.__await__()
        step: Callable[[], Any] = partial(next, steps)
        while True:
            try:
                awaited = step()
            except StopIteration as stop:
                result: T = stop.value
                return result
            self._on_suspend()
            try:
                yield awaited
            except BaseException as error:  # the end of the run, or of the time limit
                step = partial(steps.throw, error)
            else:
                step = partial(next, steps)


# A switch to a worker thread costs more than a fast sync scorer. So one switch scores a batch: as many waiting trials
# as the scorer finishes in _BATCH_S. While the scorer is fast, one batch at a time costs least, so the next worker
# waits up to _FAST_BATCH_WAIT_S for the batch before it starts its own. A call may return an awaitable, as judges do:
# it is awaited in the event loop, and the batch needs a slot for each.
_BATCH_S = 0.002
_FAST_CALL_S = 0.0003
_FAST_BATCH_WAIT_S = 0.004
# At the start, a batch waits up to this long for the previous one, even if the scorer is slow: the scorer then imports
# what it needs, and other threads would only wait for these imports.
_START_S = 0.05
# Finished results are emitted after this long, even if the scorer still works on the last trial of the batch.
_EMIT_AFTER_S = 0.1
_Results: TypeAlias = deque[tuple[Trial, Any, UsageMeter]]


class ScorerPool:
    """The workers of one scorer, and the trials that wait for it.

    Args:
        scorer: the scorer.
        limiter: limits the number of worker threads.
        next_pool: the pool that gets a trial when this pool and its siblings have scored it; None for no such pool.
        abandon: whether to abandon a worker thread when the run is cancelled.
    """

    def __init__(
        self, scorer: Scorer, limiter: CapacityLimiter, *, next_pool: ScorerPool | None = None, abandon: bool = False
    ) -> None:
        self.scorer = scorer
        self._next_pool = next_pool
        self._abandon = abandon
        self.channel: Channel[Trial] = Channel(capacity=max(64, 2 * scorer.max_concurrency))
        self._limiter = limiter
        self._turn = anyio.Lock()
        self._slots = anyio.Semaphore(scorer.max_concurrency)
        self._batch_end: anyio.Event | None = None
        self._is_fast = False

    async def work(self, task_group: TaskGroup) -> None:
        """Score trials until the channel is closed; `task_group` runs the tasks that await results."""
        if not is_async(self.scorer.score):
            await self._work_in_threads(task_group)
            return
        while True:
            if (trial := self.channel.take()) is None:
                if not await self.channel.wait_for_item():
                    return
                continue
            self.channel.notify_space()
            enter_trial(trial, meter := trial.make_meter(self.scorer.info.id))
            try:
                result = await await_result(self._call(trial))
            except EXIT_EXCEPTIONS:
                raise
            except BaseException as error:  # the user's code may raise anything
                result = error
            self._emit(trial, result, meter)

    async def _work_in_threads(self, task_group: TaskGroup) -> None:
        while True:
            async with self._turn:
                await self._slots.acquire()
                if not await self.channel.wait_for_item():
                    self._slots.release()
                    return
                batch_end = self._batch_end
                if batch_end is not None and not batch_end.is_set() and (wait_s := self._batch_wait_s) > 0:
                    with anyio.move_on_after(wait_s):
                        await batch_end.wait()
                batch_end = self._batch_end = anyio.Event()
            # While batches are fast, take more slots: a batch may return as many awaitables as it has slots.
            slots = 1
            while self._is_fast and slots < len(self.channel):
                try:
                    self._slots.acquire_nowait()
                except anyio.WouldBlock:
                    break
                slots += 1
            pending = await self._run_batch(batch_end, slots)
            await self._await_results(pending, task_group)

    @property
    def _batch_wait_s(self) -> float:
        return _FAST_BATCH_WAIT_S if self._is_fast else self._start_phase_end - perf_counter()

    @cached_property
    def _start_phase_end(self) -> float:
        return perf_counter() + _START_S

    async def _run_batch(self, batch_end: anyio.Event, slots: int) -> _Results:
        """Emit the finished results of a batch, and return the results that still have to be awaited."""
        results: _Results = deque()

        def emit_finished() -> None:
            while results and not inspect.isawaitable(results[0][1]):
                self._emit(*results.popleft())

        timer = asyncio.get_running_loop().call_later(_EMIT_AFTER_S, emit_finished)
        try:
            await to_thread.run_sync(
                self._score_batch, results, slots, limiter=self._limiter, abandon_on_cancel=self._abandon
            )
        except BaseException:
            _close_coroutines(results)
            raise
        timer.cancel()
        batch_end.set()
        self.channel.notify_space()
        pending: _Results = deque()
        for result in results:
            if inspect.isawaitable(result[1]):
                pending.append(result)
            else:
                self._emit(*result)
        for _ in range(slots - len(pending)):
            self._slots.release()
        return pending

    def _score_batch(self, results: _Results, slots: int) -> None:
        calls = 0
        started = now = perf_counter()
        while slots and now - started < _BATCH_S and (trial := self.channel.take()) is not None:
            enter_trial(trial, meter := trial.make_meter(self.scorer.info.id))
            try:
                result = self._call(trial)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # the user's code may raise anything
                result = error
            results.append((trial, result, meter))
            calls += 1
            now = perf_counter()
            slots -= inspect.isawaitable(result)
        self._is_fast = now - started < _FAST_CALL_S * calls

    async def _await_results(self, pending: _Results, task_group: TaskGroup) -> None:
        """Await results in order, since cached ones don't suspend; when one suspends, a new task awaits the rest."""

        def await_rest() -> None:
            if pending:
                task_group.start_soon(self._await_results, pending, task_group)

        try:
            while pending:
                trial, awaitable, meter = pending.popleft()
                evaluation = _await_evaluation(awaitable, trial, meter)
                self._emit(trial, await _SuspendNotifier(evaluation, await_rest), meter)
                self._slots.release()
        except BaseException:
            _close_coroutines(pending)
            raise

    def _call(self, trial: Trial) -> Any:
        if trial.hook_results is None:
            return self.scorer.score(trial.case.value, trial.output)
        return partial(self.scorer.score, hook_results=trial.hook_results)(trial.case.value, trial.output)

    def _emit(self, trial: Trial, result: Any, meter: UsageMeter) -> None:
        name = self.scorer.info.id
        try:
            emit_result(trial, name, result, meter)
        except Exception as error:
            emit_result(trial, name, error, meter)
        if meter.used:
            report_budget_stop(trial.log, meter)
        trial.pending_scorers -= 1
        if trial.pending_scorers:
            return
        if self._next_pool is None:
            trial.log.emit("case_finished", unscored=trial.unscored, **trial.key)
        else:
            trial.pending_scorers = 1
            self._next_pool.channel.add(trial)


def _close_coroutines(results: _Results) -> None:
    """Close the coroutines that are not awaited when the run ends: Python would warn about them."""
    for _, result, _ in list(results):
        if inspect.iscoroutine(result):
            result.close()


async def _await_evaluation(awaitable: Any, trial: Trial, meter: UsageMeter) -> Any:
    enter_trial(trial, meter)
    try:
        return await await_result(awaitable)
    except EXIT_EXCEPTIONS:
        raise
    except BaseException as error:  # the user's code may raise anything
        return error
