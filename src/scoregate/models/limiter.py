"""Turns: how many calls of a model may be under way in this process, and when the next may start."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from scoregate.models.allowance import Allowance, reset_s
from scoregate.models.pace import Pace

MOST_AT_ONCE = 100
_LEAST_PAUSE_S, _MOST_PAUSE_S, _NEAR_S = 0.25, 60.0, 5.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One attempt: its number among all, and when it began."""

    number: int
    began: float


class Limiter:
    """Shared by all threads and event loops; waiting calls go in the order in which they came.

    At most `most` calls are under way. A refusal (429) halves that, once for all calls that were under way together,
    and holds everybody back for as long as the server says; answers win it back, one for each round of calls.
    Where the server tells what is left of its allowance, calls keep to that before they are refused.
    """

    def __init__(self, most: int = MOST_AT_ONCE, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = float(most), clock
        self._lock = threading.Lock()
        self._width = float(most)
        self._under_way = 0
        self._started = 0
        self._halved_at = 0
        self._refusals = 0
        self.held_until = 0.0
        self._allowance, self._pace = Allowance(), Pace()
        self._queue: deque[Future[Turn]] = deque()
        self._timer: threading.Timer | None = None
        self._due = 0.0

    def enter(self, *, again: bool = False) -> Turn | Future[Turn]:
        """A turn, or where one has to wait for it its future. `again`: after a refusal, before all others."""
        with self._lock:
            if not self._queue and self._delay() <= 0:
                return self._turn()
            future: Future[Turn] = Future()
            (self._queue.appendleft if again else self._queue.append)(future)
            self._serve()
            return future

    def leave(self, turn: Turn, *, headers: Mapping[str, str] | None = None, answered: bool = True) -> None:
        """The attempt is over: it was answered, or failed in a way that says nothing of limits."""
        with self._lock:
            self._under_way -= 1
            if answered:
                self._refusals = 0
                self._allowance.was_in_time()
                self._pace.was_answered(self._clock(), turn.number)
                self._width = min(self._most, self._width + 1 / self._width)
            if headers:
                self._allowance.told(headers, number=turn.number, began=turn.began)
            self._serve()

    def refuse(self, turn: Turn, headers: Mapping[str, str], after_s: float | None) -> None:
        """The server refused it; `after_s` is how long it wants to be left alone, None where it does not say."""
        with self._lock:
            now = self._clock()
            self._under_way -= 1
            is_first = turn.number > self._halved_at
            if is_first:
                self._halved_at = self._started
                self._width = max(1.0, self._width / 2)
                self._refusals += 1
            self._allowance.told(headers, number=turn.number, began=turn.began)
            pause = self._pause(headers) if after_s is None else after_s
            if is_first:
                self._allowance.was_late(pause)
                self._pace.was_refused(now, pause, started=self._started)
            self.held_until = max(self.held_until, now + pause)
            self._serve()

    def give_up(self, future: Future[Turn]) -> None:
        """Whoever waited for this turn no longer does."""
        with self._lock:
            if not future.cancel() and not future.cancelled():
                self._under_way -= 1
                self._serve()

    def _pause(self, headers: Mapping[str, str]) -> float:
        """Until the server's reset where that is near; else doubled with every refusal in a row, up to the reset.

        A reset is the time until everything is there again, and the next call may be possible long before.
        """
        reset, gap = reset_s(headers), self._allowance.gap_s
        if reset is not None and (reset <= _NEAR_S or gap is None):
            return min(reset, _MOST_PAUSE_S)
        most = min(_MOST_PAUSE_S, reset or _MOST_PAUSE_S)
        return float(min(most, (gap or _LEAST_PAUSE_S) * 2 ** (self._refusals - 1)))

    def _turn(self) -> Turn:
        now = self._clock()
        self._under_way += 1
        self._started += 1
        self._pace.started(now)
        return Turn(self._started, now)

    def _delay(self) -> float:
        """Seconds until a call may start; infinite where one has to end first."""
        if self._under_way >= int(self._width):
            return float("inf")
        now = self._clock()
        told = self._allowance.delay_s(now, self._started)
        return max(self.held_until - now, self._pace.delay_s(now) if told is None else told)

    def _serve(self) -> None:
        while self._queue and (delay := self._delay()) <= 0:
            future = self._queue.popleft()
            if future.set_running_or_notify_cancel():
                future.set_result(self._turn())
        if self._queue and delay < float("inf"):
            self._later(delay)

    def _later(self, delay: float) -> None:
        due = self._clock() + delay
        if self._timer is not None and self._due <= due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = threading.Timer(delay, self._ring)
        self._timer.daemon = True
        self._timer.start()

    def _ring(self) -> None:
        with self._lock:
            self._timer = None
            self._serve()


_limiters: dict[Any, Limiter] = {}
_lock = threading.Lock()


def limiter_of(address: str, model: str) -> Limiter:
    """The one of this process for a model at an address."""
    with _lock:
        return _limiters.setdefault((address, model), Limiter())
