"""What is opened once in an event loop, and closed when the run in it ends, or with the last who uses it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from scoregate.core.endings import ENDINGS


class Closable(Protocol):
    """Something that is open."""

    async def aclose(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closable)


class Opening(Generic[C]):
    """One of them for each event loop, made by `make` when it is first held."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._held: WeakKeyDictionary[asyncio.AbstractEventLoop, _Held[C]] = WeakKeyDictionary()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[C]:
        """The one of this loop."""
        loop = asyncio.get_running_loop()
        held = self._held.get(loop) or self._opened(loop)
        held.users += 1
        try:
            yield held.value
        finally:
            held.users -= 1
            if not held.users and not held.stays:
                await self._close(loop)

    def _opened(self, loop: asyncio.AbstractEventLoop) -> _Held[C]:
        endings = ENDINGS.get()
        held = self._held[loop] = _Held(self._make(), stays=endings is not None)
        if endings is not None:
            endings.append(self._ending(loop))
        return held

    def _ending(self, loop: asyncio.AbstractEventLoop) -> Callable[[], Awaitable[None]]:
        return lambda: self._close(loop)

    async def _close(self, loop: asyncio.AbstractEventLoop) -> None:
        held = self._held.pop(loop, None)
        if held is not None:
            await held.value.aclose()


class _Held(Generic[C]):
    """What is open, who uses it, and whether it stays open without them."""

    def __init__(self, value: C, *, stays: bool) -> None:
        self.value, self.stays = value, stays
        self.users = 0
