"""Events and cases as JSON lines: written fast, read back with every field checked."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic_core import from_json, to_json

from scoregate.core.events import SCHEMA_VERSION, Event
from scoregate.errors import InvalidEvent

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MAX_EVENT_BYTES = 8 * 1024 * 1024


def dump(value: object) -> bytes:
    """Compact JSON of anything that has a JSON form (dataclasses, pydantic models, dates, enums, UUIDs, sets).

    Raises:
        PydanticSerializationError: the value holds something without a JSON form.
    """
    return to_json(value, inf_nan_mode="null", bytes_mode="base64")


def plain(value: object) -> Any:
    """`value` reduced to what JSON knows; anything else becomes the name of its type in angle brackets."""
    return from_json(to_json(value, inf_nan_mode="null", bytes_mode="base64", fallback=_type_name))


def _type_name(value: object) -> str:
    return f"<{type(value).__qualname__}>"


@cache
def _adapter() -> TypeAdapter[Event]:
    from pydantic import Discriminator, TypeAdapter

    return TypeAdapter(Annotated[Event, Discriminator("type")])


def parse_event(line: bytes) -> Event:
    """The event in one line of a log.

    Raises:
        InvalidEvent: the line is no JSON, no event, too long, or of a newer schema.
    """
    if len(line) > MAX_EVENT_BYTES:
        raise InvalidEvent(f"an event of {len(line):,} bytes is over the limit of {MAX_EVENT_BYTES:,}")
    try:
        event = _adapter().validate_json(line)
    except ValueError as error:
        raise InvalidEvent(f"not an event: {_reason(error)}") from None
    if event.v > SCHEMA_VERSION:
        raise InvalidEvent(
            f"events of schema {event.v} cannot be read, only up to {SCHEMA_VERSION}",
            advice="Update scoregate on the machine that reports.",
        )
    return event


def _reason(error: ValueError) -> str:
    details: Any = getattr(error, "errors", None)
    if details is None:
        return str(error)
    first = details(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'][1:]) or 'line'}: {first['msg']}"
