"""The bodies of chat completions, whole and as a stream."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fakes.openai.question import Question
from tests.fakes.openai.reply import Reply


def count_tokens(characters: int) -> int:
    """About four characters a token."""
    return characters // 4 + 1


def build_usage(question: Question, replies: Sequence[Reply], cached: int) -> dict[str, Any]:
    given = next((reply.input_tokens for reply in replies if reply.input_tokens is not None), None)
    asked = count_tokens(len(question.text)) if given is None else given
    answered = sum(count_tokens(r.length) if r.output_tokens is None else r.output_tokens for r in replies)
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
        "prompt_tokens_details": {"cached_tokens": min(cached, asked), "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def build_response(question: Question, replies: Sequence[Reply], cached: int) -> dict[str, Any]:
    return {
        **_head(question, "chat.completion"),
        "choices": [_choice(index, reply) for index, reply in enumerate(replies)],
        "usage": build_usage(question, replies, cached),
    }


def _head(question: Question, kind: str) -> dict[str, Any]:
    made = {"id": f"chatcmpl-{question.number}", "object": kind, "created": int(time.time()), "model": question.model}
    return {**made, "system_fingerprint": "fp_fake"}


def _choice(at: int, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.tool is not None:
        message["tool_calls"] = [_call(at, reply)]
    message |= reply.message or {}
    return {"index": at, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}


def _call(at: int, reply: Reply) -> dict[str, Any]:
    assert reply.tool is not None
    function = {"name": reply.tool.name, "arguments": reply.tool.text}
    return {"id": f"call_{at}", "type": "function", "function": function}


def build_chunks(question: Question, replies: Sequence[Reply], cached: int) -> Iterator[dict[str, Any]]:
    """The events of a stream; the last one has the usage where that was asked for."""
    head = _head(question, "chat.completion.chunk")
    for index, reply in enumerate(replies):
        for delta in _deltas(index, reply):
            yield {**head, "choices": [{"index": index, "delta": delta, "logprobs": None, "finish_reason": None}]}
        done = {"index": index, "delta": {}, "logprobs": None, "finish_reason": reply.finish_reason}
        yield {**head, "choices": [done]}
    if (question.body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": build_usage(question, replies, cached)}


def _deltas(at: int, reply: Reply) -> Iterator[Mapping[str, Any]]:
    yield {"role": "assistant", "content": "" if reply.tool is None else None}
    text = reply.text or ""
    for start in range(0, len(text), 8):
        yield {"content": text[start : start + 8]}
    if reply.tool is not None:
        yield {"tool_calls": [{"index": 0, **_call(at, reply)}]}
