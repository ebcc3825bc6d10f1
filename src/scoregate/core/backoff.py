"""Delays before a retry: exponential back-off, and the delay that a server asks for in its headers."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import inf

_MOST_DOUBLINGS = 60  # beyond that, a float overflows


def backoff_s(attempt: int, *, first_s: float, longest_s: float = inf) -> float:
    """Seconds to wait before the retry that follows an attempt; they double with every attempt.

    Callers that share a server multiply it with a random number, so that their retries spread.

    Args:
        attempt: the number of the attempt that failed, from 1.
        first_s: the delay after the first attempt.
        longest_s: the upper limit of a delay.
    """
    return min(longest_s, first_s * 2.0 ** min(attempt - 1, _MOST_DOUBLINGS))


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a server asks its clients to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.

    Args:
        headers: of the response, their names in lower case or found in any case.
        now: the time in seconds since the epoch.

    Returns:
        The delay; None without such a header, or if it can't be read.
    """
    if (milliseconds := parse_number(headers.get("retry-after-ms"))) is not None:
        return max(0.0, milliseconds / 1000)
    text = headers.get("retry-after")
    if text is None:
        return None
    if (seconds := parse_number(text)) is not None:
        return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def parse_number(text: str | None) -> float | None:
    """The number in a header; None without one."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
