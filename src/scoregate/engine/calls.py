"""Call user code, sync or async, without ever blocking the event loop."""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf
from time import perf_counter
from typing import Any

import anyio
from anyio import CapacityLimiter, to_thread


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine: functions, methods, partials and objects with an async `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return inspect.iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004


async def await_result(awaitable: Awaitable[Any]) -> Any:
    """What it gives.

    Raises:
        RuntimeError: the user's code was cancelled from within, which must not end our worker.
    """
    try:
        return await awaitable
    except asyncio.CancelledError:
        if anyio.current_effective_deadline() == -inf:  # by us: a time-out, or the end of the run
            raise
        task = asyncio.current_task()
        while task is not None and task.cancelling():
            task.uncancel()
        raise RuntimeError("it was cancelled from within") from None


class Caller:
    """Calls one function: an async one in the loop, a sync one in a worker thread.

    Args:
        function: the user's.
        limiter: bounds the threads. timeout_s: seconds until a call is given up with a TimeoutError.
    """

    def __init__(
        self, function: Callable[..., Any], limiter: CapacityLimiter, *, timeout_s: float | None = None
    ) -> None:
        self.function = function
        self.is_async = is_async(function)
        self._limiter = limiter
        self._timeout_s = timeout_s

    async def __call__(self, *args: Any) -> Any:
        """The function's result; where that is awaitable (a lambda around a coroutine), what it gives."""
        if self._timeout_s is None:
            return await self._call(*args)
        with anyio.move_on_after(self._timeout_s):
            return await self._call(*args)
        raise TimeoutError(f"took longer than the timeout of {self._timeout_s:g} s")

    async def _call(self, *args: Any) -> Any:
        if self.is_async:
            return await await_result(self.function(*args))
        abandon = self._timeout_s is not None
        thread = to_thread.run_sync(self.function, *args, limiter=self._limiter, abandon_on_cancel=abandon)
        result = await await_result(thread)
        return await await_result(result) if inspect.isawaitable(result) else result


_CHECK_INTERVAL_S = 0.05


class PausableDeadline:
    """A clock that stands still while a case is in the function under test.

    Args:
        limit_s: seconds until the run is given up; None for ever.
    """

    def __init__(self, limit_s: float | None) -> None:
        self.over = False
        self._limit_s = limit_s
        self._running = 0
        self._waited_s = 0.0
        self._since = perf_counter()

    @property
    def bounded(self) -> bool:
        """Whether it can be over at all."""
        return self._limit_s is not None

    def pausing(self, call: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
        """The same call; while it lasts the clock stands still."""

        async def paused(value: Any) -> Any:
            if not self._running:
                self._waited_s += perf_counter() - self._since
            self._running += 1
            try:
                return await call(value)
            finally:
                self._running -= 1
                self._since = perf_counter()

        return paused if self.bounded else call

    @asynccontextmanager
    async def bounding(self) -> AsyncIterator[None]:
        """Cancel what is in the block once the time is over, and go on after it."""
        if self._limit_s is None:
            yield
            return
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, self._limit_s, group.cancel_scope)
            yield
            group.cancel_scope.cancel()

    async def _watch(self, limit_s: float, scope: anyio.CancelScope) -> None:
        while not self.over:
            left = limit_s - self._spent_s()
            await anyio.sleep(max(left, _CHECK_INTERVAL_S))
            self.over = self._spent_s() >= limit_s
        scope.cancel()

    def _spent_s(self) -> float:
        return self._waited_s + (0.0 if self._running else perf_counter() - self._since)


MAX_WAIT_S = 30.0


def is_transient(error: BaseException) -> bool:
    """Whether trying again may help: time-outs, refused or broken connections, rate limits, server errors."""
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    httpx: Any = sys.modules.get("httpx")
    if httpx is not None and isinstance(error, httpx.TimeoutException | httpx.NetworkError):
        return True
    openai: Any = sys.modules.get("openai")
    if openai is not None and isinstance(error, openai.APIConnectionError):
        return True
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and (status == 429 or 500 <= status < 600)


def retry_delay_s(attempt: int) -> float:
    """Seconds to wait after the attempt of this number, from 1: random, up to 1, 2, 4 … 30."""
    import random

    return random.uniform(0, min(MAX_WAIT_S, 2.0 ** (attempt - 1)))
