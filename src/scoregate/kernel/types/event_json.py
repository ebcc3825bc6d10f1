"""Events as JSON lines: validated when they are read, truncated when too large, without numbers that none can mean."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic_core import from_json

from scoregate.errors import InvalidEvent
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import SCHEMA_VERSION, EventType
from scoregate.kernel.types.events import CaseFinished, CaseOutput, CaseStarted, Errored, Event, Scored, ToolCalled
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES, dump

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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


_EVALUATIONS = ("scored", "labelled")
_START_BYTES = 100_000


@cache
def _adapter() -> TypeAdapter[Event]:
    from pydantic import Discriminator, TypeAdapter

    return TypeAdapter(Annotated[Event, Discriminator("type")])


@cache
def _list_adapter() -> TypeAdapter[list[Event]]:
    from pydantic import Discriminator, TypeAdapter

    return TypeAdapter(list[Annotated[Event, Discriminator("type")]])


def prepare_parser() -> None:
    """Build what validates events, which the first call of `parse_events` would wait for (30 ms, measured)."""
    _list_adapter()


def parse_events(array: bytes, count: int) -> list[Event] | None:
    """Parse several lines of an event log at once, which takes two thirds of the time (measured).

    Args:
        array: the lines as a JSON array.
        count: the number of lines.

    Returns:
        The events; None if a line may not be valid, so that each must be parsed by `parse_event`.
    """
    if len(array) > MAX_EVENT_BYTES:  # one of the events may be too large: `parse_event` finds out which
        return None
    try:
        events = _list_adapter().validate_json(array)
    except ValueError:
        return None
    is_valid = len(events) == count and all(event.v <= SCHEMA_VERSION for event in events)
    return events if is_valid else None


def parse_event(line: bytes) -> Event:
    """Parse one line of an event log.

    A score that is not a number, or that has an invalid threshold, becomes an error of its evaluator in its case.

    Raises:
        InvalidEvent: the line is not JSON or no event, is too long, or has a newer schema.
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
        return replace(event, input=_truncate_value(event.input) + note, review_inputs=())
    if isinstance(event, CaseOutput):
        return replace(event, output=_truncate_value(event.output) + note, truncated=True, review_outputs=())
    if isinstance(event, ToolCalled):
        return replace(event, arguments={"": _truncate_value(event.arguments)}, result=note)
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
