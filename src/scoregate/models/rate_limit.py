"""Rate limits: a limiter, the search for an unknown rate, and limits reported in headers."""

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

from scoregate.core.backoff import backoff_s, parse_number

_FIRST, _LEAP, _STEP = 8.0, 1.25, 1.03
_CALLS_A_LEVEL, _MOST_FALLS = 3, 5
# What may be won by a step up is worth the pause of another refusal after so many pauses' time.
_WORTH_A_TRY = 60


class Pace:
    """Calls a second, found between the fastest that held and the slowest that was refused.

    Nothing is held back until the first refusal. Then calls start evenly: at a pace known to be low, on by leaps until
    the next refusal, from there by steps; what held last is kept. Refusals in a row fall back further each time, since
    a bucket that filled up during a pause hides for a while that a pace is too high.
    """

    def __init__(self) -> None:
        self._pace = self._held = self._refused = inf
        self._leaps = True
        self._falls = 0
        self._level = self._accepted = 0
        self._since: float | None = None
        self._changed = 0
        self._pause_s = self._next = 0.0

    def delay_s(self, now: float) -> float:
        """Seconds until the next call may start."""
        return self._next - now

    def started(self, now: float) -> None:
        """A call starts."""
        self._next = now + 1 / self._pace  # time that was lost cannot be made up where a bucket holds but one

    def was_answered(self, now: float, number: int) -> None:
        """The call of this number was answered."""
        self._accepted += 1
        self._since = now if self._since is None else self._since
        if self._pace < inf and number > self._changed:
            self._level += 1
            self._look_up()

    def was_refused(self, now: float, pause_s: float, *, started: int) -> None:
        """A call was refused, the first of those that were under way together.

        Args:
            pause_s: how long all calls pause now. started: how many calls have started so far.
        """
        if pause_s <= 0:  # then a refusal costs nothing
            return
        span = now + pause_s - (now if self._since is None else self._since)
        measured = max(1, self._accepted) / max(span, 0.001)
        if self._pace == inf:
            self._held = measured
            self._pace = measured * _FIRST
        else:
            self._refused, self._leaps = self._pace, False
            self._held = self._pace = max(measured, min(self._held, self._pace) / _STEP**self._falls)
            self._falls = min(self._falls + 1, _MOST_FALLS)
        self._since, self._accepted, self._level, self._changed = now + pause_s, 0, 0, started
        self._pause_s, self._next = pause_s, now + pause_s

    def _look_up(self) -> None:
        is_near = not self._leaps and self._held * _STEP * _STEP >= self._refused
        enough = _WORTH_A_TRY * self._pause_s * self._pace if is_near else _CALLS_A_LEVEL * 2**self._falls
        if self._level < enough:
            return
        if is_near:
            self._refused, self._falls = self._held * _STEP**3, 0
        self._held, self._level = self._pace, 0
        self._pace *= _LEAP if self._leaps else max(_STEP, (self._refused / self._held) ** 0.25)


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_LEAST_CARE, _MOST_CARE = 1.02, 1.2


def seconds(text: str | None) -> float | None:
    """A span of time as servers write it: `6m0s`, `120ms`, `1.5`, or a time since the epoch; None of anything else."""
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
    """Seconds until what is used up is there again; None where the server does not say."""
    spent = (
        what
        for what in ("-requests", "-tokens", "")
        if (parse_number(headers.get(f"x-ratelimit-remaining{what}")) or 0) < 1
    )
    spans = (seconds(headers.get(f"x-ratelimit-reset{what}")) for what in spent)
    return max((span for span in spans if span), default=None)


class Allowance:
    """A picture of the server's bucket of requests, from what its latest answer told; none until it tells.

    It is taken for a little emptier than it was told to be, and for more so after calls that came too early: what
    that costs is a share of the rate, and a call that is refused costs as long as the server then wants to be left.
    """

    def __init__(self) -> None:
        self._number = -1
        self._left: float | None = None
        self._most = 0.0
        self._at = 0.0
        self._rate = 0.0
        self._care = _LEAST_CARE

    @property
    def gap_s(self) -> float | None:
        """Seconds between calls that the server allows in the long run; None where that is not known."""
        return self._care / self._rate if self._rate else None

    def told(self, headers: Mapping[str, str], *, number: int, began: float) -> None:
        """Take in the headers of the answer to the call of this number, which began then."""
        limit, left = (parse_number(headers.get(f"x-ratelimit-{name}-requests")) for name in ("limit", "remaining"))
        reset = seconds(headers.get("x-ratelimit-reset-requests"))
        if left is None or number <= self._number:
            return
        self._number, self._left, self._at = number, left, began
        self._most = max(self._most, left)
        if limit and reset and limit > left:
            # A bucket that is full again after `reset`. Limits are told by the minute: never faster than that.
            self._rate = min((limit - left) / reset, limit / 60)

    def was_late(self, pause_s: float) -> None:
        """A call was refused, and for so long none may start."""
        if self._rate and pause_s > 3 / self._rate:
            self._care = min(_MOST_CARE, self._care + 0.01)

    def was_in_time(self) -> None:
        """A call was answered."""
        self._care = max(_LEAST_CARE, self._care - 0.0005)

    def delay_s(self, now: float, started: int) -> float | None:
        """Seconds until the next call may start, `started` having started so far; None where no server tells."""
        if self._left is None or not self._rate:
            return None
        rate = self._rate / self._care
        level = min(self._left + (now - self._at) * rate, self._most + 1) - (started - self._number)
        return max(0.0, (1 - level) / rate)


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
        return backoff_s(self._refusals, first_s=gap or _LEAST_PAUSE_S, longest_s=most)

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
