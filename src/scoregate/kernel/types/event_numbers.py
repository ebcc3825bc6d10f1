"""Numbers in events that no suite can mean: they are left out, and reported."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.events import CaseFinished, CaseStarted, Event, Scored

# From here on, floats don't represent every integer.
MOST_COUNTED = 2**53
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "calls", "stored")
_DURATIONS = ("duration_ms", "duration_s")
_WITHOUT_NUMBERS = (CaseStarted, CaseFinished)


def drop_invalid_numbers(event: Event) -> tuple[Event, tuple[str, ...]]:
    """Remove an impossible usage or duration from an event.

    Returns:
        The event, unchanged if its numbers are valid; and a message for each field that is removed.
    """
    if type(event) in _WITHOUT_NUMBERS or (isinstance(event, Scored) and event.usage is None):
        return event, ()  # most events; looking for fields that they lack is slow
    problems = {}
    usage: Usage | None = getattr(event, "usage", None)
    if usage is not None and (why := describe_invalid_usage(usage)):
        problems["usage"] = f"its usage is left out: {why}"
    for name in _DURATIONS:
        duration = getattr(event, name, None)
        if duration is not None and not (isfinite(duration) and duration >= 0):
            problems[name] = f"its duration is left out: {name} = {duration:g}"
    if not problems:
        return event, ()
    case = getattr(event, "case", None)
    place = f"suite {event.suite!r:.100}" + (f", case {case!r:.100}" if case else "")
    absent: dict[str, Any] = dict.fromkeys(problems)
    return replace(event, **absent), tuple(f"{place}: {problem}" for problem in problems.values())


def describe_invalid_usage(usage: Usage) -> str:
    """Describe the first impossible amount; empty if all amounts are valid."""
    for name in _COUNTS:
        if not 0 <= (count := getattr(usage, name)) < MOST_COUNTED:
            # str() refuses integers of more than 4,300 digits.
            text = str(count) if abs(count) < MOST_COUNTED else f"a number of {len(bin(abs(count))) - 2:,} bits"
            return f"{name} = {text} is not a possible count"
    if usage.cost is not None and not (isfinite(usage.cost) and usage.cost >= 0):
        return f"cost = {usage.cost:g} is not a possible cost"
    return ""
