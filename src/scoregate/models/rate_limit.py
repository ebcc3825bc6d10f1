"""Rate limits: a limiter, and limits reported in headers."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from math import inf
from typing import Any

from scoregate.kernel.types.backoff import backoff_s, parse_number
from scoregate.models.rate_search import RateSearch

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_MIN_CAUTION, _MAX_CAUTION = 1.02, 1.2


def parse_seconds(text: str | None) -> float | None:
    """Parse a duration such as `6m0s`, `120ms` or `1.5`, or a time since the epoch; None for any other text."""
    if text is None:
        return None
    if (number := parse_number(text)) is not None:
        # Larger numbers are times since the epoch, in milliseconds or seconds.
        moment = number / 1000 if number > 1e11 else number
        return max(0.0, moment - time.time()) if moment > 1e9 else number
    parts = _PART.findall(text)
    if "".join(amount + unit for amount, unit in parts) != text.strip():
        return None
    return sum(float(amount) * _UNITS[unit] for amount, unit in parts)


def reset_s(headers: Mapping[str, str]) -> float | None:
    """Seconds until a used limit is available again; None if the server reports no time."""
    used_limits = (
        suffix
        for suffix in ("-requests", "-tokens", "")
        if (parse_number(headers.get(f"x-ratelimit-remaining{suffix}")) or 0) < 1
    )
    durations = (parse_seconds(headers.get(f"x-ratelimit-reset{suffix}")) for suffix in used_limits)
    return max((duration for duration in durations if duration), default=None)


class Allowance:
    """An estimate of the server's token bucket of requests, from the headers of its latest answer.

    The estimate is a little below the reported number, and lower after refused calls. This costs a share of the rate,
    while a refused call costs a whole pause.

    Args:
        reserve: the share of the bucket that is not used, for calls that arrive later than others that started after
            them.
    """

    def __init__(self, reserve: float = 0.0) -> None:
        self._reserve = reserve
        self._call_number = -1
        self._level: float | None = None
        self._max_remaining = 0.0
        self._measured_at = 0.0
        self._unsent = set[int]()
        self._rate = 0.0
        self._caution = _MIN_CAUTION

    @property
    def gap_s(self) -> float | None:
        """Seconds between calls that the server allows in the long run; None if unknown."""
        return self._caution / self._rate if self._rate else None

    def update(self, headers: Mapping[str, str], *, number: int, started_at: float, started: int, now: float) -> None:
        """Read the headers of an answer.

        Args:
            headers: the headers of the answer.
            number: the number of the call.
            started_at: the time in seconds when the call started.
            started: how many calls have started so far.
            now: the time in seconds.
        """
        limit = parse_number(headers.get("x-ratelimit-limit-requests"))
        remaining = parse_number(headers.get("x-ratelimit-remaining-requests"))
        reset = parse_seconds(headers.get("x-ratelimit-reset-requests"))
        # Answers may arrive in another order than their calls started.
        if remaining is None or number <= self._call_number:
            return
        self._call_number, self._level, self._measured_at = number, remaining, started_at
        self._max_remaining = max(self._max_remaining, remaining)
        if limit and reset and limit > remaining:
            # The bucket is full again after `reset`. Limits are per minute, so the rate is never above that.
            self._rate = min((limit - remaining) / reset, limit / 60)
        self._unsent = {each for each in self._unsent if each > number}
        self._refill(now)
        self._level -= started - number - len(self._unsent)

    def record_start(self, now: float) -> None:
        """Record that a call starts. The bucket refills while it runs, also if it fails without headers."""
        if self._level is not None:
            self._refill(now)
            self._level -= 1

    def record_unsent(self, number: int) -> None:
        """Record that a call that started was not sent."""
        if self._level is not None:
            self._level += 1
            self._unsent.add(number)

    def _refill(self, now: float) -> None:
        assert self._level is not None
        refilled = self._level + max(0.0, now - self._measured_at) * self._rate / self._caution
        self._level, self._measured_at = min(refilled, self._max_remaining + 1), max(now, self._measured_at)

    def record_refusal(self, pause_s: float) -> None:
        """Record that a call was refused, with a pause for all calls."""
        if self._rate and pause_s > 3 / self._rate:
            self._caution = min(_MAX_CAUTION, self._caution + 0.01)

    def record_answer(self) -> None:
        """Record that a call was answered."""
        self._caution = max(_MIN_CAUTION, self._caution - 0.0005)

    def delay_s(self, now: float) -> float | None:
        """Seconds until the next call may start, at a time in seconds; None if the server reports no limits."""
        if self._level is None or not self._rate:
            return None
        self._refill(now)
        level = self._level - int(self._reserve * self._max_remaining)
        return max(0.0, (1 - level) * self._caution / self._rate)


MAX_RUNNING_CALLS = 100
_MIN_PAUSE_S, _MAX_PAUSE_S, _SHORT_RESET_S = 0.25, 60.0, 5.0


@dataclass(frozen=True, slots=True)
class Permit:
    """The permission for one attempt of a call: its number among all attempts, and when it started."""

    number: int
    started_at: float


class _Alarm(threading.Thread):
    """Calls a function at a time. It waits for the time, not for a duration, as its thread may start late."""

    def __init__(self, due: float, clock: Callable[[], float], function: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.due, self._clock, self._function = due, clock, function
        self._cancelled = threading.Event()

    def run(self) -> None:
        if not self._cancelled.wait(max(0.0, self.due - self._clock())):
            self._function()

    def cancel(self) -> None:
        self._cancelled.set()


class Limiter:
    """Limits the calls of all threads and event loops; waiting calls get permits in the order of their arrival.

    A refusal (HTTP 429) halves the number of running calls, once for all calls that ran together, and pauses all calls
    for as long as the server asks. Each round of answered calls allows one more running call. If the server reports
    its remaining allowance, calls keep to it before they are refused.

    Args:
        max_running: the largest number of running calls.
        min_running: refusals never allow fewer.
        reserve: the share of the server's bucket that is not used.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        max_running: int = MAX_RUNNING_CALLS,
        *,
        min_running: int = 1,
        reserve: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_running, self._min_running, self._clock = float(max_running), float(min_running), clock
        self._lock = threading.Lock()
        self._allowed_running = float(max_running)
        self._running = 0
        self._started = 0
        self._halved_at_call = 0
        self._refusals = 0
        self.paused_until = 0.0
        self._allowance, self._rate_search = Allowance(reserve), RateSearch()
        self._queue: deque[Future[Permit]] = deque()
        self._alarm: _Alarm | None = None

    def acquire(self, *, is_retry: bool = False) -> Permit | Future[Permit]:
        """Return a permit, or a future of one if the call has to wait; a retry goes to the front of the queue."""
        with self._lock:
            if not self._queue and self._delay_s() <= 0:
                return self._issue_permit()
            future: Future[Permit] = Future()
            (self._queue.appendleft if is_retry else self._queue.append)(future)
            self._serve_queue()
            return future

    def release(self, permit: Permit, *, headers: Mapping[str, str] | None = None, is_answered: bool = True) -> None:
        """End an attempt that was answered, or failed for another reason than a rate limit."""
        with self._lock:
            self._running -= 1
            if is_answered:
                self._refusals = 0
                self._allowance.record_answer()
                now = self._clock()
                duration_s = now - permit.started_at if permit.number == self._started else None
                self._rate_search.record_answer(now, permit.number, duration_s)
                self._allowed_running = min(self._max_running, self._allowed_running + 1 / self._allowed_running)
            if headers:
                self._update_allowance(permit, headers)
            self._serve_queue()

    def give_back(self, permit: Permit) -> None:
        """Return the permit of an attempt that was not sent, such as one that the budget does not allow."""
        with self._lock:
            self._take_back(permit)
            self._serve_queue()

    def _take_back(self, permit: Permit) -> None:
        self._running -= 1
        self._allowance.record_unsent(permit.number)
        self._rate_search.record_unsent()

    def _update_allowance(self, permit: Permit, headers: Mapping[str, str]) -> None:
        self._allowance.update(
            headers, number=permit.number, started_at=permit.started_at, started=self._started, now=self._clock()
        )

    def release_refused(self, permit: Permit, headers: Mapping[str, str], after_s: float | None) -> None:
        """End an attempt that the server refused because of a rate limit.

        Args:
            permit: the permit of the attempt.
            headers: the headers of the response.
            after_s: the pause in seconds that the server asks for; None if it names none.
        """
        with self._lock:
            now = self._clock()
            self._running -= 1
            is_first = permit.number > self._halved_at_call
            if is_first:
                self._halved_at_call = self._started
                self._allowed_running = max(self._min_running, self._allowed_running / 2)
                self._refusals += 1
            self._update_allowance(permit, headers)
            pause_s = self._choose_pause_s(headers) if after_s is None else after_s
            if is_first:
                self._allowance.record_refusal(pause_s)
                self._rate_search.record_refusal(now, pause_s, started=self._started)
            self.paused_until = max(self.paused_until, now + pause_s)
            self._serve_queue()

    def cancel(self, future: Future[Permit]) -> None:
        """Stop waiting for a permit, or return it if it has been issued."""
        with self._lock:
            if not future.cancel() and not future.cancelled():
                self._take_back(future.result())
                self._serve_queue()

    def _choose_pause_s(self, headers: Mapping[str, str]) -> float:
        """The time until the server's reset if it is short; otherwise doubled with every refusal, up to the reset.

        A reset is the time until the whole limit is available again; the next call may be possible long before.
        """
        reset, gap = reset_s(headers), self._allowance.gap_s
        if reset is not None and (reset <= _SHORT_RESET_S or gap is None):
            return min(reset, _MAX_PAUSE_S)
        longest_s = min(_MAX_PAUSE_S, reset or _MAX_PAUSE_S)
        return backoff_s(self._refusals, first_s=gap or _MIN_PAUSE_S, longest_s=longest_s)

    def _issue_permit(self) -> Permit:
        now = self._clock()
        self._running += 1
        self._started += 1
        self._allowance.record_start(now)
        self._rate_search.record_start(now)
        return Permit(self._started, now)

    def _delay_s(self) -> float:
        """Seconds until a call may start; infinite if another call has to end first."""
        if self._running >= int(self._allowed_running):
            return inf
        now = self._clock()
        delay_s = self._allowance.delay_s(now)
        return max(self.paused_until - now, self._rate_search.delay_s(now) if delay_s is None else delay_s)

    def _serve_queue(self) -> None:
        while self._queue and (delay_s := self._delay_s()) <= 0:
            future = self._queue.popleft()
            if future.set_running_or_notify_cancel():
                future.set_result(self._issue_permit())
        if not self._queue or delay_s == inf:
            return
        due = self._clock() + delay_s
        if self._alarm is not None:
            if self._alarm.due <= due:
                return  # it serves the queue, and sets the next alarm
            self._alarm.cancel()
        self._alarm = _Alarm(due, self._clock, self._serve_at_alarm)
        self._alarm.start()

    def _serve_at_alarm(self) -> None:
        with self._lock:
            self._alarm = None
            self._serve_queue()


_limiters: dict[Any, Limiter] = {}
_lock = threading.Lock()


def get_limiter(address: str, model: str) -> Limiter:
    """The limiter of this process for a model at an address."""
    with _lock:
        return _limiters.setdefault((address, model), Limiter())
