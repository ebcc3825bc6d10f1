"""Bodies of calls: read within bounds, and their JSON as lenient as sense allows."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
from pydantic_core import from_json

from scoregate.ci.listen.refused import Refused
from scoregate.core.wire import MAX_EVENT_BYTES

MAX_BODY_BYTES = 64 * 1024 * 1024
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
# A pair of surrogates, half of one, or any other escape of JSON.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


class Hung(Exception):
    """The client left in the middle of its call."""


async def read_body(receive: Receive, turn: anyio.Lock) -> bytes:
    """The body of a request; bodies over 8 MB are read one at a time, each within its `turn`.

    Raises:
        Refused: it is over the limit. Hung: the client left.
    """
    message = await receive()
    first: bytes = message.get("body", b"")
    if message["type"] == "http.request" and not message.get("more_body"):
        return first
    async with AsyncExitStack() as held:
        body = bytearray(first)
        waited = False
        while message.get("more_body") and len(body) <= MAX_BODY_BYTES:
            if len(body) > MAX_EVENT_BYTES and not waited:
                await held.enter_async_context(turn)
                waited = True
            message = await receive()
            body += message.get("body", b"")
    if message["type"] != "http.request":
        raise Hung
    if len(body) > MAX_BODY_BYTES:
        raise Refused(f"its body is over the limit of {MAX_BODY_BYTES:,} bytes", status=413)
    return bytes(body)


def parse(body: bytes) -> Any:
    """What a body says. NaN and infinities are numbers; half a surrogate pair is spelled out, as in `\\ud800`.

    Raises:
        ValueError: it is no JSON, too deep, or has a number of too many digits.
    """
    try:
        return from_json(body)
    except ValueError:
        mended = _ESCAPE.sub(_spelled, body.decode("utf-8", "replace")).encode()
        if mended == body:
            raise
    return from_json(mended)


def _spelled(escape: re.Match[str]) -> str:
    return f"\\\\{escape[1]}" if escape[1] else escape[0]
