"""Rate limits: a limiter, the search for an unknown rate, and limits reported in headers."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from math import floor, inf, log10
from typing import Any

from scoregate.core.backoff import backoff_s, parse_number

_FIRST_FACTOR, _SMALL_FACTOR = 8.0, 1.03
# Limits are round numbers per minute. A little below one of them, calls that arrive early are rarely refused.
_ROUND_NUMBERS = (10, 12, 15, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120)
_CAUTION, _MAX_ROUND_RATE = 1.005, 20.0
# Calls that arrive late by more of an interval differ in their answers, not on their way.
_MOST_LATE, _LATE_WEIGHT, _FORGETTING = 0.1, 0.1, 1.0001
_PAUSES_BETWEEN_RARE_REFUSALS, _RARE_FACTOR = 10, 1.005
_CALLS_PER_RATE, _MAX_FALLBACKS = 3, 5
# A small increase of the rate can cause another pause. After this many times the pause, it is worth a try.
_PAUSES_BEFORE_RETRY = 60


class RateSearch:
    """Searches the highest rate, in calls per second, that a server accepts.

    There is no limit before the first refusal. Then calls start at equal intervals: first at a low rate that grows to
    the next round number per minute until the next refusal, then in small steps from the last rate that was accepted.
    Consecutive refusals lower the rate more each time, because a token bucket that fills during a pause can hide that
    the rate is too high. Rare ones lower it little, because a call that arrives early causes them.

    A call that took longer than the fastest ones may have arrived late, so that the next one would arrive too early.
    That one starts later by this time, if calls usually take about as long as each other.
    """

    def __init__(self) -> None:
        self._rate = self._accepted_rate = self._refused_rate = inf
        self._has_large_steps = True
        self._fallbacks = 0
        self._answers_at_rate = self._answers = 0
        self._measured_since: float | None = None
        self._changed_at_call = 0
        self._pause_s = self._next_start = 0.0
        self._shortest_s, self._usually_late_s = inf, 0.0

    def delay_s(self, now: float) -> float:
        """Seconds until the next call may start."""
        return self._next_start - now

    def record_start(self, now: float) -> None:
        """Record that a call starts."""
        self._next_start = now + 1 / self._rate  # lost time can't be made up if the server's bucket holds one call

    def record_answer(self, now: float, number: int, duration_s: float | None = None) -> None:
        """Record that a call was answered, and raise the rate after enough answers.

        Args:
            now: the time in seconds.
            number: the number of the call.
            duration_s: how long the call took; None if another one started after it.
        """
        if duration_s is not None:
            self._delay_next_start(now - duration_s, duration_s)
        self._answers += 1
        self._measured_since = now if self._measured_since is None else self._measured_since
        if self._rate == inf or number <= self._changed_at_call:
            return
        self._answers_at_rate += 1
        if not self._has_large_steps and self._has_found_rate():
            if self._answers_at_rate < _PAUSES_BEFORE_RETRY * self._pause_s * self._rate:
                return
            self._refused_rate, self._fallbacks = self._accepted_rate * _SMALL_FACTOR**3, 0
        elif self._answers_at_rate < _CALLS_PER_RATE * 2**self._fallbacks:
            return
        self._accepted_rate, self._answers_at_rate = self._rate, 0
        if self._has_large_steps:
            self._rate = _next_round_rate(self._rate)
        else:
            self._rate *= max(_SMALL_FACTOR, (self._refused_rate / self._accepted_rate) ** 0.25)

    def _delay_next_start(self, started_at: float, duration_s: float) -> None:
        """Start the next call later if this one may have arrived late."""
        self._shortest_s = min(self._shortest_s * _FORGETTING, duration_s)
        late_s, interval_s = duration_s - self._shortest_s, 1 / self._rate
        self._usually_late_s += (late_s - self._usually_late_s) * _LATE_WEIGHT
        most_s = _MOST_LATE * interval_s
        if self._usually_late_s < most_s:
            self._next_start = max(self._next_start, started_at + min(late_s, most_s) + interval_s)

    def _has_found_rate(self) -> bool:
        """Whether the accepted rate is two small steps, or one round number, below the refused one.

        At high rates the delays of calls are a large part of their intervals, so that round numbers don't help.
        """
        two_steps_up = self._accepted_rate * _SMALL_FACTOR * _SMALL_FACTOR
        next_rate = _next_round_rate(self._accepted_rate) if self._accepted_rate < _MAX_ROUND_RATE else 0.0
        return max(two_steps_up, next_rate) >= self._refused_rate

    def record_refusal(self, now: float, pause_s: float, *, started: int) -> None:
        """Record that a call was refused, the first one of those that ran together.

        Args:
            now: the time in seconds.
            pause_s: how long all calls pause now.
            started: how many calls have started so far.
        """
        if pause_s <= 0:  # the refusal costs no time
            return
        span = now + pause_s - (now if self._measured_since is None else self._measured_since)
        measured = max(1, self._answers) / max(span, 0.001)
        if self._rate == inf:
            self._accepted_rate = measured
            self._rate = measured * _FIRST_FACTOR
        else:
            self._refused_rate, self._has_large_steps = self._rate, False
            is_rare = self._answers_at_rate >= _PAUSES_BETWEEN_RARE_REFUSALS * pause_s * self._rate
            factor = _RARE_FACTOR if is_rare else _SMALL_FACTOR**self._fallbacks
            lower_rate = min(self._accepted_rate, self._rate) / factor
            self._accepted_rate = self._rate = max(measured, lower_rate)
            self._fallbacks = min(self._fallbacks + (not is_rare), _MAX_FALLBACKS)
        self._measured_since, self._answers, self._answers_at_rate = now + pause_s, 0, 0
        self._changed_at_call = started
        self._pause_s, self._next_start = pause_s, now + pause_s


def _next_round_rate(rate: float) -> float:
    """The next rate, in calls per second, that is a little below a round number per minute."""
    per_minute = rate * 60 * _CAUTION * 1.001
    magnitude = 10.0 ** (floor(log10(per_minute)) - 1)
    number = next(number for number in _ROUND_NUMBERS if number * magnitude > per_minute)
    return number * magnitude / 60 / _CAUTION


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_MIN_CAUTION, _MAX_CAUTION = 1.02, 1.2


def parse_seconds(text: str | None) -> float | None:
    """Parse a duration such as `6m0s`, `120ms` or `1.5`, or a time since the epoch; None for any other text."""
    if text is None:
        return None
    if (number := parse_number(text)) is not None:
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
        self._remaining: float | None = None
        self._max_remaining = 0.0
        self._measured_at = 0.0
        self._rate = 0.0
        self._caution = _MIN_CAUTION

    @property
    def gap_s(self) -> float | None:
        """Seconds between calls that the server allows in the long run; None if unknown."""
        return self._caution / self._rate if self._rate else None

    def update(self, headers: Mapping[str, str], *, number: int, started_at: float) -> None:
        """Read the headers of an answer.

        Args:
            headers: the headers of the answer.
            number: the number of the call.
            started_at: the time in seconds when the call started.
        """
        limit = parse_number(headers.get("x-ratelimit-limit-requests"))
        remaining = parse_number(headers.get("x-ratelimit-remaining-requests"))
        reset = parse_seconds(headers.get("x-ratelimit-reset-requests"))
        if remaining is None or number <= self._call_number:
            return
        self._call_number, self._remaining, self._measured_at = number, remaining, started_at
        self._max_remaining = max(self._max_remaining, remaining)
        if limit and reset and limit > remaining:
            # The bucket is full again after `reset`. Limits are per minute, so the rate is never above that.
            self._rate = min((limit - remaining) / reset, limit / 60)

    def record_refusal(self, pause_s: float) -> None:
        """Record that a call was refused, with a pause for all calls."""
        if self._rate and pause_s > 3 / self._rate:
            self._caution = min(_MAX_CAUTION, self._caution + 0.01)

    def record_answer(self) -> None:
        """Record that a call was answered."""
        self._caution = max(_MIN_CAUTION, self._caution - 0.0005)

    def delay_s(self, now: float, started: int) -> float | None:
        """Seconds until the next call may start; None if the server reports no limits.

        Args:
            now: the time in seconds.
            started: how many calls have started so far.
        """
        if self._remaining is None or not self._rate:
            return None
        rate = self._rate / self._caution
        refilled = min(self._remaining + (now - self._measured_at) * rate, self._max_remaining + 1)
        level = refilled - (started - self._call_number) - int(self._reserve * self._max_remaining)
        return max(0.0, (1 - level) / rate)


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
                self._allowance.update(headers, number=permit.number, started_at=permit.started_at)
            self._serve_queue()

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
            self._allowance.update(headers, number=permit.number, started_at=permit.started_at)
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
                self._running -= 1
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
        self._rate_search.record_start(now)
        return Permit(self._started, now)

    def _delay_s(self) -> float:
        """Seconds until a call may start; infinite if another call has to end first."""
        if self._running >= int(self._allowed_running):
            return inf
        now = self._clock()
        delay_s = self._allowance.delay_s(now, self._started)
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
                return
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
