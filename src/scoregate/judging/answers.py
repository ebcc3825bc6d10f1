"""What may be answered, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def on_scale(low: float, high: float) -> str:
    """A number, both ends included."""
    return f"The answer is a number from {low:g} to {high:g}."


def either(one: str, other: str) -> str:
    """One of two."""
    return f"The answer is {one} or {other}."


def one_of(choices: Sequence[str] | Mapping[str, str]) -> str:
    """One of several, on a line each, with what it means where that is told."""
    meanings = choices if isinstance(choices, Mapping) else dict.fromkeys(choices, "")
    lines = (f"- {choice}: {meaning}" if meaning else f"- {choice}" for choice, meaning in meanings.items())
    return "\n".join(("The answer is one of these:", *lines))
