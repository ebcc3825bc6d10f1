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
from typing import Any, NamedTuple, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

_T = TypeVar("_T")


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call returns a coroutine: functions, methods, partials and objects with an async `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return inspect.iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004


async def await_result(awaitable: Awaitable[Any]) -> Any:
    """Await an awaitable of the user's code.

    Raises:
        RuntimeError: the user's code cancelled itself. A CancelledError would end the engine's worker.
    """
    try:
        return await awaitable
    except asyncio.CancelledError:
        if anyio.current_effective_deadline() == -inf:  # cancelled by the engine: a timeout, or the end of the run
            raise
        task = asyncio.current_task()
        while task is not None and task.cancelling():
            task.uncancel()
        raise RuntimeError("it was cancelled from within") from None


class CallResult(NamedTuple):
    """What a function returned, and how long it took, in seconds."""

    value: Any
    duration_s: float


class Caller:
    """Calls one function: an async function in the event loop, a sync function in a worker thread.

    Args:
        function: the user's function.
        limiter: limits the number of worker threads.
        timeout_s: seconds after which a call ends with a TimeoutError; None for no limit.
    """

    def __init__(
        self, function: Callable[..., Any], limiter: CapacityLimiter, *, timeout_s: float | None = None
    ) -> None:
        self.function = function
        self.is_async = is_async(function)
        self._limiter = limiter
        self._timeout_s = timeout_s

    async def __call__(self, *args: Any) -> Any:
        """Return the function's result; an awaitable result (of a lambda around a coroutine) is awaited."""
        return (await self.measure(*args)).value

    async def measure(self, *args: Any) -> CallResult:
        """Return the function's result, and how long it took without the wait for a thread and for the event loop."""
        if self._timeout_s is None:
            return await self._measure(*args)
        with anyio.move_on_after(self._timeout_s):
            return await self._measure(*args)
        raise TimeoutError(f"took longer than the timeout of {self._timeout_s:g} s")

    async def _measure(self, *args: Any) -> CallResult:
        if self.is_async:
            return await _await_call(self.function(*args))
        abandon = self._timeout_s is not None
        thread = to_thread.run_sync(_time_call, self.function, args, limiter=self._limiter, abandon_on_cancel=abandon)
        called: CallResult = await await_result(thread)
        if not inspect.isawaitable(called.value):
            return called
        awaited = await _await_call(called.value)
        return CallResult(awaited.value, called.duration_s + awaited.duration_s)


def _time_call(function: Callable[..., Any], args: tuple[Any, ...]) -> CallResult:
    started = perf_counter()
    value = function(*args)
    return CallResult(value, perf_counter() - started)


async def _await_call(awaitable: Awaitable[Any]) -> CallResult:
    started = perf_counter()
    value = await await_result(awaitable)
    return CallResult(value, perf_counter() - started)


_CHECK_INTERVAL_S = 0.05


class PausableDeadline:
    """A time limit for scoring. Its clock stops while a case runs in the function under test.

    Args:
        limit_s: seconds until the run is cancelled; None for no limit.
    """

    def __init__(self, limit_s: float | None) -> None:
        self.is_over = False
        self._limit_s = limit_s
        self._running_calls = 0
        self._elapsed_s = 0.0
        self._resumed_at = perf_counter()

    @property
    def has_limit(self) -> bool:
        """Whether there is a time limit."""
        return self._limit_s is not None

    def pause_during(self, call: Callable[[Any], Awaitable[_T]]) -> Callable[[Any], Awaitable[_T]]:
        """Return a function that does the same call and stops the clock while it lasts."""

        async def call_with_pause(value: Any) -> _T:
            if not self._running_calls:
                self._elapsed_s += perf_counter() - self._resumed_at
            self._running_calls += 1
            try:
                return await call(value)
            finally:
                self._running_calls -= 1
                self._resumed_at = perf_counter()

        return call_with_pause if self.has_limit else call

    @asynccontextmanager
    async def enforce(self) -> AsyncIterator[None]:
        """Cancel the block when the time is over, and continue after the block."""
        if self._limit_s is None:
            yield
            return
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, self._limit_s, group.cancel_scope)
            yield
            group.cancel_scope.cancel()

    async def _watch(self, limit_s: float, scope: anyio.CancelScope) -> None:
        while not self.is_over:
            remaining_s = limit_s - self._measure_elapsed_s()
            await anyio.sleep(max(remaining_s, _CHECK_INTERVAL_S))
            self.is_over = self._measure_elapsed_s() >= limit_s
        scope.cancel()

    def _measure_elapsed_s(self) -> float:
        return self._elapsed_s + (0.0 if self._running_calls else perf_counter() - self._resumed_at)


def is_transient(error: BaseException) -> bool:
    """Whether a retry may help: timeouts, refused or broken connections, rate limits, server errors."""
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
    """Seconds to wait after a failed attempt, numbered from 1: random, up to 1, 2, 4 … 30."""
    import random

    from scoregate.kernel.types.backoff import backoff_s

    return random.uniform(0, backoff_s(attempt, first_s=1.0, longest_s=30.0))
