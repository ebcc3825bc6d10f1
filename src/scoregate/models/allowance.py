"""What a server tells of its limits: when to come back, and what is left until then."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_LEAST_CARE, _MOST_CARE = 1.02, 1.2


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server wants to be left alone: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    if (fine := _number(headers.get("retry-after-ms"))) is not None:
        return max(0.0, fine / 1000)
    text = headers.get("retry-after")
    if text is None or (seconds := _number(text)) is not None:
        return None if text is None else max(0.0, seconds or 0.0)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def seconds(text: str | None) -> float | None:
    """A span of time as servers write it: `6m0s`, `120ms`, `1.5`, or a time since the epoch; None of anything else."""
    if text is None:
        return None
    if (number := _number(text)) is not None:
        moment = number / 1000 if number > 1e11 else number
        return max(0.0, moment - time.time()) if moment > 1e9 else number
    parts = _PART.findall(text)
    if "".join(amount + unit for amount, unit in parts) != text.strip():
        return None
    return sum(float(amount) * _UNITS[unit] for amount, unit in parts)


def reset_s(headers: Mapping[str, str]) -> float | None:
    """Seconds until what is used up is there again; None where the server does not say."""
    spent = (
        what for what in ("-requests", "-tokens", "") if (_number(headers.get(f"x-ratelimit-remaining{what}")) or 0) < 1
    )
    spans = (seconds(headers.get(f"x-ratelimit-reset{what}")) for what in spent)
    return max((span for span in spans if span), default=None)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


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
        limit, left = (_number(headers.get(f"x-ratelimit-{name}-requests")) for name in ("limit", "remaining"))
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
