"""How fast to call a server that tells its limit by refusals alone."""

from __future__ import annotations

from math import inf

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
