"""Langfuse: traces and observations, as its blob storage export, its tables and its API write them.

Source: langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields; the models of langfuse 5.0.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.kernel.types.trace import Span
from scoregate.trace_files.parts import (
    AGENT,
    CHAT,
    TOOL,
    Details,
    TracePart,
    UnknownRecord,
    as_mapping,
    first,
    make_attributes,
    read_number,
    read_scalar,
    read_tags,
    read_text,
    read_time,
    require_id,
)
from scoregate.trace_files.values import find_answer_messages, find_request_messages, parse_json

NAME = "langfuse"
_KINDS = {"GENERATION": CHAT, "TOOL": TOOL, "AGENT": AGENT}
_TYPES = {*_KINDS, "SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
_OF_TRACES = ("sessionId", "session_id", "userId", "user_id", "environment", "observations")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a record is a trace, an observation, or a trace with its observations."""
    if isinstance(row.get("trace"), Mapping) and isinstance(row.get("observations"), list):
        return True
    if _is_observation(row):
        return True
    return "id" in row and "timestamp" in row and any(name in row for name in _OF_TRACES)


def read(row: Mapping[str, Any]) -> Iterator[TracePart]:
    """The parts of a record.

    Raises:
        UnknownRecord: a field is missing, or has another type.
    """
    if _is_observation(row):
        yield _read_observation(row)
        return
    trace = {**row["trace"], "observations": row["observations"]} if isinstance(row.get("trace"), Mapping) else row
    yield _read_trace(trace)
    observations = parse_json(trace.get("observations"))
    for each in observations if isinstance(observations, list) else ():
        # Traces in lists have the ids of their observations only.
        if isinstance(each, Mapping):
            yield _read_observation({"traceId": trace.get("id"), **each})


def _is_observation(row: Mapping[str, Any]) -> bool:
    return read_scalar(row.get("type")) in _TYPES and any(name in row for name in ("trace_id", "traceId"))


def _read_observation(row: Mapping[str, Any]) -> TracePart:
    if read_scalar(row.get("type")) not in _TYPES:
        raise UnknownRecord(f"the type of the observation, {row.get('type')!r:.60}, is unknown")
    kind, name = _KINDS.get(row["type"], ""), read_text(row.get("name"))
    given, result = parse_json(first(row, "input")), parse_json(first(row, "output"))
    sides = (find_request_messages(given), find_answer_messages(result)) if kind == CHAT else (given, result)
    failed = row.get("level") == "ERROR"
    span = Span(
        require_id(row, "id"),
        name,
        read_text(first(row, "parent_observation_id", "parentObservationId")),
        read_time(first(row, "start_time", "startTime")),
        read_time(first(row, "end_time", "endTime")),
        attributes=make_attributes(kind, name, *sides),
        error=read_text(first(row, "status_message", "statusMessage")) or "error" if failed else None,
    )
    usage = as_mapping(parse_json(first(row, "usage_details", "usageDetails")))
    details = Details(
        user=read_text(first(row, "user_id", "userId")),
        session=read_text(first(row, "session_id", "sessionId")),
        model=read_text(first(row, "provided_model_name", "providedModelName", "model")),
        tokens=read_number(usage.get("total")),
        cost=read_number(first(row, "total_cost", "totalCost", "calculatedTotalCost")),
        tags=read_tags(parse_json(row.get("tags"))),
        metadata=_read_metadata(row),
    )
    return TracePart(require_id(row, "trace_id", "traceId"), span, given, result, details=details)


def _read_trace(row: Mapping[str, Any]) -> TracePart:
    trace_id = require_id(row, "id")
    start = read_time(first(row, "timestamp", "createdAt"))
    latency = read_number(row.get("latency")) or 0
    span = Span(f"trace:{trace_id}", read_text(row.get("name")), "", start, start + round(latency * 1e9))
    scores = parse_json(row.get("scores"))
    details = Details(
        user=read_text(first(row, "user_id", "userId")),
        session=read_text(first(row, "session_id", "sessionId")),
        tags=read_tags(parse_json(row.get("tags"))),
        scores={
            str(each["name"]): each.get("value")
            for each in (scores if isinstance(scores, list) else ())
            if isinstance(each, Mapping) and "name" in each
        },
        metadata=_read_metadata(row),
    )
    given, result = parse_json(first(row, "input")), parse_json(first(row, "output"))
    return TracePart(trace_id, span, given, result, is_root=True, details=details)


def _read_metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("environment", "release", "version", "trace_name", "traceName")
    return {**as_mapping(parse_json(row.get("metadata"))), **{name: row[name] for name in names if row.get(name)}}
