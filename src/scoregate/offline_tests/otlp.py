"""Traces as OTLP JSON, which collectors and SDKs of every language write and read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scoregate.core.trace import Span, Trace
from scoregate.errors import JudgmentValidationError

_ERROR = 2


def to_otlp(traces: Iterable[Trace]) -> dict[str, Any]:
    """All traces as one export request."""
    spans = [_written(trace.trace_id, span) for trace in traces for span in trace.spans]
    scope = {"scope": {"name": "scoregate"}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def from_otlp(text: str, *, origin: str) -> list[Trace]:
    """The traces in a file: one export request, or several, one a line.

    Raises:
        JudgmentValidationError: it is none. `origin` is how the file is called.
    """
    found: dict[str, list[Span]] = {}
    try:
        for request in _requests(text):
            for span in _spans(request):
                found.setdefault(_hex(span["traceId"], 32), []).append(_read(span))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise JudgmentValidationError(
            f"{origin} is no OTLP JSON: {type(error).__name__}: {error!s:.200}",
            advice="Export traces as OTLP JSON: an object with resourceSpans, or one such a line.",
        ) from None
    return [Trace(trace, tuple(sorted(spans, key=lambda span: span.start_ns))) for trace, spans in found.items()]


def _requests(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except ValueError:
        if not (lines := [line for line in text.splitlines() if line.strip()]):
            raise
        return [json.loads(line) for line in lines]


def _spans(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in request["resourceSpans"]:
        for scope in resource.get("scopeSpans", ()):
            yield from scope.get("spans", ())


def _read(span: Mapping[str, Any]) -> Span:
    status = span.get("status") or {}
    failed = status.get("code") in (_ERROR, "STATUS_CODE_ERROR")
    kind = span.get("kind", 1)
    return Span(
        _hex(span["spanId"], 16),
        str(span.get("name", "")),
        _hex(span["parentSpanId"], 16) if span.get("parentSpanId") else "",
        int(span.get("startTimeUnixNano", 0)),
        int(span.get("endTimeUnixNano", 0)),
        kind if isinstance(kind, int) else 1,
        _attributes(span.get("attributes", ())),
        tuple(
            {
                "name": str(event.get("name", "")),
                "time_ns": int(event.get("timeUnixNano", 0)),
                "attributes": _attributes(event.get("attributes", ())),
            }
            for event in span.get("events", ())
        ),
        (str(status.get("message") or "error")) if failed else None,
    )


def _written(trace_id: str, span: Span) -> dict[str, Any]:
    return {
        "traceId": trace_id,
        "spanId": span.span_id,
        **({"parentSpanId": span.parent_id} if span.parent_id else {}),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _pairs(span.attributes),
        "events": [
            {"name": e["name"], "timeUnixNano": str(e["time_ns"]), "attributes": _pairs(e["attributes"])}
            for e in span.events
        ],
        "status": {} if span.error is None else {"code": _ERROR, "message": span.error},
    }


def _hex(value: Any, digits: int) -> str:
    if not isinstance(value, str) or len(value) != digits or not int(value, 16):
        raise ValueError(f"{value!r:.60} is no id of {digits} hexadecimal digits")
    return value.lower()


def _pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": _pairs(value)}}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": str(value)} if value is not None else {}


def _attributes(pairs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {pair["key"]: _meant(pair.get("value") or {}) for pair in pairs}


def _meant(value: Mapping[str, Any]) -> Any:
    for key, said in value.items():
        if key == "intValue":
            return int(said)
        if key == "arrayValue":
            return [_meant(each) for each in said.get("values", ())]
        if key == "kvlistValue":
            return _attributes(said.get("values", ()))
        return said
    return None
