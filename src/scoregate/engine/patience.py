"""How long scorers may keep a run waiting: time counts while no case is in the function under test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

import anyio

_OFTEN_S = 0.05


class Patience:
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
            await anyio.sleep(max(left, _OFTEN_S))
            self.over = self._spent_s() >= limit_s
        scope.cancel()

    def _spent_s(self) -> float:
        return self._waited_s + (0.0 if self._running else perf_counter() - self._since)
