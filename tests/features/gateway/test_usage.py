"""The usage in answers and streams of each API, wherever a stream is cut."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.features.gateway.proxy import usage_reader
from scoregate.features.gateway.proxy.event_streams import EVENT_END, UsageChunkFilter
from scoregate.features.gateway.proxy.usage_reader import StreamUsageReader, read_usage
from scoregate.kernel.types.evaluation import Usage

CHAT = {"prompt_tokens": 12, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}}
RESPONSES = {"input_tokens": 12, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 4}}
ANTHROPIC = {"input_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3, "output_tokens": 7}
GEMINI = {"promptTokenCount": 12, "candidatesTokenCount": 4, "thoughtsTokenCount": 3, "cachedContentTokenCount": 4}
EXPECTED = Usage(12, 7, 4, model="m")


def event(data: Mapping[str, Any], *, name: str = "", end: str = "\n") -> bytes:
    head = f"event: {name}{end}" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}{end}{end}".encode()


STREAMS = {
    "chat": event({"choices": [{"delta": {"content": 'é "usage": 3'}}]})
    + event({"choices": [], "usage": CHAT})
    + b"data: [DONE]\n\n",
    "responses": event({"type": "response.created", "response": {"usage": None}}, name="response.created")
    + event({"type": "response.completed", "response": {"usage": RESPONSES}}, name="response.completed"),
    "anthropic": event({"message": {"usage": {**ANTHROPIC, "output_tokens": 1}}}, name="message_start")
    + event({"delta": {"text": "hi"}}, name="content_block_delta")
    + event({"usage": {"output_tokens": 7}}, name="message_delta")
    + event({"type": "message_stop"}, name="message_stop"),
    "gemini": event({"candidates": [], "usageMetadata": {"promptTokenCount": 12}}, end="\r\n")
    + event({"candidates": [{"finishReason": "STOP"}], "usageMetadata": GEMINI}, end="\r\n"),
}


def test_answers_have_usage() -> None:
    for data in (
        {"usage": CHAT}, {"usage": RESPONSES}, {"usage": ANTHROPIC}, {"usageMetadata": GEMINI},
        {"response": {"usage": RESPONSES}}, {"message": {"usage": ANTHROPIC}},
    ):  # fmt: skip
        assert read_usage(data, "m") == EXPECTED, data
    assert read_usage({"usage": {"prompt_tokens": 5, "total_tokens": 5}}, "m") == Usage(5, 0, model="m")  # embeddings


@pytest.mark.parametrize("data", [{}, {"usage": None}, {"usage": 3}, {"usage": []}, {"message": "x"}])
def test_answers_can_lack_usage(data: dict[str, Any]) -> None:
    assert read_usage(data, "m") is None


def test_invalid_numbers_count_as_zero() -> None:
    for input_tokens, output_tokens in (("7", -3), (True, 2.5), (None, [])):
        metadata = {"promptTokenCount": input_tokens, "candidatesTokenCount": output_tokens}
        assert read_usage({"usageMetadata": metadata}, "m") == Usage(model="m")


@pytest.mark.parametrize("api", STREAMS)
def test_a_stream_cut_anywhere_has_the_same_usage(api: str) -> None:
    stream = STREAMS[api]
    for cut in range(len(stream) + 1):
        reader = StreamUsageReader("m")
        reader.feed(stream[:cut])
        reader.feed(stream[cut:])
        assert reader.is_ended
        assert reader.usage(0) == EXPECTED, cut
        assert reader.is_reported
    reader = StreamUsageReader("m")
    for byte in stream.rstrip():  # without the last line's end
        reader.feed(bytes([byte]))
    assert reader.usage(0) == EXPECTED


@pytest.mark.parametrize("api", STREAMS)
def test_a_stream_ends_when_its_usage_is_complete(api: str) -> None:
    reader = StreamUsageReader("m")
    for index in range(len(STREAMS[api])):
        reader.feed(STREAMS[api][index : index + 1])
        if reader.is_ended:
            break
    assert reader.usage(0) == EXPECTED
    reader = StreamUsageReader("m")
    for text in ("data: [DONE]", "event: message_stop", '"finishReason"', "response.completed"):
        reader.feed(event({"choices": [{"delta": {"content": text}}], "usage": None}))
    assert not reader.is_ended


def test_a_stream_that_breaks_never_fails() -> None:
    for stream in STREAMS.values():
        for cut in range(len(stream)):
            reader = StreamUsageReader("m")
            reader.feed(stream[:cut])
            usage = reader.usage(400)
            assert usage == Usage(100, cut // 40, model="m") or reader.is_reported


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_any_bytes_are_a_stream(chunks: list[bytes]) -> None:
    reader, chunk_filter = StreamUsageReader("m"), UsageChunkFilter()
    forwarded = b""
    for chunk in chunks:
        reader.feed(chunk)
        forwarded += chunk_filter.feed(chunk)
    assert reader.usage(0).output_tokens >= 0
    assert forwarded + chunk_filter.close() == b"".join(chunks)


def test_a_line_longer_than_the_limit_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage_reader, "LONGEST_EVENT", 1_000)
    wrong = b'data: {"usage": {"prompt_tokens": 99}, "text": "' + b"a" * 3_000 + b'"}\n\n'
    for size in (1, 7, 500, 900):
        reader = StreamUsageReader("m")
        whole = wrong + STREAMS["chat"]
        for start in range(0, len(whole), size):
            reader.feed(whole[start : start + size])
            assert sum(map(len, reader._line)) <= 1_000
        assert reader.usage(0) == EXPECTED


def test_a_long_stream_without_lines_takes_linear_time() -> None:
    reader, chunk_filter, forwarded = StreamUsageReader("m"), UsageChunkFilter(), 0
    started = time.process_time()
    for _ in range(20_000):
        reader.feed(b"a" * 1_000)
        forwarded += len(chunk_filter.feed(b"a" * 1_000))
    assert time.process_time() - started < 2  # it took 12 seconds when each chunk copied the line so far
    assert reader.usage(0).output_tokens == 20_000_000 // 40
    assert forwarded + len(chunk_filter.close()) == 20_000_000


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_only_the_event_of_the_usage_is_removed(size: int) -> None:
    first = event({"choices": [{"delta": {"content": '"usage"'}}], "usage": None})
    ping, done = b": ping\n\n", b"data: [DONE]\n\n"
    stream = first + ping + event({"choices": [], "usage": CHAT}) + done + b"rest"
    chunk_filter = UsageChunkFilter()
    found = b"".join(chunk_filter.feed(stream[index : index + size]) for index in range(0, len(stream), size))
    assert found + chunk_filter.close() == first + ping + done + b"rest"


# CR and LF of two lines would be one end of a line.
LINE_ENDS = ([b"\n", b"\r\n"], [b"\r", b"\r\n"])
CONTENT = {"choices": [{"delta": {"content": 'the "usage": {'}}], "usage": None}
HIDDEN = [{"choices": choices, "usage": CHAT} for choices in ([], None)] + [{"usage": CHAT}]


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A valid stream with one event of the usage, and the same without it. Each line may end in another way."""
    ends = draw(st.sampled_from(LINE_ENDS))

    def line(text: bytes) -> bytes:
        return text + draw(st.sampled_from(ends))

    def block(data: object, *, is_last: bool = False) -> bytes:
        text = data if isinstance(data, bytes) else json.dumps(data, indent=draw(st.sampled_from([None, 1]))).encode()
        lines = [draw(st.sampled_from([b"data:", b"data: "])) + part for part in text.splitlines()]
        lines += draw(st.lists(st.sampled_from([b"event: message", b"id: 7", b"retry: 10", b"id"]), max_size=2))
        return b"".join(map(line, draw(st.permutations(lines)) if len(lines) < 3 else lines)) + (
            b"" if is_last else line(b"")
        )

    extras = st.lists(st.sampled_from([b": ping", b":", b""]), max_size=2)
    before = b"".join(map(line, draw(extras)))
    for data in draw(st.lists(st.sampled_from([CONTENT, {"choices": []}, b"no JSON"]), max_size=3)):
        before += block(data) + b"".join(map(line, draw(extras)))
    after = draw(st.sampled_from([b"", b"data: [DONE]\n\n", b"data: [DONE]\r\n\r\n", b": bye\n"]))
    hidden = block(draw(st.sampled_from(HIDDEN)), is_last=not after)
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return mark + before + hidden + after, mark + before + after


@given(streams(), st.lists(st.integers(0, 400), max_size=12))
def test_any_valid_stream_loses_its_usage_and_nothing_else(pair: tuple[bytes, bytes], cuts: list[int]) -> None:
    stream, expected = pair
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    chunk_filter, reader, found = UsageChunkFilter(), StreamUsageReader("m"), b""
    for start, end in itertools.pairwise(places):
        reader.feed(stream[start:end])
        found += chunk_filter.feed(stream[start:end])
    assert found + chunk_filter.close() == expected
    assert reader.usage(0) == EXPECTED


@given(streams())
def test_complete_events_are_passed_on_at_once(pair: tuple[bytes, bytes]) -> None:
    """After each byte, only an event that isn't complete waits, and never a comment that is."""
    stream, _ = pair
    chunk_filter, forwarded = UsageChunkFilter(), 0
    for index in range(len(stream)):
        forwarded += len(chunk_filter.feed(stream[index : index + 1]))
        waiting = bytes(chunk_filter._rest)
        assert EVENT_END.search(waiting) is None
        assert not (waiting.startswith(b":") and waiting.endswith((b"\n", b"\r")))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_the_usage_is_read_before_the_last_blank_line(end: bytes) -> None:
    reader = StreamUsageReader("m")
    reader.feed(b"event: x" + end + b"data: " + json.dumps({"choices": [], "usage": CHAT}).encode() + end)
    assert reader.usage(0) == EXPECTED


def test_an_event_with_choices_keeps_its_usage() -> None:
    stream = event({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": CHAT})
    assert UsageChunkFilter().feed(stream) == stream
