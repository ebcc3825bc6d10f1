"""Turns: how many messages are under way, and when the next may be sent; none of that waiting is the other side's."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio

from scoregate.core.metering import METER


class Pace:
    """When messages may start: so many a minute, evenly, and none while the other side wants to be left alone.

    Shared by all threads and event loops.
    """

    def __init__(self, per_minute: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap_s = 60 / per_minute if per_minute else 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._free_at = self._held_until = 0.0

    def reserve(self) -> float:
        """Take the next turn; in how many seconds that is."""
        if not self._gap_s and not self._held_until:
            return 0.0
        with self._lock:
            now = self._clock()
            start = max(now, self._free_at, self._held_until)
            self._free_at = start + self._gap_s
            return start - now

    def hold(self, seconds: float) -> None:
        """Let nobody start for so long."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + seconds)


class Slots:
    """How many may be under way at a time, in one event loop."""

    def __init__(self, most: int, pace: Pace) -> None:
        self._semaphore = anyio.Semaphore(most, fast_acquire=True)
        self._pace = pace

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """While one is under way; its beginning waits."""
        await self._take()
        try:
            if delay := self._pace.reserve():
                with waiting():
                    await anyio.sleep(delay)
            yield
        finally:
            self._semaphore.release()

    async def _take(self) -> None:
        try:
            self._semaphore.acquire_nowait()
        except anyio.WouldBlock:
            with waiting():
                await self._semaphore.acquire()


@contextmanager
def waiting() -> Iterator[None]:
    """Time that is not the other side's, so that it counts as no latency."""
    meter = METER.get()
    if meter is None:
        yield
        return
    with meter.calling(), meter.waiting():
        yield
