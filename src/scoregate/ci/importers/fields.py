"""Fields of results that others wrote: each is what it should be, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.core.evaluation import Usage
from scoregate.core.events import ErrorInfo
from scoregate.core.figures import amount

_NOTHING: Mapping[str, Any] = {}
_MOST_TOKENS = 2**53
_LONGEST_TEXT = 32_000


def table(value: object) -> Mapping[str, Any]:
    """An object; empty where it is none."""
    return value if isinstance(value, Mapping) else _NOTHING


def tables(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects in an array."""
    return (each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else iter(())


def text(value: object) -> str:
    """A text, or a whole number as one; empty where it is neither."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)


def flag(value: object) -> bool | None:
    """True or False; None where it is neither."""
    return value if isinstance(value, bool) else None


def count(value: object) -> int:
    """A count; 0 where it is none."""
    found = amount(value)
    return int(found) if found is not None and found < _MOST_TOKENS else 0


def milliseconds(seconds: object) -> float | None:
    """A duration in seconds, in milliseconds."""
    found = amount(seconds)
    return None if found is None else found * 1000


def usage(
    tokens_in: object, tokens_out: object, *, cached: object = None, cost: object, model: str = ""
) -> Usage | None:
    """What was used; None where nothing is told of it."""
    dollars = amount(cost)
    found = Usage(count(tokens_in), count(tokens_out), count(cached), dollars, model or None)
    used = found.input_tokens or found.output_tokens or found.cached_tokens or dollars
    return found if used else None


def told(**fields: object) -> dict[str, Any]:
    """Metadata of those fields that say something."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


def error(kind: str, message: object, traceback: object = "") -> ErrorInfo:
    """An error, bounded; the end of a traceback says most."""
    said = text(message)[:_LONGEST_TEXT]
    return ErrorInfo(kind[:200], said or "no message", text(traceback)[-_LONGEST_TEXT:])
