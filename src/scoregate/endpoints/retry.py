"""Retries, the rate of messages and the number of parallel messages."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import anyio

from scoregate.errors import EndpointError
from scoregate.kernel.types.backoff import backoff_s
from scoregate.kernel.types.usage import METER


class RequestPacer:
    """Spaces messages evenly, and pauses as long as the endpoint demands. Shared by all threads and event loops."""

    def __init__(self, per_minute: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap_s = 60 / per_minute if per_minute else 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._free_at = self._held_until = 0.0

    def reserve(self) -> float:
        """Reserve the next start; return the seconds until then."""
        if not self._gap_s and not self._held_until:
            return 0.0
        with self._lock:
            now = self._clock()
            start = max(now, self._free_at, self._held_until)
            self._free_at = start + self._gap_s
            return start - now

    def hold(self, seconds: float) -> None:
        """Start no message for some time."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + seconds)


class ConcurrencyLimit:
    """Limits the parallel messages in one event loop."""

    def __init__(self, most: int, pace: RequestPacer) -> None:
        self._semaphore = anyio.Semaphore(most, fast_acquire=True)
        self._pace = pace

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a free slot, and hold it."""
        await self._take()
        try:
            if delay := self._pace.reserve():  # after the slot: a start reserved before would pass while it waits
                with unmeasured_wait():
                    await anyio.sleep(delay)
            yield
        finally:
            self._semaphore.release()

    async def _take(self) -> None:
        try:
            self._semaphore.acquire_nowait()
        except anyio.WouldBlock:
            with unmeasured_wait():
                await self._semaphore.acquire()


@contextmanager
def unmeasured_wait() -> Iterator[None]:
    """Time that does not count as latency of the endpoint."""
    meter = METER.get()
    if meter is None:
        yield
        return
    with meter.measure_call(), meter.measure_wait():
        yield


T = TypeVar("T")
RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_DELAY_S, _LONGEST_DELAY_S = 1.0, 30.0
# A longer Retry-After means that the endpoint is not available for this run.
_LONGEST_RETRY_AFTER_S = 120.0


class TransientError(Exception):
    """A failure that a retry may solve.

    Args:
        error: raised if retries fail, too.
        after_s: the Retry-After of the response, if it has one.
    """

    def __init__(self, error: EndpointError, *, after_s: float | None = None) -> None:
        super().__init__(error)
        self.error, self.after_s = error, after_s


class RetryPolicy:
    """Retries a message up to `retries` times. After a first message without any response, no message is retried."""

    def __init__(self, retries: int, pace: RequestPacer) -> None:
        self._retries, self._pace = retries, pace
        self._is_dead = self._has_answered = False

    async def run(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The result of the first successful attempt.

        Raises:
            EndpointError: the last attempt failed, or one failed permanently.
        """
        number = 0
        while True:
            try:
                value = await attempt()
            except TransientError as transient:
                number += 1
                wait_s = self._wait_s(number, transient)
            else:
                self._has_answered = True
                return value
            with unmeasured_wait():
                await anyio.sleep(wait_s)

    def _wait_s(self, number: int, transient: TransientError) -> float:
        """The delay before a retry, counted from 1. A Retry-After delays all messages."""
        # An error with a status is an answer, too.
        self._has_answered = self._has_answered or transient.error.status is not None
        after_s = transient.after_s
        is_too_long = after_s is not None and after_s > _LONGEST_RETRY_AFTER_S
        if number > self._retries or is_too_long or (self._is_dead and not self._has_answered):
            self._is_dead = not self._has_answered
            raise transient.error from None
        if after_s:
            self._pace.hold(after_s)
        if after_s is not None:
            # Spread, so that the messages which waited don't start at once.
            return after_s + random.uniform(0, min(0.5, after_s))
        return random.uniform(0.5, 1.0) * backoff_s(number, first_s=_FIRST_DELAY_S, longest_s=_LONGEST_DELAY_S)
