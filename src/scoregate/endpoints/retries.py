"""Trying again what may pass, for a while; what will not is told at once."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar

import anyio

from scoregate.endpoints.pace import Pace, waiting
from scoregate.errors import EndpointError

T = TypeVar("T")
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_S, _MOST_S = 1.0, 30.0
# Who wants to be left alone for longer is not there for this run.
_MOST_ASKED_S = 120.0


class Passing(Exception):
    """A failure that may be over the next time.

    Args:
        error: what it is if it is not. after_s: how long the other side wants to be left alone, where it says so.
    """

    def __init__(self, error: EndpointError, *, after_s: float | None = None) -> None:
        super().__init__(error)
        self.error, self.after_s = error, after_s


class Patience:
    """How often is tried again: `retries` times a message, and no more once nothing was ever answered for so long."""

    def __init__(self, retries: int, pace: Pace) -> None:
        self._retries, self._pace = retries, pace
        self._is_dead = self._has_answered = False

    async def through(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What an attempt gives.

        Raises:
            EndpointError: the last one's, or of the first that will not pass.
        """
        number = 0
        while True:
            try:
                value = await attempt()
            except Passing as passing:
                number += 1
                wait_s = self._wait_s(number, passing)
            else:
                self._has_answered = True
                return value
            with waiting():
                await anyio.sleep(wait_s)

    def _wait_s(self, number: int, passing: Passing) -> float:
        """How long to wait before the retry of this number, from 1; others wait where they are asked to."""
        self._has_answered = self._has_answered or passing.error.status is not None
        wait_s = _wait_s(number, passing.after_s)
        if number > self._retries or wait_s is None or (self._is_dead and not self._has_answered):
            self._is_dead = not self._has_answered
            raise passing.error from None
        if passing.after_s:
            self._pace.hold(passing.after_s)
        return wait_s


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server wants to be left alone, which it says as a number or as a date; None if it does not."""
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _wait_s(number: int, after_s: float | None) -> float | None:
    """Before the retry of this number, from 1; None where it is not worth waiting."""
    if after_s is not None:
        return after_s + random.uniform(0, min(0.5, after_s)) if after_s <= _MOST_ASKED_S else None
    return random.uniform(0.5, 1.0) * min(_MOST_S, _FIRST_S * 2.0 ** (number - 1))
