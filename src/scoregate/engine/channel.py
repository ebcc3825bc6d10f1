"""A bounded queue between two stages; threads may take from it."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import anyio

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
            _wake_one(self._takers)

    async def _room(self) -> None:
        while len(self._items) >= self._bound:
            await _wait_in(self._givers)
            self._invited = False
        if len(self._items) + 1 < self._bound:
            self._invite()

    def _invite(self) -> None:
        """Wake one who waits to put; once it is awake it wakes the next, as long as there is room."""
        if self._givers and not self._invited:
            self._invited = True
            _wake_one(self._givers)

    async def ready(self) -> bool:
        """Wait for an item; False when the channel is closed and empty."""
        if self._items:
            return True
        while not self._items:
            if self._closed:
                return False
            self._invite()
            await _wait_in(self._takers)
        if len(self._items) > 1:
            _wake_one(self._takers)
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
            _wake_one(self._takers)


async def _wait_in(queue: deque[anyio.Event]) -> None:
    event = anyio.Event()
    queue.append(event)
    await event.wait()


def _wake_one(queue: deque[anyio.Event]) -> None:
    if queue:
        queue.popleft().set()
