"""Events and cases as JSON lines, validated when they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic_core import PydanticSerializationError, from_json, to_json

from scoregate.core.events import SCHEMA_VERSION, CaseOutput, CaseStarted, Errored, Event, EventType, Scored
from scoregate.errors import InvalidEvent

if TYPE_CHECKING:
    from pydantic import TypeAdapter


MAX_EVENT_BYTES = 8 * 1024 * 1024
# The parser accepts at most 200 levels and numbers of at most 4,300 digits. A line that may be near these limits is
# parsed before it is written, in a few more levels, since a record nests cases deeper.
_MANY_BRACKETS = 180
_LONG_VALUE = 4_000
_MARGIN = 8
_EVALUATIONS = ("scored", "labelled")
_ATOMS = (str, int, float, type(None))


def dump(value: object) -> bytes:
    """Compact JSON of a value with a JSON form (dataclasses, pydantic models, dates, enums, UUIDs, sets).

    A lone surrogate has no UTF-8 form; it is written as the text of its escape.

    Raises:
        PydanticSerializationError: a part of the value has no JSON form.
    """
    return _serialize(value, None)


def dump_event(event: object) -> bytes:
    """The line of an event log that `parse_event` reads.

    Raises:
        ValueError: a field has no JSON form, is nested too deeply, or is a number with too many digits.
    """
    line = _serialize(event, None)
    brackets = line.count(b"[") + line.count(b"{") if len(line) > 2 * _MANY_BRACKETS else 0
    if brackets > _MANY_BRACKETS or len(line) > _LONG_VALUE:
        try:
            from_json(b"[" * _MARGIN + line + b"]" * _MARGIN)
        except ValueError as error:
            raise ValueError(f"its JSON could not be read back: {error}") from None
    return line


def dump_plain(value: object) -> bytes:
    """Compact JSON of any value; parts without a JSON form become the name of their type in angle brackets."""
    return _serialize(value, lambda part: f"<{type(part).__qualname__}>")


def to_plain(value: object) -> Any:
    """Convert any value to JSON types; parts without a JSON form become the name of their type in angle brackets."""
    return from_json(dump_plain(value))


def sort_sets(value: Any, depth: int = 0) -> Any:
    """Replace sets by sorted lists, so that every process writes equal values in the same way.

    Args:
        value: any value; values nested deeper than 180 levels stay unchanged.
        depth: the level of the value in the outermost value.
    """
    if isinstance(value, _ATOMS) or depth > _MANY_BRACKETS:
        return value
    if isinstance(value, set | frozenset):
        return sorted((sort_sets(item, depth + 1) for item in value), key=dump_plain)
    if isinstance(value, Mapping):
        return {name: sort_sets(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sort_sets(item, depth + 1) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: sort_sets(getattr(value, field.name), depth + 1) for field in fields(value)}
    return value


def _serialize(value: object, fallback: Callable[[Any], Any] | None) -> bytes:
    try:
        return to_json(value, inf_nan_mode="null", bytes_mode="base64", fallback=fallback)
    except PydanticSerializationError as error:
        if "surrogates not allowed" not in str(error):
            raise
    return to_json(_escape_surrogates(value), inf_nan_mode="null", bytes_mode="base64", fallback=fallback)


def _escape_surrogates(value: Any) -> Any:
    """Replace every lone surrogate by the text of its escape, such as `\\ud800`."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_escape_surrogates(name): _escape_surrogates(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_escape_surrogates(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _escape_surrogates(getattr(value, field.name)) for field in fields(value)}
    return value


@cache
def _adapter() -> TypeAdapter[Event]:
    from pydantic import Discriminator, TypeAdapter

    from scoregate.core.events import Event

    return TypeAdapter(Annotated[Event, Discriminator("type")])


def parse_event(line: bytes) -> Event:
    """Parse one line of an event log.

    A score that is not a number, or that has an invalid threshold, becomes an error of its evaluator in its case.

    Raises:
        InvalidEvent: the line is no JSON or no event, is too long, or has a newer schema.
    """
    if len(line) > MAX_EVENT_BYTES:
        raise InvalidEvent(f"an event of {len(line):,} bytes is over the limit of {MAX_EVENT_BYTES:,}")
    try:
        event = _adapter().validate_json(line)
    except ValueError as error:
        return _invalid_evaluation(line, error)
    if event.v > SCHEMA_VERSION:
        raise _newer_schema_error(event.v, optional=_is_optional(from_json(line)))
    return event


def _invalid_evaluation(line: bytes, validation_error: ValueError) -> Event:
    """The error event that replaces an invalid evaluation.

    Raises:
        InvalidEvent: the line doesn't name an evaluator and a case.
    """
    reason = str(validation_error)
    if details := getattr(validation_error, "errors", None):
        first: Any = details(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"][1:] if part != "float")  # a member of the score's union
        reason = f"{field or 'line'}: {first['msg']}"
    try:
        data = from_json(line)
    except ValueError as error:
        raise InvalidEvent(f"not an event: {error}") from None
    if not isinstance(data, dict):
        raise InvalidEvent("not an event: the line is not a JSON object")
    version = data.get("v", SCHEMA_VERSION)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise _newer_schema_error(version, optional=_is_optional(data))
    is_unknown = data.get("type") not in get_args(EventType)
    if data.get("type") in _EVALUATIONS and {"case", "evaluator"} <= data.keys():
        key = {name: data[name] for name in ("suite", "case", "repeat", "evaluator") if name in data}
        failure = {"type": "InvalidEvaluation", "message": f"its evaluation cannot be read: {reason}"}
        with suppress(ValueError):
            return _adapter().validate_python({**key, "type": "errored", "stage": "evaluator", "error": failure})
    raise InvalidEvent(f"not an event: {reason}", optional=is_unknown and _is_optional(data))


def _newer_schema_error(version: int, *, optional: bool) -> InvalidEvent:
    return InvalidEvent(
        f"events of schema {version} cannot be read, only up to {SCHEMA_VERSION}",
        advice="Update scoregate on the machine that reports.",
        optional=optional,
    )


def _is_optional(data: Any) -> bool:
    return isinstance(data, dict) and data.get("optional") is True


_START_BYTES = 100_000


def truncate_event(event: Event, why: str) -> Event:
    """Truncate the user's data in an event to its first 100 kB, with a note.

    Args:
        event: an event that is too large.
        why: the reason for the note.

    Raises:
        ValueError: this type of event has no user data.
    """
    note = f"… left out: {why}"
    if isinstance(event, CaseStarted):
        return replace(event, input=_truncate_value(event.input) + note)
    if isinstance(event, CaseOutput):
        return replace(event, output=_truncate_value(event.output) + note, truncated=True)
    if isinstance(event, Scored):
        return replace(event, metadata={"metadata": _truncate_value(event.metadata) + note}, assertions=None)
    if isinstance(event, Errored):
        return replace(event, error=replace(event.error, message=note, traceback=""))
    raise ValueError(f"a {event.type} event: {why}")


def _truncate_value(value: object) -> str:
    try:
        return dump(value)[:_START_BYTES].decode("utf-8", "ignore")
    except ValueError:
        return ""
