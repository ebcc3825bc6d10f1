"""Call user code, sync or async, without ever blocking the event loop."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from math import inf
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


async def settled(awaitable: Awaitable[Any]) -> Any:
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
            return await settled(self.function(*args))
        abandon = self._timeout_s is not None
        thread = to_thread.run_sync(self.function, *args, limiter=self._limiter, abandon_on_cancel=abandon)
        result = await settled(thread)
        return await settled(result) if inspect.isawaitable(result) else result
