"""Spans of OTLP in the conventions for generative AI, or in those of OpenInference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.errors import OtlpError
from scoregate.kernel.types.text import parse_amount
from scoregate.kernel.types.trace import Span
from scoregate.kernel.types.trajectories.otlp import OtlpSpan, read_json_request
from scoregate.trace_files.parts import Details, TracePart, UnknownRecord, read_tags
from scoregate.trace_files.values import parse_json

NAME = "otlp"
_USERS, _SESSIONS = ("user.id", "enduser.id"), ("session.id", "gen_ai.conversation.id")
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_TOKENS = (
    ("llm.token_count.total",),
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    ("llm.token_count.prompt", "llm.token_count.completion"),
)


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a record is an export request."""
    return "resourceSpans" in row


def read(row: Mapping[str, Any]) -> Iterator[TracePart]:
    """The parts of a request.

    Raises:
        UnknownRecord: it is not a valid request.
    """
    try:
        yield from map(read_span, read_json_request(row))
    except OtlpError as error:
        raise UnknownRecord(error.message) from None


def read_span(span: OtlpSpan) -> TracePart:
    """The part of a span."""
    return make_part(span.trace_id, span.span, span.resource)


def make_part(trace_id: str, span: Span, resource: Mapping[str, Any]) -> TracePart:
    """The part of a span whose attributes are in one of the conventions.

    Args:
        trace_id: the id of its trace.
        span: the span.
        resource: the attributes of its process.
    """
    attributes = span.attributes
    return TracePart(
        trace_id,
        span,
        _find(attributes, "input.value", "gen_ai.input.messages", "gen_ai.prompt", "input"),
        _find(attributes, "output.value", "gen_ai.output.messages", "gen_ai.completion", "output"),
        details=Details(
            user=str(_find(attributes, *_USERS) or ""),
            session=str(_find(attributes, *_SESSIONS) or ""),
            model=str(_find(attributes, *_MODELS) or ""),
            tokens=_count_tokens(attributes),
            cost=parse_amount(_find(attributes, "llm.cost.total", "gen_ai.usage.cost")),
            tags=read_tags(parse_json(attributes.get("tag.tags"))),
            metadata={**resource, **{key: value for key, value in attributes.items() if not key.startswith("llm.")}},
        ),
    )


def _find(attributes: Mapping[str, Any], *names: str) -> Any:
    return next((attributes[name] for name in names if attributes.get(name) not in (None, "")), None)


def _count_tokens(attributes: Mapping[str, Any]) -> float | None:
    # An agent may repeat what its calls used.
    kind = str(attributes.get("openinference.span.kind") or attributes.get("gen_ai.operation.name") or "").lower()
    for names in _TOKENS if kind not in ("agent", "invoke_agent", "chain") else ():
        amounts = [parse_amount(attributes[name]) for name in names if name in attributes]
        if known := [amount for amount in amounts if amount is not None]:
            return sum(known)
    return None
