"""Braintrust: spans of logs and experiments, as its API, its page and its exports to cloud storage write them.

Source: braintrust.dev/docs, "Fetch project logs"; `ProjectLogsEvent` of braintrust 0.48.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.kernel.types.text import parse_amount
from scoregate.kernel.types.trace import Span
from scoregate.trace_files.parts import (
    CHAT,
    TOOL,
    Details,
    TracePart,
    as_mapping,
    first,
    make_attributes,
    read_scalar,
    read_tags,
    read_text,
    read_time,
    require_id,
)
from scoregate.trace_files.values import find_answer_messages, find_request_messages, parse_json, to_text

NAME = "braintrust"
_KINDS = {"llm": CHAT, "tool": TOOL}


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a record is a span."""
    return "root_span_id" in row and "span_id" in row


def read(row: Mapping[str, Any]) -> Iterator[TracePart]:
    """The part of a span.

    Raises:
        UnknownRecord: a field is missing, or has another type.
    """
    span_attributes = as_mapping(parse_json(row.get("span_attributes")))
    metrics = as_mapping(parse_json(row.get("metrics")))
    name, kind = read_text(span_attributes.get("name")), _KINDS.get(str(span_attributes.get("type")), "")
    given, result = parse_json(first(row, "input")), parse_json(first(row, "output"))
    sides = (find_request_messages(given), find_answer_messages(result)) if kind == CHAT else (given, result)
    parents = parse_json(row.get("span_parents"))
    error = row.get("error")
    span_id, root_id = require_id(row, "span_id"), require_id(row, "root_span_id")
    span = Span(
        span_id,
        name,
        read_text(parents[0]) if isinstance(parents, list) and parents else "",
        read_time(first(metrics, "start") or row.get("created")),
        read_time(first(metrics, "end") or row.get("created")),
        attributes=make_attributes(kind, name, *sides),
        error=None if error in (None, "") else to_text(error),
    )
    metadata = as_mapping(parse_json(row.get("metadata")))
    details = Details(
        user=read_scalar(metadata.get("user_id")),
        session=read_scalar(first(metadata, "session_id", "thread_id", "conversation_id")),
        model=read_scalar(metadata.get("model")),
        tokens=parse_amount(metrics.get("tokens")) if kind == CHAT else None,
        cost=parse_amount(metrics.get("estimated_cost")) if kind == CHAT else None,
        expected=parse_json(first(row, "expected")),
        tags=read_tags(parse_json(row.get("tags"))),
        scores=as_mapping(parse_json(row.get("scores"))),
        metadata=metadata,
    )
    yield TracePart(root_id, span, given, result, is_root=span_id == root_id, details=details)
