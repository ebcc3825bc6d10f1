"""Numbers that no suite can have measured: they are removed from its events, with a notice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from typing import Any

from scoregate.core.evaluation import Usage
from scoregate.core.events import Event

# Beyond what a float can count one by one.
MOST_COUNTED = 2**53
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens")
_DURATIONS = ("duration_ms", "duration_s")


def without_invalid_numbers(event: Event) -> tuple[Event, tuple[str, ...]]:
    """An event as it can be kept.

    Returns:
        The event without the usage and the duration that cannot be, and a sentence for each; the event itself where
        nothing is wrong.
    """
    wrong = dict(_wrong(event))
    if not wrong:
        return event, ()
    case = getattr(event, "case", None)
    where = f"suite {event.suite!r:.100}" + (f", case {case!r:.100}" if case else "")
    absent: dict[str, Any] = dict.fromkeys(wrong)
    return replace(event, **absent), tuple(f"{where}: {what}" for what in wrong.values())


def invalid_usage(usage: Usage) -> str:
    """What is wrong with the amounts, in words; empty where nothing is."""
    for name in _TOKENS:
        if not 0 <= (count := getattr(usage, name)) < MOST_COUNTED:
            return f"{name} = {_shown(count)} is no possible count"
    if usage.cost is not None and not (isfinite(usage.cost) and usage.cost >= 0):
        return f"cost = {usage.cost:g} is no possible cost"
    return ""


def _wrong(event: Event) -> Iterator[tuple[str, str]]:
    usage: Usage | None = getattr(event, "usage", None)
    if usage is not None and (why := invalid_usage(usage)):
        yield "usage", f"its usage is left out: {why}"
    for name in _DURATIONS:
        duration = getattr(event, name, None)
        if duration is not None and not (isfinite(duration) and duration >= 0):
            yield name, f"its duration is left out: {name} = {duration:g}"


def _shown(count: Any) -> str:
    return str(count) if abs(count) < MOST_COUNTED else f"a number of {len(bin(abs(count))) - 2:,} bits"
