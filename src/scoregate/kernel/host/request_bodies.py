"""Bodies of requests to servers of the host, read within limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import anyio

from scoregate.kernel.types.json_io import MAX_EVENT_BYTES

MAX_BODY_BYTES = 64 * 1024 * 1024
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Refused(Exception):
    """A call that is not valid.

    Args:
        reason: the client reads it, and the report shows it.
        status: the HTTP status of the response, from 400 to 499.
    """

    def __init__(self, reason: str, *, status: int = 400) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class ClientDisconnected(Exception):
    """The client closed its connection in the middle of its call."""


async def read_body(receive: Receive, turn: anyio.Lock) -> bytes:
    """The body of a request.

    Args:
        receive: the ASGI function.
        turn: a lock that is held while a body of over 8 MB is read, so that only one of them is in memory at a time.

    Raises:
        Refused: it is over the limit.
        ClientDisconnected: the client left.
    """
    message = await receive()
    first: bytes = message.get("body", b"")
    if message["type"] == "http.request" and not message.get("more_body"):
        return first
    async with AsyncExitStack() as stack:
        body = bytearray(first)
        waited = False
        while message.get("more_body") and len(body) <= MAX_BODY_BYTES:
            if len(body) > MAX_EVENT_BYTES and not waited:
                await stack.enter_async_context(turn)  # each may take 64 MB, so one is read at a time
                waited = True
            message = await receive()
            body += message.get("body", b"")
    if message["type"] != "http.request":
        raise ClientDisconnected
    if len(body) > MAX_BODY_BYTES:
        raise Refused(f"its body is over the limit of {MAX_BODY_BYTES:,} bytes", status=413)
    return bytes(body)
