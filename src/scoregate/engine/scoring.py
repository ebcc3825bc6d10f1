"""The second stage: for each scorer a pool of as many workers as it may run at a time."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections import deque
from time import perf_counter
from typing import Any, TypeAlias

import anyio
from anyio import CapacityLimiter, to_thread

from scoregate.core.evaluation import Evaluation, Naming, Usage
from scoregate.core.metering import Meter, charged
from scoregate.core.pending import Pending
from scoregate.core.suite import Scorer
from scoregate.engine.call import is_async, settled
from scoregate.engine.channel import Channel
from scoregate.engine.errors import ENDINGS, error_info
from scoregate.engine.trial import Trial, enter, tell_stop

# A sync scorer that is done sooner gets the next waiting trial in the same trip to a thread. While it is that quick,
# one trip at a time is cheapest; the next worker waits for it a little before it sets out too. What a trip brings back
# may be awaitable, as a judge's question is: then it is awaited in the loop, and the trip holds a place for each.
_SLICE_S = 0.001
_QUICK_S = 0.0003
_SOON_S = 0.002
# How quick it is nobody knows before the first trip is back, which may take longer than those to come: what the scorer
# needs is imported then, and threads that were started meanwhile would only wait for that too.
_FIRST_S = 0.05
_PARTS = ("threshold", "metadata", "assertions", "usage")
# What is done is told after this long, however long the scorer takes for the last trial of the trip.
_LATE_S = 0.1
_Done: TypeAlias = deque[tuple[Trial, Any, Meter]]


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
        self._patience_s = _FIRST_S
        self.work = self._work_in_loop if is_async(scorer.score) else self._work_in_threads

    async def _work_in_loop(self) -> None:
        while await self.channel.ready():
            if (trial := self.channel.take()) is None:
                continue
            self.channel.taken()
            enter(trial, meter := Meter(trial.repeat))
            try:
                result = await settled(self._call(trial))
            except ENDINGS:
                raise
            except BaseException as error:  # the user's code may raise anything
                result = error
            self._tell(trial, result, meter)

    async def _work_in_threads(self) -> None:
        while True:
            async with self._turn:
                await self._places.acquire()
                if not await self.channel.ready():
                    self._places.release()
                    return
                trip = await self._set_out()
            done: _Done = deque()
            try:
                await self._travel(done, trip, self._room())
            finally:
                _close(done)

    def _room(self) -> int:
        """Take more places where trips are quick: how many calls of this trip may have to be awaited."""
        room = 1
        while self._is_quick and room < self.channel.waiting:
            try:
                self._places.acquire_nowait()
            except anyio.WouldBlock:
                break
            room += 1
        return room

    async def _travel(self, done: _Done, trip: anyio.Event, room: int) -> None:
        late = asyncio.get_running_loop().call_later(_LATE_S, self._tell_known, done)
        await to_thread.run_sync(self._slice, done, room, limiter=self._limiter, abandon_on_cancel=self._abandon)
        late.cancel()
        trip.set()
        self.channel.taken()
        begun = self._told(done)
        for _ in range(room - len(begun)):
            self._places.release()
        if len(begun) == 1:
            await self._finish(*begun[0])
        elif begun:
            async with anyio.create_task_group() as all_of_them:
                for each in begun:
                    all_of_them.start_soon(self._finish, *each)

    def _told(self, done: _Done) -> list[tuple[Trial, Any, Meter]]:
        """Tell what is known, and return what has to be awaited."""
        begun = []
        for each in done:
            if inspect.isawaitable(each[1]):
                begun.append(each)
            else:
                self._tell(*each)
        return begun

    async def _finish(self, trial: Trial, awaitable: Any, meter: Meter) -> None:
        self._tell(trial, await _awaited(awaitable, trial, meter), meter)
        self._places.release()

    @property
    def _is_quick(self) -> bool:
        return self._patience_s == _SOON_S

    async def _set_out(self) -> anyio.Event:
        if self._patience_s and self._trip is not None and not self._trip.is_set():
            with anyio.move_on_after(self._patience_s):
                await self._trip.wait()
            if not self._trip.is_set() and not self._is_quick:
                self._patience_s = 0.0
        self._trip = anyio.Event()
        return self._trip

    def _slice(self, done: _Done, room: int) -> None:
        calls = 0
        started = now = perf_counter()
        while room and now - started < _SLICE_S and (trial := self.channel.take()) is not None:
            enter(trial, meter := Meter(trial.repeat))
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
        self._patience_s = _SOON_S if now - started < _QUICK_S * calls else 0.0

    def _tell_known(self, done: _Done) -> None:
        while done and not inspect.isawaitable(done[0][1]):
            self._tell(*done.popleft())

    def _call(self, trial: Trial) -> Any:
        if trial.hook_results is None:
            return self.scorer.score(trial.case.value, trial.output)
        return functools.partial(self.scorer.score, hook_results=trial.hook_results)(trial.case.value, trial.output)

    def _tell(self, trial: Trial, result: Any, meter: Meter) -> None:
        name = self.scorer.info.id
        try:
            _emit(trial, name, result, meter)
        except Exception as error:
            _emit(trial, name, error, meter)
        if meter.used:
            tell_stop(trial.log, meter)
        trial.waiting -= 1
        if trial.waiting:
            return
        if self._then is None:
            trial.log.emit("case_finished", unscored=trial.unscored, **trial.key)
        else:
            trial.waiting = 1
            self._then.channel.add(trial)


def _emit(trial: Trial, evaluator: str, result: Any, meter: Meter) -> None:
    if result is None:
        trial.unscored = (*trial.unscored, evaluator)
    elif isinstance(result, Pending):
        said = {"name": evaluator, "evaluator": evaluator, **result._asdict()}
        trial.log.emit("review_requested", **said, **trial.key)
    elif isinstance(result, BaseException):
        said = {"stage": "evaluator", "evaluator": evaluator, "error": error_info(result)}
        trial.log.emit("errored", **said, **spent(meter.usage), **trial.key)
    elif isinstance(result, Evaluation):
        parts = {name: part for name in _PARTS if (part := getattr(result, name)) is not None}
        if result.usage is not None and not meter.used:
            trial.log.strays.give_up(result.usage)
        if meter.used:
            parts |= spent(charged(result.usage, meter))
        trial.log.emit("scored", evaluator=evaluator, score=result.score, **parts, **trial.key)
    elif isinstance(result, Naming):
        said = {"label": result.label, "metadata": result.metadata, **spent(charged(result.usage, meter))}
        trial.log.emit("labelled", evaluator=evaluator, **said, **trial.key)
    else:
        raise TypeError(
            f"the evaluator must return an Evaluation or None, not {type(result).__name__}: {result!r:.200}"
        )


def _close(done: _Done) -> None:
    """Coroutines that the end of the run leaves unawaited would be warned of."""
    for _, result, _ in list(done):
        if inspect.iscoroutine(result):
            result.close()


def spent(usage: Usage | None) -> dict[str, Any]:
    """What an event says of usage: nothing where there is none."""
    return {} if usage is None else {"usage": usage}


async def _awaited(awaitable: Any, trial: Trial, meter: Meter) -> Any:
    enter(trial, meter)
    try:
        return await settled(awaitable)
    except ENDINGS:
        raise
    except BaseException as error:  # the user's code may raise anything
        return error
