"""Send answers to suites: errors of the gateway, stored answers, and streams."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, TypeAlias

from pydantic_core import to_json

from scoregate.features.gateway.proxy.questions import Refusal

Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
JSON = "application/json"
# Clients don't ask again after an answer with this header.
_NO_RETRY = {"x-should-retry": "false"}


async def send_answer(
    send: Send, status: int, headers: Mapping[str, str], body: bytes, *, chunks: Iterable[int] = ()
) -> None:
    """Send an answer whose body is known.

    Args:
        send: sends a message, as in ASGI.
        status: the status.
        headers: the headers.
        body: the body.
        chunks: the sizes of its parts, if it was a stream; then the length is not announced.
    """
    sizes = tuple(chunks)
    await start_answer(send, status, headers if sizes else {**headers, "content-length": str(len(body))})
    position = 0
    for size in sizes:
        await send({"type": "http.response.body", "body": body[position : position + size], "more_body": True})
        await asyncio.sleep(0)  # else all events would arrive with one write
        position += size
    await send({"type": "http.response.body", "body": body[position:]})


async def start_answer(send: Send, status: int, headers: Mapping[str, str]) -> None:
    """Send the status and the headers of an answer."""
    encoded = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})


def encode_refusal(refusal: Refusal) -> bytes:
    """An error of the gateway as JSON, in the form that OpenAI's, Anthropic's and Gemini's clients read."""
    error = {"type": refusal.code, "code": refusal.code, "message": f"scoregate: {refusal.message}", "param": None}
    return to_json({"type": "error", "error": error})


async def send_refusal(send: Send, refusal: Refusal) -> None:
    """Send an error of the gateway."""
    headers = {"content-type": JSON, "x-scoregate-error": refusal.code, **_NO_RETRY}
    await send_answer(send, refusal.status, headers, encode_refusal(refusal))
