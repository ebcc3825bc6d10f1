"""The HTTP client for MCP servers with an address: it reads a limited number of bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import Any

from scoregate.errors import McpServerError
from scoregate.mcp_servers.definition import ServerDefinition
from scoregate.mcp_servers.process import LONGEST_MESSAGE, MOST_BYTES

_PLAIN = "identity"


def make_http_client(http: ModuleType, server: ServerDefinition, fail: Callable[[McpServerError], None]) -> Any:
    """A client of the package httpx, or httpx2, that the package mcp uses.

    Args:
        http: the package.
        server: the server.
        fail: is called with the error if the server answers with too much.
    """

    def report(what: str) -> Exception:
        fail(McpServerError(f"the MCP server {server.name} {what}"))
        error: Exception = http.ReadError(what)
        return error

    limit = _Limit(report)

    class BoundedStream(http.AsyncByteStream):  # type: ignore[misc,name-defined]
        def __init__(self, stream: Any, *, has_lines: bool) -> None:
            self._stream, self._has_lines = stream, has_lines

        def __aiter__(self) -> AsyncIterator[bytes]:
            return limit.read(self._stream, has_lines=self._has_lines)

        async def aclose(self) -> None:
            await self._stream.aclose()

    class BoundedTransport(http.AsyncHTTPTransport):  # type: ignore[misc,name-defined]
        async def handle_async_request(self, request: Any) -> Any:
            response = await super().handle_async_request(request)
            if response.headers.get("content-encoding", _PLAIN) != _PLAIN:
                raise report("sent a compressed answer, which was not requested and has no limit")
            is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            response.stream = BoundedStream(response.stream, has_lines=is_stream)
            return response

    # A compressed answer could be a thousand times larger than its bytes.
    headers = {**server.headers, "accept-encoding": _PLAIN}
    return http.AsyncClient(headers=headers, timeout=http.Timeout(server.timeout), transport=BoundedTransport())


class _Limit:
    """The bytes that all answers of a session may have together, and each message."""

    def __init__(self, report: Callable[[str], Exception]) -> None:
        self._report = report
        self._total = 0

    async def read(self, stream: Any, *, has_lines: bool) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in stream:
            self._total += len(chunk)
            # In a stream of events, a message is a line.
            start = chunk.rfind(b"\n") if has_lines else -1
            size = size + len(chunk) if start < 0 else len(chunk) - start
            if self._total > MOST_BYTES:
                raise self._report(f"sent more than {MOST_BYTES >> 20} MB")
            if size > LONGEST_MESSAGE:
                raise self._report(f"sent a message of more than {LONGEST_MESSAGE >> 20} MB")
            yield chunk
