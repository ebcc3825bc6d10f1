"""Collect the spans of agents' calls. Needs the package opentelemetry-sdk, so `tracer` imports it late."""

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

from scoregate.kernel.types.trace import Span

_MOST_SPANS = 5_000
_SAMPLED = api.TraceFlags(api.TraceFlags.SAMPLED)
# A separate generator, so that a seed in the user's code can't give two calls the same id. Ids from the kernel would
# release the interpreter lock each time, and the agent's thread would have to wait for the event loop.
_ids = Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ids.seed)


class SpanCollector(SpanProcessor):
    """Collects the spans of the traces that it opens, and ignores all others."""

    def __init__(self) -> None:
        self._open: dict[int, list[ReadableSpan]] = {}
        self._attached: WeakSet[TracerProvider] = WeakSet()
        self._newest: api.TracerProvider | None = None
        self._lock = threading.Lock()

    def begin(self) -> api.SpanContext:
        """Open a trace; the caller writes its first span.

        The collector is attached to the provider of the process, because instrumented libraries use only that one. If
        there is none, this sets one: OpenTelemetry allows it once. It can't attach to a provider that is not the SDK's.
        """
        if api.get_tracer_provider() is not self._newest:
            with self._lock:
                provider = api.get_tracer_provider()
                if isinstance(provider, api.ProxyTracerProvider):
                    provider = TracerProvider(shutdown_on_exit=False)
                    api.set_tracer_provider(provider)
                if isinstance(provider, TracerProvider) and provider not in self._attached:
                    provider.add_span_processor(self)
                    self._attached.add(provider)
                self._newest = provider
        context = api.SpanContext(_ids.getrandbits(128) or 1, _ids.getrandbits(64) or 1, False, _SAMPLED)
        self._open[context.trace_id] = []
        return context

    @staticmethod
    def enter(context: api.SpanContext) -> Token[Context]:
        """Make this the parent of spans that begin in this task or thread, until `leave`."""
        return attach(api.set_span_in_context(api.NonRecordingSpan(context)))

    @staticmethod
    def leave(token: Token[Context]) -> None:
        """Restore the parent before `enter`."""
        detach(token)

    def take(self, context: api.SpanContext) -> list[Span]:
        """Close a trace, and return its finished spans."""
        return [_to_span(span) for span in self._open.pop(context.trace_id, ())]

    def on_end(self, span: ReadableSpan) -> None:
        """Collect a span. OpenTelemetry calls this, in any thread."""
        context = span.context
        if context is not None and (spans := self._open.get(context.trace_id)) is not None and len(spans) < _MOST_SPANS:
            spans.append(span)


SPAN_COLLECTOR = SpanCollector()


def _to_span(span: ReadableSpan) -> Span:
    context, parent, status = span.context, span.parent, span.status
    assert context is not None
    events = (
        {"name": event.name, "time_ns": event.timestamp, "attributes": _plain_attributes(event.attributes)}
        for event in span.events
    )
    return Span(
        f"{context.span_id:016x}",
        span.name,
        "" if parent is None else f"{parent.span_id:016x}",
        span.start_time or 0,
        span.end_time or 0,
        span.kind.value + 1,
        _plain_attributes(span.attributes),
        tuple(events),
        (status.description or "error") if status.status_code is api.StatusCode.ERROR else None,
    )


def _plain_attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in (attributes or {}).items()}
