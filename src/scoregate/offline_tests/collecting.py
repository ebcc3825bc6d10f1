"""OpenTelemetry's spans, collected by the trace that they belong to; imported only where that is installed."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextvars import Token
from random import Random
from typing import Any
from weakref import WeakSet

from opentelemetry import trace as api
from opentelemetry.context import Context, attach, detach
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

from scoregate.core.trace import Span

_MOST_SPANS = 5_000
_SAMPLED = api.TraceFlags(api.TraceFlags.SAMPLED)
# Of our own, so that a seed that the user's code sets does not give two calls one id. The kernel is not asked for each:
# whoever does that lets go of the interpreter, and the agent's thread would wait for the event loop to be done with it.
_ids = Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ids.seed)


class Collector(SpanProcessor):
    """Keeps the spans of the traces that were opened here, and lets all others pass."""

    def __init__(self) -> None:
        self._open: dict[int, list[ReadableSpan]] = {}
        self._attached: WeakSet[TracerProvider] = WeakSet()
        self._newest: api.TracerProvider | None = None
        self._lock = threading.Lock()

    def begin(self) -> api.SpanContext:
        """A new trace, whose first span is the caller's to write."""
        self._attach()
        context = api.SpanContext(_ids.getrandbits(128) or 1, _ids.getrandbits(64) or 1, False, _SAMPLED)
        self._open[context.trace_id] = []
        return context

    @staticmethod
    def enter(context: api.SpanContext) -> Token[Context]:
        """Spans that begin from here on, in this task or thread, belong to the span of this context, until `leave`."""
        return attach(api.set_span_in_context(api.NonRecordingSpan(context)))

    @staticmethod
    def leave(token: Token[Context]) -> None:
        """Spans belong again to what they belonged to before."""
        detach(token)

    def take(self, context: api.SpanContext) -> list[Span]:
        """The spans that ended in this trace, which ends."""
        return [_span(span) for span in self._open.pop(context.trace_id, ())]

    def on_end(self, span: ReadableSpan) -> None:
        """Called by OpenTelemetry, in whatever thread."""
        context = span.context
        if context is not None and (kept := self._open.get(context.trace_id)) is not None and len(kept) < _MOST_SPANS:
            kept.append(span)

    def _attach(self) -> None:
        """To the process's own provider, so that every instrumented library is seen; if there is none, it gets one.

        Libraries ask for the provider of the process and for no other, and OpenTelemetry lets it be set only once. One
        that is not the SDK's keeps its spans to itself.
        """
        if api.get_tracer_provider() is self._newest:
            return
        with self._lock:
            provider = api.get_tracer_provider()
            if isinstance(provider, api.ProxyTracerProvider):
                provider = TracerProvider(shutdown_on_exit=False)
                api.set_tracer_provider(provider)
            if isinstance(provider, TracerProvider) and provider not in self._attached:
                provider.add_span_processor(self)
                self._attached.add(provider)
            self._newest = provider


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
