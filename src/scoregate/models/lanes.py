"""Connections handed out one by one: a request takes the one that was used last, without a look at all the others."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from functools import cache
from typing import Any
from urllib.request import getproxies


def with_lanes(openai: Any, cls: Any = None) -> Any:
    """An async HTTP client for the openai package, of its usual class or of `cls`.

    The pool that it would make looks at every connection whenever it wants one, which with fifty calls at a time costs
    as much as all the rest of a request. Behind a proxy it stays with that pool, which knows the way.
    """
    make = cls or openai.DefaultAsyncHttpxClient
    return make() if getproxies() else make(transport=Lanes(_library(openai)))


def _library(openai: Any) -> Any:
    """The HTTP library that the package uses: httpx, or what came after it."""
    return sys.modules[type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0]]


class Lanes:
    """An async transport of that library; closed, it opens new connections."""

    def __init__(self, http: Any) -> None:
        self._http = http
        self._trust = _trust(http)
        self._one = http.Limits(max_connections=1, max_keepalive_connections=1)
        self._free: list[Any] = []
        self._busy: set[Any] = set()

    async def __aenter__(self) -> Lanes:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request on a connection of its own."""
        lane = self._free.pop() if self._free else self._http.AsyncHTTPTransport(verify=self._trust, limits=self._one)
        self._busy.add(lane)
        try:
            response = await lane.handle_async_request(request)
        except BaseException:
            self.leave(lane)
            raise
        response.stream = _stream_class(self._http.AsyncByteStream)(response.stream, self, lane)
        return response

    def leave(self, lane: Any) -> None:
        """The next request may have it."""
        if lane in self._busy:
            self._busy.discard(lane)
            self._free.append(lane)

    async def aclose(self) -> None:
        """Close every connection."""
        lanes = (*self._free, *self._busy)
        self._free.clear()
        self._busy.clear()
        for lane in lanes:
            await lane.aclose()


class _Stream:
    """A response's body; closed, it leaves its lane."""

    def __init__(self, body: Any, lanes: Lanes, lane: Any) -> None:
        self._body, self._lanes, self._lane = body, lanes, lane

    def __aiter__(self) -> AsyncIterator[bytes]:
        chunks: AsyncIterator[bytes] = self._body.__aiter__()
        return chunks

    async def aclose(self) -> None:
        try:
            await self._body.aclose()
        finally:
            self._lanes.leave(self._lane)


@cache
def _trust(http: Any) -> Any:
    """What connections trust, read once: that takes longer than a hundred requests."""
    return http.create_ssl_context()


@cache
def _stream_class(base: type) -> type:
    """The library takes bodies of its own class alone."""
    return type("Stream", (_Stream, base), {})
