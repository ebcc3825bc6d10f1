"""OTLP: files and requests in JSON and protobuf, and what is not OTLP."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from scoregate.errors import MissingExtra, OtlpError
from scoregate.kernel.types.trajectories.otlp import JSON, PROTOBUF, read_otlp
from scoregate.kernel.types.trajectories.span_buffer import SpanBuffer
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import ToolCall


def make_value(value: Any) -> dict[str, Any]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def make_request(*tools: str, trace: str = "a" * 32, **attributes: Any) -> dict[str, Any]:
    spans = [
        {
            "traceId": trace,
            "spanId": f"{number:016x}",
            "name": "execute_tool",
            "startTimeUnixNano": str(number * 10**9),
            "endTimeUnixNano": str(number * 10**9 + 5 * 10**8),
            "attributes": [
                {"key": key, "value": make_value(value)}
                for key, value in {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": tool,
                    "gen_ai.tool.call.arguments": '{"day": 1}',
                    **attributes,
                }.items()
            ],
            "status": {"code": 2, "message": "no"} if tool == "fail" else {},
        }
        for number, tool in enumerate(tools, 1)
    ]
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": spans}]}]}


def dump(*tools: str, **options: Any) -> bytes:
    return json.dumps(make_request(*tools, **options)).encode()


def dump_protobuf(*tools: str, **options: Any) -> bytes:
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="extra otlp")
    from google.protobuf.json_format import ParseDict

    request = make_request(*tools, **options)
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        # protobuf's own JSON has bytes in base64, OTLP's has digits.
        span.pop("traceId"), span.pop("spanId")
    message = ParseDict(request, service.ExportTraceServiceRequest())
    for number, span in enumerate(message.resource_spans[0].scope_spans[0].spans, 1):
        span.trace_id, span.span_id = b"\xaa" * 16, number.to_bytes(8, "big")
    return bytes(message.SerializeToString())


def test_files_of_every_form_are_read() -> None:
    first, second = dump("search"), dump("fail", trace="b" * 32)
    one = dump_protobuf("search", "fail")
    framed = b"".join(len(each).to_bytes(4, "big") + each for each in (dump_protobuf("search"), dump_protobuf("fail")))
    expected = [
        ToolCall("search", {"day": 1}, duration_s=0.5),
        ToolCall("fail", {"day": 1}, error="no", duration_s=0.5),
    ]
    for data in (
        dump("search", "fail"),
        json.dumps(make_request("search", "fail"), indent=2),
        first + b"\n" + second + b"\n",
        gzip.compress(first + b"\n") + gzip.compress(second),
        one,
        gzip.compress(one),
        framed,
    ):
        traces = Trajectory.from_otlp(data, changed_files=["a.txt"])
        assert [call for call in traces.tool_calls if call.name == "search"] == expected[:1]
        assert [call for call in traces.tool_calls if call.name == "fail"] == expected[1:]
        assert traces.changed_files == ["a.txt"]
    only = Trajectory.from_otlp(first + b"\n" + second, trace_id="b" * 32)
    assert [call.name for call in only.tool_calls] == ["fail"]


def test_a_message_that_starts_like_json_is_read_as_protobuf() -> None:
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="extra otlp")
    doubtful = []
    for length in range(100):
        request = service.ExportTraceServiceRequest()
        span = request.resource_spans.add().scope_spans.add().spans.add()
        span.trace_id, span.span_id, span.name = b"\xaa" * 16, b"\xbb" * 8, "x" * length
        if request.SerializeToString()[:2] in (b"\n{", b"\n["):
            doubtful.append(request.SerializeToString())
    assert [len(read_otlp(each)) for each in doubtful] == [1, 1]


def test_invalid_otlp_is_refused() -> None:
    deep = '{"arrayValue": {"values": [' * 90 + "]}}" * 90
    attribute = '{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": "a", "value": %s}]}]}]}]}'
    for data in (
        b"",
        b"[]",
        b"{}",
        b'{"resourceSpans": 5}',
        b'{"resourceSpans": [[]]}',
        dump("a").replace(b"a" * 32, b"z" * 32),
        dump("a").replace(b'"1000000000"', b'"' + b"9" * 30 + b'"'),
        dump("a").replace(b'"1000000000"', b'"-5"'),
        (attribute % deep).encode(),
        (attribute % '{"intValue": "99999999999999999999"}').encode(),
        gzip.compress(dump("a"))[:-20],
        gzip.compress(b"\0" * (70 << 20)),
        b"\xff\xfe",
        b"\0\0\0\x09a",
    ):
        # Without the package, data that may be protobuf names what to install.
        with pytest.raises((OtlpError, MissingExtra)):
            read_otlp(data)


def test_without_protobuf_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    data = dump_protobuf("search")
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.proto.collector.trace.v1.trace_service_pb2", None)
    with pytest.raises(MissingExtra, match=r"opentelemetry-proto.*\n.*scoregate\[otlp\]"):
        read_otlp(data)
    buffer = SpanBuffer()
    with pytest.raises(OtlpError) as exc_info:
        buffer.add_request(data, {"content-type": PROTOBUF})
    assert exc_info.value.status == 415
    assert "opentelemetry-proto" in buffer.describe_losses()
    buffer.add_request(dump("search"), {"content-type": f"{JSON}; charset=utf-8"})
    assert len(buffer.spans) == 1


def test_spans_over_a_limit_are_counted() -> None:
    buffer = SpanBuffer(most_spans=3, most_bytes=400_000)
    buffer.add_request(dump("a", "b", **{f"x{number}": 1 for number in range(300)}), {"content-type": JSON})
    assert [len(each.span.attributes) for each in buffer.spans] == [256, 256]
    buffer.add_request(gzip.compress(dump("c", "d", "e")), {"content-type": JSON, "content-encoding": "gzip"})
    assert buffer.losses == {"spans over the limit of 3": 2, "attributes of spans with too many of them": 94}
    for body, headers, status in (
        (b"{", {"content-type": JSON}, 400),
        (dump("a"), {"content-type": "text/html"}, 415),
        (dump("a"), {"content-type": JSON, "content-encoding": "br"}, 415),
        (gzip.compress(b" " * 500_000), {"content-type": JSON, "content-encoding": "gzip"}, 413),
    ):
        with pytest.raises(OtlpError) as exc_info:
            buffer.add_request(body, headers)
        assert exc_info.value.status == status
    assert sum(buffer.losses.values()) == 100


def test_the_reason_for_missing_calls_stays_in_the_record() -> None:
    plain = Trajectory((ToolCall("a"),), incomplete="2 requests refused").plain()
    assert Trajectory.read(json.loads(json.dumps(plain))) == Trajectory(
        (ToolCall("a"),), incomplete="2 requests refused"
    )


def test_a_failed_span_without_a_message_has_an_error() -> None:
    request = make_request("fail")
    (span,) = request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    span["status"] = {"code": 2}
    (call,) = Trajectory.from_otlp(json.dumps(request)).tool_calls
    assert call.error == "error"
