"""The bodies of the responses API, whole and as a stream."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from tests.fakes.openai.chat import build_usage
from tests.fakes.openai.question import Question
from tests.fakes.openai.reply import Reply


def build_response(question: Question, replies: Sequence[Reply], cached: int) -> dict[str, Any]:
    counts = build_usage(question, replies, cached)
    return {
        **_head(question, "completed"),
        "output": [_item(index, reply) for index, reply in enumerate(replies)],
        "usage": {
            "input_tokens": counts["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": counts["prompt_tokens_details"]["cached_tokens"]},
            "output_tokens": counts["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counts["total_tokens"],
        },
    }


def _head(question: Question, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{question.number}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": question.body.get("instructions"),
        "metadata": {},
        "model": question.model,
        "parallel_tool_calls": True,
        "temperature": question.body.get("temperature", 1.0),
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }


def _item(at: int, reply: Reply) -> dict[str, Any]:
    if reply.tool is not None:
        call = {"type": "function_call", "id": f"fc_{at}", "call_id": f"call_{at}", "status": "completed"}
        return {**call, "name": reply.tool.name, "arguments": reply.tool.text}
    part = {"type": "output_text", "text": reply.text or "", "annotations": []}
    if reply.refusal is not None:
        part = {"type": "refusal", "refusal": reply.refusal}
    return {"type": "message", "id": f"msg_{at}", "role": "assistant", "status": "completed", "content": [part]}


def build_chunks(question: Question, replies: Sequence[Reply], cached: int) -> Iterator[dict[str, Any]]:
    """The events of a stream: begun, pieces of text, completed."""
    yield {"type": "response.created", "response": {**_head(question, "in_progress"), "output": []}}
    for index, reply in enumerate(replies):
        text, place = reply.text or "", {"item_id": f"msg_{index}", "output_index": index, "content_index": 0}
        for start in range(0, len(text), 8):
            yield {"type": "response.output_text.delta", **place, "delta": text[start : start + 8]}
    yield {"type": "response.completed", "response": build_response(question, replies, cached)}
