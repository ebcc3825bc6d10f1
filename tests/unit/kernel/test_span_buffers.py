"""Spans of a program: which case each belongs to, and what is kept within limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoregate.errors import OtlpError
from scoregate.kernel.types.trace import Span
from scoregate.kernel.types.trajectories.assignment import CaseName, SpanLink, name_cases, read_link
from scoregate.kernel.types.trajectories.otlp import JSON, OtlpSpan
from scoregate.kernel.types.trajectories.span_buffer import SpanBuffer


def make_link(span_id: str, parent: str = "", own: str = "", process: str = "") -> SpanLink:
    return SpanLink(
        span_id, parent, CaseName("s", own, 0) if own else None, CaseName("p", process, 0) if process else None
    )


@pytest.mark.parametrize(
    ("links", "cases"),
    [
        ([make_link("1", own="a"), make_link("2", "1"), make_link("3", "2", "b"), make_link("4", "3")], "aabb"),
        ([make_link("4", "3"), make_link("3", "2", "b"), make_link("2", "1"), make_link("1", own="a")], "bbaa"),
        ([make_link("1", own="a"), make_link("2")], "aa"),
        ([make_link("1", own="a"), make_link("2", own="b"), make_link("3")], "ab-"),
        ([make_link("1", own="a"), make_link("2", "1", process="b"), make_link("3", process="b")], "aab"),
        ([make_link("1", "2"), make_link("2", "1"), make_link("3", own="a")], "aaa"),
        ([make_link("1", "2"), make_link("2", "1")], "--"),
        ([make_link("1", "unknown", process="b")], "b"),
    ],
)
def test_a_span_belongs_to_the_nearest_case(links: list[SpanLink], cases: str) -> None:
    assert "".join("-" if name is None else name.case for name in name_cases(links)) == cases


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ({"scoregate.case": "a"}, CaseName("", "a", 0)),
        ({"scoregate.case": "a", "scoregate.suite": "s", "scoregate.repeat": 2}, CaseName("s", "a", 2)),
        ({"scoregate.case": "a", "scoregate.repeat": "12"}, CaseName("", "a", 12)),
        ({"scoregate.case": "a", "scoregate.repeat": "9" * 9}, CaseName("", "a", 999_999_999)),
        ({"scoregate.case": "a", "scoregate.repeat": "9" * 10}, None),
        ({"scoregate.case": "a", "scoregate.repeat": "x"}, None),
        ({"scoregate.case": "a", "scoregate.repeat": -1}, None),
        ({"scoregate.case": ""}, None),
        ({"scoregate.case": 5}, None),
        ({"scoregate.case": "a", "scoregate.suite": 5}, None),
        ({}, None),
    ],
)
def test_a_span_or_its_process_names_a_case(attributes: dict[str, Any], name: CaseName | None) -> None:
    span = OtlpSpan("t", Span("1", "x", "2", attributes=attributes), {"scoregate.case": "process"})
    assert read_link(span) == SpanLink("1", "2", name, CaseName("", "process", 0))
    assert read_link(OtlpSpan("t", Span("1", "x"), attributes)) == SpanLink("1", "", None, name)


def make_body(count: int) -> bytes:
    spans = [{"traceId": "a" * 32, "spanId": f"{number:016x}"} for number in range(1, count + 1)]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def test_losses_of_a_buffer_are_described() -> None:
    buffer = SpanBuffer(most_spans=1_000)
    assert buffer.describe_losses() == ""
    for kind, count, text in (
        ("spans that name no case", 1, "1 span that names no case"),
        ("spans over the limit", 1, "1 span over the limit"),
        ("other requests", 1, "1 other request"),
        ("requests refused: x", 1, "1 request refused: x"),
        ("attributes of spans", 1, "1 attribute of spans"),
        ("trajectories left out", 1, "1 trajectory left out"),
        ("spans over the limit", 2_000, "2,000 spans over the limit"),
        ("others", 1, "1 others"),
    ):
        buffer.losses.clear()
        buffer.losses[kind] = count
        assert buffer.describe_losses() == text
    buffer.losses["spans"] = 2
    assert buffer.describe_losses() == "1 others; 2 spans"


def test_refused_requests_are_counted_by_reason_up_to_a_number() -> None:
    buffer = SpanBuffer()
    for number in range(22):
        buffer.refuse(OtlpError(f"reason {number}"))
    buffer.refuse(OtlpError("reason 0"))
    assert len(buffer.losses) == 21
    assert (buffer.losses["other requests"], buffer.losses["requests refused: reason 0"]) == (2, 2)
    buffer = SpanBuffer()
    buffer.refuse(OtlpError("x" * 300))
    assert list(buffer.losses) == [f"requests refused: {'x' * 200}"]


def test_a_buffer_keeps_spans_up_to_its_limits() -> None:
    kept: list[OtlpSpan] = []
    buffer, body = SpanBuffer(most_spans=3, keep=kept.extend), make_body(2)
    for encoding, kind in (("", JSON), (" Identity ", f" {JSON.upper()} ; charset=utf-8")):
        buffer.add_request(body, {"content-type": kind, "content-encoding": encoding})
    assert (len(kept), buffer.spans, buffer.losses) == (3, [], {"spans over the limit of 3": 1})
    small = SpanBuffer(most_bytes=2 * len(body))
    for _ in range(2):
        small.add_request(body, {"content-type": JSON})
    with pytest.raises(OtlpError, match="over the limit of 0 bytes"):
        small.add_request(b"{", {"content-type": JSON})
    for headers, problem in (
        ({}, "its type must be"),
        ({"content-type": JSON, "content-encoding": "br"}, "its encoding 'br'"),
    ):
        with pytest.raises(OtlpError, match=problem) as exc_info:
            SpanBuffer().add_request(body, headers)
        assert exc_info.value.status == 415
