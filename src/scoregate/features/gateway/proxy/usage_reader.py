"""The usage that a provider reports, in the body of an answer or in the events of a stream, which may have to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json, to_json

from scoregate.features.gateway.proxy.event_streams import BYTE_ORDER_MARK, LONGEST_EVENT
from scoregate.features.gateway.proxy.questions import Question
from scoregate.kernel.types.evaluation import Usage
from scoregate.models.budget import parse_usage
from scoregate.models.calls import parse_object

EVENT_STREAM = "text/event-stream"
# The last lines of streams of OpenAI's and Anthropic's APIs.
_END_LINES = (b"data: [DONE]", b"data:[DONE]", b"event: message_stop")
_DATA = b"data:"
_MOST_LINES = 200  # of the data of one event
_MARKS = (b'"usage"', b'"usageMetadata"')
# An estimate for streams that report no usage.
_BYTES_PER_TOKEN = 4


def read_body_usage(body: bytes, model: str) -> Usage | None:
    """Read the usage in the body of an answer, whatever its type; None if it reports no tokens.

    Without `alt=sse`, a stream of Gemini is a list of objects, of which the last one has the usage.
    """
    if body[:1].lstrip() not in (b"", b"{", b"["):
        return None
    try:
        data = from_json(body)
    except ValueError:
        return None
    parts = data[::-1] if isinstance(data, list) else [data]
    usages = (read_usage(part, model) for part in parts if isinstance(part, dict))
    return next((usage for usage in usages if usage and usage.input_tokens + usage.output_tokens), None)


def read_usage(data: Mapping[str, Any], model: str) -> Usage | None:
    """Read the usage in an object of OpenAI's, Anthropic's or Gemini's API; None if it has none."""
    for outer in ("response", "message"):  # events of responses and of messages
        if isinstance(inner := data.get(outer), Mapping) and isinstance(inner.get("usage"), Mapping):
            return read_usage(inner, model)
    if isinstance(metadata := data.get("usageMetadata"), Mapping):
        return Usage(
            # Gemini's prompt and candidates don't include the results of tools and the thoughts.
            input_tokens=_count(metadata, "promptTokenCount") + _count(metadata, "toolUsePromptTokenCount"),
            output_tokens=_count(metadata, "candidatesTokenCount") + _count(metadata, "thoughtsTokenCount"),
            cached_tokens=_count(metadata, "cachedContentTokenCount"),
            model=model,
        )
    usage = parse_usage(data, model)
    details = data.get("usage")
    if usage is None or not isinstance(details, Mapping) or "cache_read_input_tokens" not in details:
        return usage
    # Anthropic counts the tokens of its cache apart from the others.
    cached = _count(details, "cache_read_input_tokens")
    written = _count(details, "cache_creation_input_tokens")
    return Usage(usage.input_tokens + cached + written, usage.output_tokens, cached, model=model)


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 0


class StreamUsageReader:
    """Reads the usage in a stream of server-sent events, in chunks of any size.

    Later reports replace earlier ones. A report without input tokens keeps those of an earlier one.

    Args:
        model: the name of the model.

    Attributes:
        is_ended: whether the stream reports nothing more.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._line: list[bytes] = []
        self._line_bytes = self._bytes = 0
        self._skips_line = self._ends_with_cr = False
        self._data: list[bytes] = []  # of the lines of an event
        self._usage: Usage | None = None
        self.is_ended = False

    def feed(self, chunk: bytes) -> None:
        """Read a chunk."""
        if not chunk:
            return
        self._bytes += len(chunk)
        chunk = chunk.removeprefix(b"\n") if self._ends_with_cr else chunk  # the LF belongs to the CR before
        self._ends_with_cr = chunk.endswith(b"\r")
        first, *others = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._add(first)
        for part in others:
            self._end_line()
            self._add(part)

    def usage(self, input_bytes: int) -> Usage:
        """The usage at the end of the stream; an estimate from the number of bytes if the provider reports none."""
        self._end_line()
        if self._usage is not None:
            return self._usage
        return Usage(input_bytes // _BYTES_PER_TOKEN, self._bytes // (10 * _BYTES_PER_TOKEN), model=self._model)

    @property
    def is_reported(self) -> bool:
        """Whether the provider has reported the usage."""
        return self._usage is not None

    def _add(self, part: bytes) -> None:
        self._line_bytes += len(part)
        if self._line_bytes > LONGEST_EVENT:
            self._skips_line = True
            self._line.clear()
        if not self._skips_line:
            self._line.append(part)

    def _end_line(self) -> None:
        if not self._skips_line:
            self._read_line(b"".join(self._line))
        self._line.clear()
        self._line_bytes, self._skips_line = 0, False

    def _read_line(self, line: bytes) -> None:
        line = line.removeprefix(BYTE_ORDER_MARK)
        if not line:
            self._data.clear()
        if line.rstrip() in _END_LINES:
            self.is_ended = True
        if not line.startswith(_DATA):
            return
        self._data.append(line[len(_DATA) :])
        if len(self._data) > _MOST_LINES or (len(self._data) > 1 and sum(map(len, self._data)) > LONGEST_EVENT):
            self._data[1:] = []
            return
        text = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        if not any(mark in text for mark in _MARKS):
            return
        data = parse_object(text.strip())
        new = read_usage(data, self._model)
        if new is None:
            return
        old = self._usage
        if old is not None and new.input_tokens == 0:
            new = Usage(old.input_tokens, new.output_tokens, old.cached_tokens, model=self._model)
        self._usage = new
        # OpenAI's responses and Gemini end with an event that also has the usage.
        self.is_ended |= data.get("type") == "response.completed" or b'"finishReason"' in text


def can_ask_for_usage(question: Question) -> bool:
    """Whether the usage of a stream has to be requested, and the provider is known to support that."""
    options = (question.data or {}).get("stream_options")
    is_requested = isinstance(options, Mapping) and bool(options.get("include_usage"))
    return (
        question.provider.name in ("openai", "azure")
        and question.path.endswith("chat/completions")
        and not is_requested
    )


def add_usage_option(data: Mapping[str, Any]) -> bytes:
    """The request with an option that makes its stream end with the usage."""
    options = data.get("stream_options")
    return to_json(
        {**data, "stream_options": {**(options if isinstance(options, Mapping) else {}), "include_usage": True}}
    )
