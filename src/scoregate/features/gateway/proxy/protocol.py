"""HTTP on a connection to the gateway, with limits for clients that send too much, too slowly, or nothing."""

from __future__ import annotations

import asyncio
import contextlib
from functools import lru_cache
from http import HTTPStatus
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from scoregate.features.gateway.proxy.answers import JSON, encode_refusal
from scoregate.features.gateway.proxy.questions import Refusal

_LONGEST_HEAD = 256 * 1024
_HEAD_TIMEOUT_S = 60.0
# Files that the host needs besides connections.
_RESERVED_FILES = 256
_FEWEST_CONNECTIONS, _MOST_CONNECTIONS = 64, 10_000


class GatewayProtocol(HttpToolsProtocol):
    """A connection. The parts of an answer that are ready together are sent together."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Join the writes of a new connection, and wait for its first request; refuse it if there are too many."""
        joined = cast(asyncio.Transport, _JoinedWrites(transport, self.loop))
        self._head_bytes, self._is_in_head = 0, True
        self._timer = self.loop.call_later(_HEAD_TIMEOUT_S, self._close_if_silent)
        is_full = len(self.connections) >= find_connection_limit()
        super().connection_made(joined)
        if is_full:
            count = f"{find_connection_limit():,}"
            self._refuse(Refusal(503, "too_many_connections", f"{count} connections are open; close some of them"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > _LONGEST_HEAD:
                message = f"the headers are larger than {_LONGEST_HEAD:,} bytes"
                self._refuse(Refusal(431, "headers_too_large", message))

    def on_message_begin(self) -> None:
        """Start to count the bytes of the headers."""
        super().on_message_begin()
        self._head_bytes, self._is_in_head = 0, True

    def on_headers_complete(self) -> None:
        """Start to answer."""
        self._is_in_head = False
        self._timer.cancel()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Refuse what is no HTTP."""
        self._refuse(Refusal(400, "invalid_request", "the request is not valid HTTP"))

    def _close_if_silent(self) -> None:
        self._refuse(Refusal(408, "request_timeout", f"no complete request arrived in {_HEAD_TIMEOUT_S:g} s"))

    def _refuse(self, refusal: Refusal) -> None:
        if self.transport.is_closing():
            return
        body = encode_refusal(refusal)
        head = f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}\r\ncontent-type: {JSON}\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()


@lru_cache(maxsize=1)
def find_connection_limit() -> int:
    """How many connections may be open at once: what the limit of open files leaves."""
    files = _MOST_CONNECTIONS
    with contextlib.suppress(ImportError):  # Windows
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(_FEWEST_CONNECTIONS, min(files - _RESERVED_FILES, _MOST_CONNECTIONS))


class _JoinedWrites:
    """A transport that sends what is written in one step of the event loop with one system call.

    uvicorn writes headers and body apart, and each write wakes the client: 5,800 to 7,600 calls per second from the
    cache without this class, 9,100 to 11,800 with it.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write soon."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Close after the last write."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(parts))
