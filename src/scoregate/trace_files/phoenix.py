"""Phoenix: spans, as its REST API and clients give them, and its tables as JSON, CSV or Parquet.

Source: arize.com/docs/phoenix, "Export Data & Query Spans"; the type `Span` and the tables of arize-phoenix-client
3.5.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.kernel.types.trace import Span
from scoregate.trace_files.otlp import make_part
from scoregate.trace_files.parts import TracePart, as_mapping, first, read_text, read_time, require_id
from scoregate.trace_files.values import parse_json

NAME = "phoenix"
_DEEPEST = 12
_KIND = "openinference.span.kind"
# Values of these are shown as they are; other lists and objects are flattened.
_WHOLE = ("metadata", "input.value", "output.value", "tool.parameters", "tag.tags")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a record is a span, with its ids in `context` or in columns of a table."""
    context = parse_json(row.get("context"))
    return "context.trace_id" in row or (isinstance(context, Mapping) and "trace_id" in context and "name" in row)


def read(row: Mapping[str, Any]) -> Iterator[TracePart]:
    """The part of a span.

    Raises:
        UnknownRecord: a field is missing, or has another type.
    """
    context = {**as_mapping(parse_json(row.get("context")))}
    context |= {name: row[f"context.{name}"] for name in ("trace_id", "span_id") if row.get(f"context.{name}")}
    attributes: dict[str, Any] = {}
    _flatten(parse_json(row.get("attributes")) or {}, "", attributes, 0)
    for name, value in row.items():
        if name.startswith("attributes.") and value is not None:
            _flatten(parse_json(value), name.removeprefix("attributes."), attributes, 0)
    if kind := read_text(row.get("span_kind")):
        attributes.setdefault(_KIND, kind)
    failed = str(row.get("status_code")).upper() == "ERROR"
    span = Span(
        require_id(context, "span_id"),
        read_text(row.get("name")),
        read_text(row.get("parent_id")),
        read_time(row.get("start_time")),
        read_time(row.get("end_time")),
        attributes=attributes,
        error=read_text(first(row, "status_message")) or "error" if failed else None,
    )
    yield make_part(require_id(context, "trace_id"), span, {})


def _flatten(value: Any, name: str, flat: dict[str, Any], depth: int) -> None:
    """Collect the attributes below a value by their dotted names, such as `llm.input_messages.0.message.role`."""
    if depth > _DEEPEST or name in _WHOLE or not isinstance(value, Mapping | list):
        flat[name] = value
        return
    for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
        _flatten(each, f"{name}.{key}" if name else str(key), flat, depth + 1)
