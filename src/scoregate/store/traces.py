"""Stored traces: one file for each trace, one line for each span."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from scoregate.kernel.types.trace import Span, Trace
from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store


class StoredSpan(BaseModel):
    """A span of a trace; see `kernel.types.trace.Span`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    span_id: str = Field(min_length=1)
    name: str
    parent_id: str = ""
    start_ns: int = 0
    end_ns: int = 0
    kind: int = 1
    attributes: Mapping[str, Any] = Field(default_factory=dict)
    events: tuple[Mapping[str, Any], ...] = ()
    error: str | None = None


TRACES = Kind("traces", StoredSpan, JSON_LINES, ("trace",))


def save_trace(store: Store, trace: Trace) -> None:
    """Store a trace. A trace with the same id is replaced.

    Raises:
        StoreError: it could not be written.
    """
    spans = [StoredSpan(**span.plain()) for span in trace.spans]
    store.update(TRACES, (trace.trace_id,), lambda _: spans)


def load_trace(store: Store, trace_id: str) -> Trace | None:
    """The trace with this id; None if there is none.

    Raises:
        StoreError: it cannot be read.
    """
    spans = tuple(Span(**span.model_dump()) for span in store.read(TRACES, (trace_id,)))
    return Trace(trace_id, spans) if spans else None
