"""Spans of OTLP: export requests and files in JSON and in protobuf.

Source: opentelemetry.io/docs/specs/otlp, github.com/open-telemetry/opentelemetry-proto
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from scoregate.errors import MissingExtra, OtlpError
from scoregate.kernel.types.records import record
from scoregate.kernel.types.trace import Span

if TYPE_CHECKING:  # an optional package
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.trace.v1 import trace_pb2

MOST_BYTES = 64 * 1024 * 1024
MOST_ATTRIBUTES = 256
JSON, PROTOBUF = "application/json", "application/x-protobuf"
_GZIP = b"\x1f\x8b"
_ERROR_CODE = 2
_INT64, _UINT64 = 1 << 63, 1 << 64
_LENGTH_BYTES = 4


@record
class OtlpSpan:
    """A span as it was sent.

    Attributes:
        trace_id: 32 hexadecimal digits.
        span: the span.
        resource: the attributes of the process that sent it.
        dropped: the number of attributes that were too many.
    """

    trace_id: str
    span: Span
    resource: Mapping[str, Any] = field(default_factory=dict)
    dropped: int = 0


def drop_repeated(spans: Iterable[OtlpSpan]) -> list[Span]:
    """The spans, each once. A request that is sent again, or a file besides, repeats some.

    Args:
        spans: the spans as they were sent.
    """
    kept: dict[tuple[str, str], list[Span]] = {}
    distinct = []
    for each in spans:
        known = kept.setdefault((each.trace_id, each.span.span_id), [])
        if each.span not in known:
            known.append(each.span)
            distinct.append(each.span)
    return distinct


def read_otlp(data: bytes | str) -> list[OtlpSpan]:
    """The spans of a file: JSON, JSON lines as the collector's file exporter writes them, or protobuf; also gzipped.

    Args:
        data: the content of the file.

    Raises:
        OtlpError: it is none of these, or too large.
        MissingExtra: it is protobuf, and opentelemetry-proto is not installed.
    """
    content = unpack(data.encode() if isinstance(data, str) else data)
    if isinstance(data, bytes) and content.lstrip()[:1] not in (b"", b"[", b"{"):
        return [span for message in _split_messages(content) for span in parse_protobuf(message)]
    lines = [line for line in content.splitlines() if line.strip()]
    readers: list[Callable[[], list[OtlpSpan]]] = [lambda: parse_json(content)]
    if len(lines) > 1:
        readers.append(lambda: [span for line in lines for span in parse_json(line)])
    if isinstance(data, bytes) and content.startswith(b"\n") and has_protobuf():
        # A message whose first field is 91 or 123 bytes long starts like a line of JSON.
        readers.append(lambda: parse_protobuf(content))
    problems = []
    for read in readers:
        try:
            return read()
        except OtlpError as error:
            problems.append(error)
    raise problems[0]


def unpack(data: bytes, most: int = MOST_BYTES) -> bytes:
    """Decompress gzip within a limit; other data is returned as it is.

    Args:
        data: the data.
        most: the limit in bytes.

    Raises:
        OtlpError: it is not a valid gzip, or over the limit.
    """
    parts: list[bytes] = []
    rest, size = data, 0
    if not data.startswith(_GZIP):
        parts, rest, size = [data], b"", len(data)
    while rest:
        reader = zlib.decompressobj(wbits=31)  # gzip, whose files may have several members
        try:
            parts.append(reader.decompress(rest, most + 1 - size))
        except zlib.error as error:
            raise OtlpError(f"it is not a valid gzip: {error}") from None
        size += len(parts[-1])
        if size <= most and not reader.eof:
            raise OtlpError("its gzip ends too early")
        rest = reader.unused_data if size <= most else b""
    if size > most:
        raise OtlpError(f"it is over the limit of {most:,} bytes", status=413)
    return b"".join(parts)


def _split_messages(content: bytes) -> Iterator[bytes]:
    """The messages in protobuf: one export request, or several with their lengths, as the file exporter writes them."""
    if content[:1] != b"\0":  # a length of four bytes begins with 0, and no message does
        yield content
        return
    position = 0
    while position < len(content):
        end = position + _LENGTH_BYTES + int.from_bytes(content[position : position + _LENGTH_BYTES], "big")
        if end > len(content):
            raise OtlpError("its last message is incomplete")
        yield content[position + _LENGTH_BYTES : end]
        position = end


def parse_json(data: bytes) -> list[OtlpSpan]:
    """The spans of one export request in JSON.

    Args:
        data: the request.

    Raises:
        OtlpError: it is no such request.
    """
    try:
        request = from_json(data)
    except (ValueError, RecursionError) as error:
        raise OtlpError(f"it is not OTLP JSON: {type(error).__name__}: {error!s:.200}") from None
    return read_json_request(request)


def read_json_request(request: Any) -> list[OtlpSpan]:
    """The spans of one export request.

    Args:
        request: the value of its JSON.

    Raises:
        OtlpError: it is no such request.
    """
    try:
        return [
            _read_json_span(span, resource)
            for each in request["resourceSpans"] or ()
            for resource in [_read_pairs((each.get("resource") or {}).get("attributes"))[0]]
            for scope in each.get("scopeSpans") or ()
            for span in scope.get("spans") or ()
        ]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise OtlpError(f"it is not OTLP JSON: {type(error).__name__}: {error!s:.200}") from None


def _read_json_span(span: Mapping[str, Any], resource: Mapping[str, Any]) -> OtlpSpan:
    status = span.get("status") or {}
    failed = status.get("code") in (_ERROR_CODE, "STATUS_CODE_ERROR")
    kind = span.get("kind", 1)
    attributes, dropped = _read_pairs(span.get("attributes"))
    events = []
    for event in span.get("events") or ():
        values, more = _read_pairs(event.get("attributes"))
        dropped += more
        events.append({"name": str(event.get("name", "")), "time_ns": _read_time(event), "attributes": values})
    converted = Span(
        check_id(span["spanId"], 16),
        str(span.get("name", "")),
        check_id(span["parentSpanId"], 16) if span.get("parentSpanId") else "",
        _read_time(span, "startTimeUnixNano"),
        _read_time(span, "endTimeUnixNano"),
        kind if isinstance(kind, int) else 1,
        attributes,
        tuple(events),
        (str(status.get("message") or "error")) if failed else None,
    )
    return OtlpSpan(check_id(span["traceId"], 32), converted, resource, dropped)


def _read_time(value: Mapping[str, Any], name: str = "timeUnixNano") -> int:
    time_ns = int(value.get(name) or 0)  # in JSON, numbers of 64 bits are texts
    if not 0 <= time_ns < _UINT64:
        raise ValueError(f"{name} has no 64 bits")
    return time_ns


def check_id(value: Any, digits: int) -> str:
    """The id in lower case.

    Args:
        value: the id.
        digits: the number of its hexadecimal digits.

    Raises:
        ValueError: it has another form, or is 0.
    """
    if not isinstance(value, str) or len(value) != digits or not int(value, 16):  # zeros are no valid id
        raise ValueError(f"{value!r:.60} is not an id of {digits} hexadecimal digits")
    return value.lower()


def _read_pairs(pairs: Iterable[Mapping[str, Any]] | None) -> tuple[dict[str, Any], int]:
    """The attributes, and the number of those that were too many."""
    given = list(pairs or ())
    kept = {str(pair["key"]): _read_json_value(pair.get("value") or {}) for pair in given[:MOST_ATTRIBUTES]}
    return kept, max(0, len(given) - MOST_ATTRIBUTES)


def _read_json_value(value: Mapping[str, Any]) -> Any:
    for key, content in value.items():
        if key == "intValue":
            number = int(content)
            if not -_INT64 <= number < _INT64:
                raise ValueError("intValue has no 64 bits")
            return number
        if key == "arrayValue":
            return [_read_json_value(each) for each in content.get("values") or ()]
        if key == "kvlistValue":
            return {str(pair["key"]): _read_json_value(pair.get("value") or {}) for pair in content.get("values") or ()}
        return content
    return None


def parse_protobuf(data: bytes) -> list[OtlpSpan]:
    """The spans of one export request in protobuf.

    Args:
        data: the request.

    Raises:
        OtlpError: it is no such request.
        MissingExtra: opentelemetry-proto is not installed.
    """
    if not has_protobuf():
        raise MissingExtra(
            "OTLP in protobuf needs the package opentelemetry-proto, which is not installed",
            advice="Run: pip install 'scoregate[otlp]'. Or let the program send JSON: "
            "OTEL_EXPORTER_OTLP_PROTOCOL=http/json.",
        )
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        request = ExportTraceServiceRequest.FromString(data)
    except DecodeError as error:
        raise OtlpError(f"it is not OTLP in protobuf: {error!s:.200}") from None
    try:
        return [
            _read_message(span, resource)
            for each in request.resource_spans
            for resource in [_read_attributes(each.resource.attributes)]
            for scope in each.scope_spans
            for span in scope.spans
        ]
    except ValueError as error:
        raise OtlpError(f"it is not OTLP in protobuf: {error!s:.200}") from None


def has_protobuf() -> bool:
    """Whether the package that reads protobuf is installed."""
    try:
        import opentelemetry.proto.collector.trace.v1.trace_service_pb2  # noqa: F401
    except ImportError:
        return False
    return True


def _read_message(span: trace_pb2.Span, resource: Mapping[str, Any]) -> OtlpSpan:
    failed = span.status.code == _ERROR_CODE
    events = (
        {"name": event.name, "time_ns": event.time_unix_nano, "attributes": _read_attributes(event.attributes)}
        for event in span.events
    )
    converted = Span(
        check_id(span.span_id.hex(), 16),
        span.name,
        check_id(span.parent_span_id.hex(), 16) if span.parent_span_id else "",
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        span.kind or 1,  # 0, for an unknown kind, counts as internal
        _read_attributes(span.attributes),
        tuple(events),
        (span.status.message or "error") if failed else None,
    )
    counts = (len(span.attributes), *(len(event.attributes) for event in span.events))
    return OtlpSpan(
        check_id(span.trace_id.hex(), 32), converted, resource, sum(max(0, count - MOST_ATTRIBUTES) for count in counts)
    )


def _read_attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    return {pair.key: _read_any(pair.value) for pair, _ in zip(pairs, range(MOST_ATTRIBUTES), strict=False)}


def _read_any(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_read_any(each) for each in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _read_any(pair.value) for pair in value.kvlist_value.values}
    if kind == "bytes_value":
        return value.bytes_value.hex()
    return None if kind is None else getattr(value, kind)
