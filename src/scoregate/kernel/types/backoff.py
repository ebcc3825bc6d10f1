"""Delays before a retry: exponential back-off, and the delay that a server asks for in its headers."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import inf

_MOST_DOUBLINGS = 60  # beyond that, a float overflows


def backoff_s(attempt: int, *, first_s: float, longest_s: float = inf) -> float:
    """The delay before the retry that follows an attempt, in seconds; it doubles with every attempt.

    Callers that share a server should multiply it by a random number, so that their retries are spread.

    Args:
        attempt: the number of the attempt that failed, from 1.
        first_s: the delay after the first attempt.
        longest_s: the upper limit of a delay.
    """
    return min(longest_s, first_s * 2.0 ** min(attempt - 1, _MOST_DOUBLINGS))


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """The delay that a server requests with `retry-after-ms`, or with `retry-after` in seconds or as a date.

    Args:
        headers: the headers of the response, with names in lower case or case-insensitive.
        now: the time in seconds since the epoch.

    Returns:
        The delay in seconds; None without a valid header.
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
