"""`client.traces`: the traces of examples in the store; import and export as OTLP JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoregate.errors import JudgmentValidationError, OtlpError
from scoregate.kernel.types.trace import Span, Trace
from scoregate.kernel.types.trajectories.otlp import read_otlp
from scoregate.store import Store, load_trace, save_trace

_ERROR_CODE = 2


def to_otlp(traces: Iterable[Trace]) -> dict[str, Any]:
    """The traces as one export request."""
    spans = [_format_span(trace.trace_id, span) for trace in traces for span in trace.spans]
    scope = {"scope": {"name": "scoregate"}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def from_otlp(text: str, *, origin: str) -> list[Trace]:
    """The traces in a file: one export request, or one request per line.

    Args:
        text: the content of the file.
        origin: its name, for error messages.

    Raises:
        JudgmentValidationError: it is not OTLP JSON.
    """
    try:
        read_spans = read_otlp(text)
    except OtlpError as error:
        raise JudgmentValidationError(
            f"{origin} {error.message.removeprefix('it ')}",
            advice="Export traces as OTLP JSON: an object with resourceSpans, or one such a line.",
        ) from None
    traces: dict[str, list[Span]] = {}
    for each in read_spans:
        traces.setdefault(each.trace_id, []).append(each.span)
    return [Trace(trace, tuple(sorted(spans, key=lambda span: span.start_ns))) for trace, spans in traces.items()]


def _format_span(trace_id: str, span: Span) -> dict[str, Any]:
    return {
        "traceId": trace_id,
        "spanId": span.span_id,
        **({"parentSpanId": span.parent_id} if span.parent_id else {}),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _format_attributes(span.attributes),
        "events": [
            {"name": e["name"], "timeUnixNano": str(e["time_ns"]), "attributes": _format_attributes(e["attributes"])}
            for e in span.events
        ],
        "status": {} if span.error is None else {"code": _ERROR_CODE, "message": span.error},
    }


def _format_attributes(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _format_value(value)} for name, value in attributes.items()]


def _format_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": _format_attributes(value)}}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_format_value(each) for each in value]}}
    return {"stringValue": str(value)} if value is not None else {}


@dataclass(frozen=True, slots=True)
class Traces:
    """The traces of a project. Every method raises StoreError if a file cannot be read or written."""

    store: Store

    def get(self, trace_id: str) -> Trace | None:
        """A trace by its id; None if there is none."""
        return load_trace(self.store, trace_id)

    def add(self, trace: Trace) -> str:
        """Store a trace and return its id, for `offline_trace_id` or the trace column of examples."""
        save_trace(self.store, trace)
        return trace.trace_id

    def add_from_otlp(self, file_path: str | Path) -> list[str]:
        """Store the traces of a file of OTLP JSON and return their ids.

        Raises:
            JudgmentValidationError: the file cannot be read, or is not OTLP JSON.
        """
        try:
            text = Path(file_path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeError) as error:
            raise JudgmentValidationError(f"{file_path} cannot be read: {error}") from None
        return [self.add(trace) for trace in from_otlp(text, origin=str(file_path))]

    def save_as_otlp(self, traces: Iterable[str | Trace], file_path: str | Path) -> Path:
        """Write traces to a file of OTLP JSON.

        Args:
            traces: ids of traces in the store, or traces of a run's rows.
            file_path: the file.

        Raises:
            JudgmentValidationError: there is no trace with an id.
            OSError: the file cannot be written.
        """
        loaded = []
        for each in traces:
            trace = each if isinstance(each, Trace) else self.get(each)
            if trace is None:
                raise JudgmentValidationError(
                    f"there is no trace {each!r:.60} in the store",
                    advice="For the trace of a run's row, give row.trace instead of its id, or use client.traces.add.",
                )
            loaded.append(trace)
        path = Path(file_path)
        path.write_text(json.dumps(to_otlp(loaded)) + "\n", encoding="utf-8")
        return path
