"""The fields of spans in OTLP, in JSON and in protobuf, and the limits of files."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

import pytest

from scoregate.errors import OtlpError
from scoregate.kernel.types.trace import Span
from scoregate.kernel.types.trajectories.otlp import (
    MOST_BYTES,
    OtlpSpan,
    check_id,
    drop_repeated,
    has_protobuf,
    parse_json,
    parse_protobuf,
    read_json_request,
    read_otlp,
    unpack,
)

TRACE, ID, PARENT = "AB" * 16, "CD" * 8, "EF" * 8
LARGEST = (1 << 64) - 1


def read_span(**fields: Any) -> OtlpSpan:
    span = {"traceId": TRACE, "spanId": ID, **fields}
    (read,) = read_json_request({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    return read


def read_value(value: Any) -> Any:
    return read_span(attributes=[{"key": "a", "value": value}]).span.attributes["a"]


def make_message(**fields: Any) -> Any:
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="extra otlp")
    request = service.ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id = b"\xab" * 16, b"\xcd" * 8
    for name, value in fields.items():
        setattr(span, name, value)
    return request


def test_a_span_in_json_has_all_its_fields() -> None:
    request = {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]},
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": TRACE,
                                "spanId": ID,
                                "parentSpanId": PARENT,
                                "name": "n",
                                "kind": 3,
                                "startTimeUnixNano": "5",
                                "endTimeUnixNano": LARGEST,
                                "attributes": [{"key": "a", "value": {"boolValue": True}}],
                                "events": [
                                    {
                                        "name": "e",
                                        "timeUnixNano": 7,
                                        "attributes": [{"key": "b", "value": {"doubleValue": 0.5}}],
                                    },
                                    {},
                                ],
                                "status": {"code": 2, "message": "off"},
                            }
                        ]
                    }
                ],
            }
        ]
    }
    events = ({"name": "e", "time_ns": 7, "attributes": {"b": 0.5}}, {"name": "", "time_ns": 0, "attributes": {}})
    span = Span("cd" * 8, "n", "ef" * 8, 5, LARGEST, 3, {"a": True}, events, "off")
    expected = [OtlpSpan("ab" * 16, span, {"service.name": "s"}, 0)]
    assert read_json_request(request) == parse_json(json.dumps(request).encode()) == expected


def test_fields_of_a_span_in_json_may_be_missing() -> None:
    assert read_span() == OtlpSpan("ab" * 16, Span("cd" * 8, "", "", 0, 0, 1, {}, (), None))
    empty = {"parentSpanId": "", "attributes": None, "events": None, "status": None, "startTimeUnixNano": ""}
    assert read_span(**empty) == read_span()
    assert read_span(kind="SPAN_KIND_SERVER").span.kind == 1
    for request in (
        {"resourceSpans": None},
        {"resourceSpans": [{"scopeSpans": None}]},
        {"resourceSpans": [{"resource": None, "scopeSpans": [{"spans": None}]}]},
    ):
        assert read_json_request(request) == []


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ({"code": 2}, "error"),
        ({"code": "STATUS_CODE_ERROR", "message": ""}, "error"),
        ({"code": 2, "message": "off"}, "off"),
        ({"code": 1, "message": "off"}, None),
        ({"code": 3, "message": "off"}, None),
        ({"message": "off"}, None),
    ],
)
def test_only_a_failed_status_is_an_error(status: dict[str, Any], error: str | None) -> None:
    assert read_span(status=status).span.error == error


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stringValue": "x"}, "x"),
        ({"intValue": "5"}, 5),
        ({"intValue": str(-(1 << 63))}, -(1 << 63)),
        ({"intValue": str((1 << 63) - 1)}, (1 << 63) - 1),
        ({"arrayValue": {"values": [{"intValue": 1}, {"stringValue": "x"}]}}, [1, "x"]),
        ({"arrayValue": {}}, []),
        ({"arrayValue": {"values": None}}, []),
        ({"kvlistValue": {"values": [{"key": 1, "value": {"intValue": 2}}, {"key": "b"}]}}, {"1": 2, "b": None}),
        ({"kvlistValue": {}}, {}),
        ({}, None),
        (None, None),
    ],
)
def test_values_of_attributes_in_json(value: Any, expected: Any) -> None:
    assert read_value(value) == expected


@pytest.mark.parametrize("value", [{"intValue": str(1 << 63)}, {"intValue": str(-(1 << 63) - 1)}, {"intValue": "x"}, 5])
def test_attributes_that_are_not_valid_are_refused(value: Any) -> None:
    with pytest.raises(OtlpError, match="it is not OTLP JSON: "):
        read_value(value)


@pytest.mark.parametrize(
    "fields",
    [
        {"startTimeUnixNano": LARGEST + 1},
        {"endTimeUnixNano": -1},
        {"traceId": "0" * 32},
        {"traceId": TRACE[:-2]},
        {"traceId": None},
        {"spanId": "z" * 16},
        {"spanId": ID + "00"},
        {"parentSpanId": "1"},
        {"events": [{"timeUnixNano": -1}]},
    ],
)
def test_ids_and_times_that_are_not_valid_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(OtlpError, match=r"it is not OTLP JSON: (Value|Type)Error: "):
        read_span(**fields)


def test_messages_about_requests_that_are_not_valid_are_short() -> None:
    for data in (b"x" * 1_000, json.dumps({"resourceSpans": [{"scopeSpans": "x" * 1_000}]}).encode(), b"5", b"{}"):
        with pytest.raises(OtlpError) as exc_info:
            parse_json(data)
        assert str(exc_info.value).startswith("it is not OTLP JSON: ")
        assert len(str(exc_info.value)) < 260


def test_an_id_has_a_number_of_hexadecimal_digits() -> None:
    assert check_id("0A", 2) == "0a"
    for value in ("0", "00", "0A0", "xy", 10, None, b"0a"):
        with pytest.raises(ValueError, match=r"hexadecimal|invalid literal"):
            check_id(value, 2)


def test_a_span_has_at_most_256_attributes() -> None:
    pairs = [{"key": str(number), "value": {"intValue": number}} for number in range(258)]
    for count, dropped in ((255, 0), (256, 0), (257, 1)):
        read = read_span(attributes=pairs[:count])
        assert (len(read.span.attributes), read.dropped) == (count - dropped, dropped)
    both = read_span(attributes=pairs, events=[{"attributes": pairs}, {"attributes": pairs[:257]}])
    assert (both.dropped, [len(event["attributes"]) for event in both.span.events]) == (5, [256, 256])
    request = make_message()
    span = request.resource_spans[0].scope_spans[0].spans[0]
    for event_count in (None, 258, 257, 3):
        owner = span if event_count is None else span.events.add()
        for number in range(258 if event_count is None else event_count):
            owner.attributes.add(key=str(number)).value.int_value = number
    (read,) = parse_protobuf(request.SerializeToString())
    assert (read.dropped, len(read.span.attributes)) == (5, 256)
    assert [len(event["attributes"]) for event in read.span.events] == [256, 256, 3]


def test_a_span_in_protobuf_has_all_its_fields() -> None:
    request = make_message(
        parent_span_id=b"\xef" * 8, name="n", kind=3, start_time_unix_nano=5, end_time_unix_nano=LARGEST
    )
    request.resource_spans[0].resource.attributes.add(key="service.name").value.string_value = "s"
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.status.code, span.status.message = 2, "off"
    values = span.attributes.add(key="a").value.array_value.values
    values.add().bool_value = True
    values.add().bytes_value = b"\x01\xff"
    values.add()
    values.add().kvlist_value.values.add(key="k").value.double_value = 0.5
    event = span.events.add(name="e", time_unix_nano=7)
    event.attributes.add(key="b").value.int_value = -1
    expected = Span(
        "cd" * 8, "n", "ef" * 8, 5, LARGEST, 3, {"a": [True, "01ff", None, {"k": 0.5}]},
        ({"name": "e", "time_ns": 7, "attributes": {"b": -1}},), "off",
    )  # fmt: skip
    data = request.SerializeToString()
    assert parse_protobuf(data) == read_otlp(data) == [OtlpSpan("ab" * 16, expected, {"service.name": "s"}, 0)]


def test_fields_of_a_span_in_protobuf_may_be_missing() -> None:
    (read,) = parse_protobuf(make_message().SerializeToString())
    assert read == OtlpSpan("ab" * 16, Span("cd" * 8, "", "", 0, 0, 1, {}, (), None))
    request = make_message()
    status = request.resource_spans[0].scope_spans[0].spans[0].status
    for code, error in ((2, "error"), (1, None), (0, None)):
        status.code = code
        (read,) = parse_protobuf(request.SerializeToString())
        assert read.span.error == error
    with pytest.raises(OtlpError, match=r"it is not OTLP in protobuf: .*hexadecimal digits"):
        parse_protobuf(make_message(span_id=b"\xcd").SerializeToString())
    with pytest.raises(OtlpError, match="it is not OTLP in protobuf: "):
        parse_protobuf(b"\xff\xff\xff")
    assert has_protobuf()


def test_messages_with_their_lengths_must_be_complete() -> None:
    message = make_message(name="n").SerializeToString()
    framed = len(message).to_bytes(4, "big") + message
    assert len(read_otlp(framed)) == 1
    assert len(read_otlp(framed * 3)) == 3
    for cut in (1, len(message), len(message) + 3):
        with pytest.raises(OtlpError, match="its last message is incomplete"):
            read_otlp(framed + framed[:-cut])


def test_an_unreadable_file_has_the_problem_of_its_first_form() -> None:
    with pytest.raises(OtlpError, match="it is not OTLP JSON: KeyError"):
        read_otlp('{"a": 1}')
    with pytest.raises(OtlpError, match="it is not OTLP JSON: ValueError: trailing characters"):
        read_otlp('{"resourceSpans": []}\n{"a": 1}')
    assert read_otlp('{"resourceSpans": []}\n\n{"resourceSpans": []}\n') == []
    # A text is never protobuf.
    with pytest.raises(OtlpError, match="it is not OTLP JSON"):
        read_otlp("\n\x03abc")


def test_gzip_is_unpacked_within_a_limit() -> None:
    assert unpack(b"abc", 3) == b"abc"
    assert unpack(gzip.compress(b"abc"), 3) == b"abc"
    assert unpack(gzip.compress(b"ab") + gzip.compress(b"c"), 3) == b"abc"
    assert unpack(b"", 0) == b""
    for data in (
        b"abcd",
        gzip.compress(b"abcd"),
        gzip.compress(b"abc") + gzip.compress(b"d"),
        gzip.compress(b"x" * 999),
    ):
        with pytest.raises(OtlpError, match="it is over the limit of 3 bytes") as exc_info:
            unpack(data, 3)
        assert exc_info.value.status == 413
    with pytest.raises(OtlpError, match="its gzip ends too early"):
        unpack(gzip.compress(b"abc")[:-1], 3)
    for data in (gzip.compress(b"abc") + b"rest", b"\x1f\x8b\x00\x00"):
        with pytest.raises(OtlpError, match="it is not a valid gzip: "):
            unpack(data, 3)
    assert MOST_BYTES == 64 << 20
    with pytest.raises(OtlpError, match="over the limit of 67,108,864 bytes"):
        unpack(b"x" * (MOST_BYTES + 1))


def test_a_span_that_was_sent_twice_counts_once() -> None:
    first = read_span(name="a")
    other_trace = replace(first, trace_id="1" * 32)
    changed = replace(first, span=replace(first.span, name="b"))
    spans = [first, other_trace, first, changed, changed, other_trace]
    assert drop_repeated(spans) == [first.span, first.span, changed.span]
