"""The search for the rate of calls that a server accepts, if it reports none."""

from __future__ import annotations

from math import floor, inf, log10

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

    def record_unsent(self) -> None:
        """Record that a call that started was not sent, so the next one need not wait for its interval."""
        if self._rate != inf:
            self._next_start -= 1 / self._rate

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
