"""OpenTelemetry's spans, collected by the trace that they belong to; imported only where that is installed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

from opentelemetry import trace as api
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

from scoregate.core.trace import Span, Trace

_MOST_SPANS = 5_000
_NAME = "scoregate"


class Collector(SpanProcessor):
    """Keeps the spans of the traces that were opened here, and lets all others pass."""

    def __init__(self) -> None:
        self._open: dict[int, list[ReadableSpan]] = {}
        self._attached: WeakSet[TracerProvider] = WeakSet()
        self._lock = threading.Lock()

    def begin(self, name: str, attributes: Mapping[str, Any]) -> api.Span:
        """The first span of a new trace."""
        tracer = self._provider().get_tracer(_NAME)
        span = tracer.start_span(name, context=Context(), attributes=attributes)
        if span.is_recording():
            self._open[span.get_span_context().trace_id] = []
        return span

    def take(self, span: api.Span) -> Trace | None:
        """The trace that began with this span; None where it was not recorded."""
        number = span.get_span_context().trace_id
        if (found := self._open.pop(number, None)) is None:
            return None
        spans = sorted(map(_span, found), key=lambda each: each.start_ns)
        return Trace(f"{number:032x}", tuple(spans))

    def on_end(self, span: ReadableSpan) -> None:
        """Called by OpenTelemetry, in whatever thread."""
        context = span.context
        if context is not None and (kept := self._open.get(context.trace_id)) is not None and len(kept) < _MOST_SPANS:
            kept.append(span)

    def _provider(self) -> TracerProvider:
        """The process's own, so that every instrumented library is seen; where there is none, it gets one."""
        with self._lock:
            provider = api.get_tracer_provider()
            if not isinstance(provider, TracerProvider):
                provider = TracerProvider(shutdown_on_exit=False)
                api.set_tracer_provider(provider)
            if provider not in self._attached:
                provider.add_span_processor(self)
                self._attached.add(provider)
            return provider


COLLECTOR = Collector()


def _span(span: ReadableSpan) -> Span:
    context, parent, status = span.context, span.parent, span.status
    assert context is not None
    return Span(
        f"{context.span_id:016x}",
        span.name,
        "" if parent is None else f"{parent.span_id:016x}",
        span.start_time or 0,
        span.end_time or 0,
        span.kind.value + 1,
        _plain(span.attributes),
        tuple({"name": e.name, "time_ns": e.timestamp, "attributes": _plain(e.attributes)} for e in span.events),
        (status.description or "error") if status.status_code is api.StatusCode.ERROR else None,
    )


def _plain(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in (attributes or {}).items()}
