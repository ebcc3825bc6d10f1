"""Parts of traces: the spans, runs or observations of an export, in one common form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import parse_amount
from scoregate.kernel.types.trace import Span

CHAT, TOOL, AGENT = "chat", "execute_tool", "invoke_agent"
_NS = 10**9
_LATEST_MS = 1e14  # in the year 5138


class UnknownRecord(ValueError):
    """A record has not the fields that its format promises."""


@record
class Details:
    """What an export knows of a whole trace. Every part of the trace may add some of it.

    Attributes:
        user: the user's id.
        session: the id of the conversation.
        model: the model of a call.
        tokens: the tokens of a call.
        cost: the cost of a call in US dollars.
        expected: the right output, if the export has it.
        tags: the tags.
        scores: the scores by name.
        metadata: the other fields.
    """

    user: str = ""
    session: str = ""
    model: str = ""
    tokens: float | None = None
    cost: float | None = None
    expected: Any = None
    tags: tuple[str, ...] = ()
    scores: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


@record
class TracePart:
    """One record of an export.

    Attributes:
        trace_id: the id of its trace.
        span: its name, parent, time, error, and the attributes that `read_spans` understands.
        input: its input; None if there is none.
        output: its output; None if there is none.
        is_root: whether it is the trace itself and not a step of it.
        details: what else it has.
    """

    trace_id: str
    span: Span
    input: Any = None
    output: Any = None
    is_root: bool = False
    details: Details = Details()


def make_attributes(kind: str, name: str, given: Any, result: Any) -> dict[str, Any]:
    """The attributes of a step in the conventions for generative AI.

    Args:
        kind: `CHAT`, `TOOL`, `AGENT`, or empty for any other step.
        name: the name of the tool or agent.
        given: the messages of a call, or the arguments of a tool.
        result: the messages of the answer, or the result of the tool.
    """
    if kind == CHAT:
        sides = {"gen_ai.input.messages": given, "gen_ai.output.messages": result}
        return {"gen_ai.operation.name": CHAT, **{key: value for key, value in sides.items() if value}}
    if kind == TOOL:
        call = {"gen_ai.tool.call.arguments": given, "gen_ai.tool.call.result": result}
        return {"gen_ai.operation.name": TOOL, "gen_ai.tool.name": name, **call}
    return {"gen_ai.operation.name": AGENT, "gen_ai.agent.name": name} if kind == AGENT else {}


def read_text(value: Any) -> str:
    """A text or a number as text; empty for None.

    Raises:
        UnknownRecord: it is an object or a list.
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, dict | list):
        raise UnknownRecord(f"{value!r:.60} must be a text")
    return str(value)


def read_scalar(value: Any) -> str:
    """A text or a number as text; empty for anything else."""
    return str(value) if isinstance(value, str | int | float) else ""


def read_number(value: Any) -> float | None:
    """An amount, also as the text of one, as CSV and decimals of pydantic have it; None for anything else."""
    try:
        return parse_amount(float(value) if isinstance(value, str) else value)
    except ValueError:
        return None


def require_id(row: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is filled.

    Raises:
        UnknownRecord: all are missing or empty.
    """
    for name in names:
        if identifier := read_text(row.get(name)):
            return identifier
    raise UnknownRecord(f"the field {names[0]!r} is missing")


def first(row: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that is neither None nor empty."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def read_time(value: Any) -> int:
    """A time in nanoseconds since the epoch; 0 for none.

    Args:
        value: a text in ISO 8601, in UTC if it names no zone; or a number of seconds, or milliseconds, since the epoch.

    Raises:
        UnknownRecord: it is not a time.
    """
    if value in (None, ""):
        return 0
    if (amount := parse_amount(value)) is not None and amount < _LATEST_MS:
        # Above, it is in milliseconds: in seconds, it would be after the year 5138.
        return round((amount / 1000 if amount > 1e11 else amount) * _NS)
    try:
        moment = datetime.fromisoformat(str(value))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0, round(moment.timestamp() * 1e6) * 1000)  # a float has no nanoseconds of today
    except (ValueError, OverflowError):
        raise UnknownRecord(f"{value!r:.60} is not a time") from None


def as_mapping(value: Any) -> Mapping[str, Any]:
    """An object as it is; an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def read_tags(value: Any) -> tuple[str, ...]:
    """The texts of a list; none for any other value."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
