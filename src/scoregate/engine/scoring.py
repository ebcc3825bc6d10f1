"""The second stage: for each scorer a pool of as many workers as it may run at a time."""

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

from scoregate.core.suite import Scorer
from scoregate.core.usage import UsageMeter
from scoregate.engine.calls import await_result, is_async
from scoregate.engine.errors import EXIT_EXCEPTIONS
from scoregate.engine.trial import Trial, emit_result, enter_trial, report_budget_stop

T = TypeVar("T")


class Channel(Generic[T]):
    """Items wait here for workers; `put` waits while `bound` of them are waiting."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._items: deque[T] = deque()
        self._takers: deque[anyio.Event] = deque()
        self._givers: deque[anyio.Event] = deque()
        self._closed = False
        self._invited = False

    async def put(self, item: T) -> None:
        """Hand over an item, once there is room."""
        if len(self._items) >= self._bound:
            await self._room()
        self.add(item)

    def add(self, item: T) -> None:
        """Hand over an item, in the event loop, whether or not there is room."""
        self._items.append(item)
        if len(self._items) == 1:
            _wake_next(self._takers)

    async def _room(self) -> None:
        while len(self._items) >= self._bound:
            await _wait_in_queue(self._givers)
            self._invited = False
        if len(self._items) + 1 < self._bound:
            self._invite()

    def _invite(self) -> None:
        """Wake one who waits to put; once it is awake it wakes the next, as long as there is room."""
        if self._givers and not self._invited:
            self._invited = True
            _wake_next(self._givers)

    async def ready(self) -> bool:
        """Wait for an item; False when the channel is closed and empty."""
        if self._items:
            return True
        while not self._items:
            if self._closed:
                return False
            self._invite()
            await _wait_in_queue(self._takers)
        if len(self._items) > 1:
            _wake_next(self._takers)
        return True

    def take(self) -> T | None:
        """The next item, or None where somebody was faster. Safe in any thread."""
        try:
            return self._items.popleft()
        except IndexError:
            return None

    @property
    def waiting(self) -> int:
        """How many items there are to take."""
        return len(self._items)

    def taken(self) -> None:
        """Say, in the event loop, that there is room."""
        if len(self._items) <= self._bound // 2:
            self._invite()

    def close(self) -> None:
        """No more items will come."""
        self._closed = True
        while self._takers:
            _wake_next(self._takers)


async def _wait_in_queue(queue: deque[anyio.Event]) -> None:
    event = anyio.Event()
    queue.append(event)
    await event.wait()


def _wake_next(queue: deque[anyio.Event]) -> None:
    if queue:
        queue.popleft().set()


def on_suspend(awaitable: Awaitable[T], waits: Callable[[], None]) -> Awaitable[T]:
    """What it gives; `waits` is called whenever it has to wait for something, before the loop does something else."""
    return _SuspendNotifier(awaitable, waits)


class _SuspendNotifier(Generic[T]):
    def __init__(self, awaitable: Awaitable[T], waits: Callable[[], None]) -> None:
        self._awaitable, self._waits = awaitable, waits

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._awaitable.__await__()
        step: Callable[[], Any] = partial(next, steps)
        while True:
            try:
                awaited = step()
            except StopIteration as stop:
                result: T = stop.value
                return result
            self._waits()
            try:
                yield awaited
            except BaseException as error:  # the end of the run, or of its patience
                step = partial(steps.throw, error)
            else:
                step = partial(next, steps)


# A sync scorer that is done sooner gets the next waiting trial in the same trip to a thread. While it is that quick,
# one trip at a time is cheapest; the next worker waits for it a little before it sets out too. What a trip brings back
# may be awaitable, as a judge's question is: then it is awaited in the loop, and the trip holds a place for each.
_SLICE_S = 0.002
_QUICK_S = 0.0003
_SOON_S = 0.004
# So long at the beginning one trip waits for the other in any case: what a quick scorer needs is imported then, and
# threads that were started meanwhile would only wait for that too.
_FIRST_S = 0.05
# What is done is told after this long, however long the scorer takes for the last trial of the trip.
_LATE_S = 0.1
_Done: TypeAlias = deque[tuple[Trial, Any, UsageMeter]]


class Pool:
    """The workers of one scorer and the trials that wait for it.

    Args:
        limiter: bounds the threads. then: gets the trials that this and all other pools are done with.
        abandon: whether a thread is left behind when the run is given up.
    """

    def __init__(
        self, scorer: Scorer, limiter: CapacityLimiter, *, then: Pool | None = None, abandon: bool = False
    ) -> None:
        self.scorer = scorer
        self._then = then
        self._abandon = abandon
        self.channel: Channel[Trial] = Channel(bound=max(64, 2 * scorer.max_concurrency))
        self._limiter = limiter
        self._turn = anyio.Lock()
        self._places = anyio.Semaphore(scorer.max_concurrency)
        self._trip: anyio.Event | None = None
        self._quick = False

    async def work(self, beside: TaskGroup) -> None:
        """Score trials until the channel is closed; `beside` runs what goes on while others wait."""
        if is_async(self.scorer.score):
            await self._work_in_loop()
        else:
            await self._work_in_threads(beside)

    async def _work_in_loop(self) -> None:
        while await self.channel.ready():
            if (trial := self.channel.take()) is None:
                continue
            self.channel.taken()
            enter_trial(trial, meter := UsageMeter(trial.repeat))
            try:
                result = await await_result(self._call(trial))
            except EXIT_EXCEPTIONS:
                raise
            except BaseException as error:  # the user's code may raise anything
                result = error
            self._tell(trial, result, meter)

    async def _work_in_threads(self, beside: TaskGroup) -> None:
        while True:
            async with self._turn:
                await self._places.acquire()
                if not await self.channel.ready():
                    self._places.release()
                    return
                trip = await self._set_out()
            await self._finish(await self._travel(trip, self._room()), beside)

    def _room(self) -> int:
        """Take more places where trips are quick: how many calls of this trip may have to be awaited."""
        room = 1
        while self._quick and room < self.channel.waiting:
            try:
                self._places.acquire_nowait()
            except anyio.WouldBlock:
                break
            room += 1
        return room

    async def _travel(self, trip: anyio.Event, room: int) -> _Done:
        """Tell what is known at the end of a trip, and return what has to be awaited."""
        done: _Done = deque()
        late = asyncio.get_running_loop().call_later(_LATE_S, self._tell_known, done)
        try:
            await to_thread.run_sync(self._slice, done, room, limiter=self._limiter, abandon_on_cancel=self._abandon)
        except BaseException:
            _close_coroutines(done)
            raise
        late.cancel()
        trip.set()
        self.channel.taken()
        begun: _Done = deque()
        for each in done:
            if inspect.isawaitable(each[1]):
                begun.append(each)
            else:
                self._tell(*each)
        for _ in range(room - len(begun)):
            self._places.release()
        return begun

    async def _finish(self, begun: _Done, beside: TaskGroup) -> None:
        """Await one after the other: what is in the cache is there at once. While one waits, others go on beside it."""

        def go_on() -> None:
            if begun:
                beside.start_soon(self._finish, begun, beside)

        try:
            while begun:
                trial, awaitable, meter = begun.popleft()
                self._tell(trial, await on_suspend(_await_evaluation(awaitable, trial, meter), go_on), meter)
                self._places.release()
        except BaseException:
            _close_coroutines(begun)
            raise

    async def _set_out(self) -> anyio.Event:
        if self._trip is not None and not self._trip.is_set() and (patience_s := self._patience_s) > 0:
            with anyio.move_on_after(patience_s):
                await self._trip.wait()
        self._trip = anyio.Event()
        return self._trip

    @property
    def _patience_s(self) -> float:
        return _SOON_S if self._quick else self._beginning - perf_counter()

    @cached_property
    def _beginning(self) -> float:
        """Until when it is the beginning."""
        return perf_counter() + _FIRST_S

    def _slice(self, done: _Done, room: int) -> None:
        calls = 0
        started = now = perf_counter()
        while room and now - started < _SLICE_S and (trial := self.channel.take()) is not None:
            enter_trial(trial, meter := UsageMeter(trial.repeat))
            try:
                result = self._call(trial)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # the user's code may raise anything
                result = error
            done.append((trial, result, meter))
            calls += 1
            now = perf_counter()
            room -= inspect.isawaitable(result)
        self._quick = now - started < _QUICK_S * calls

    def _tell_known(self, done: _Done) -> None:
        while done and not inspect.isawaitable(done[0][1]):
            self._tell(*done.popleft())

    def _call(self, trial: Trial) -> Any:
        if trial.hook_results is None:
            return self.scorer.score(trial.case.value, trial.output)
        return partial(self.scorer.score, hook_results=trial.hook_results)(trial.case.value, trial.output)

    def _tell(self, trial: Trial, result: Any, meter: UsageMeter) -> None:
        name = self.scorer.info.id
        try:
            emit_result(trial, name, result, meter)
        except Exception as error:
            emit_result(trial, name, error, meter)
        if meter.used:
            report_budget_stop(trial.log, meter)
        trial.waiting -= 1
        if trial.waiting:
            return
        if self._then is None:
            trial.log.emit("case_finished", unscored=trial.unscored, **trial.key)
        else:
            trial.waiting = 1
            self._then.channel.add(trial)


def _close_coroutines(done: _Done) -> None:
    """Coroutines that the end of the run leaves unawaited would be warned of."""
    for _, result, _ in list(done):
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
