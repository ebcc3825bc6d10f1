"""Clients of HTTP, one for each message under way: a pool of many connections looks at all of them at every request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

_LIMITS = httpx.Limits(max_connections=2, max_keepalive_connections=1)


class Clients:
    """Those of one event loop; what sends a message has one to itself, and leaves its connection to the next."""

    def __init__(self) -> None:
        self._trust = httpx.create_ssl_context()
        self._all: list[httpx.AsyncClient] = []
        self._idle: list[httpx.AsyncClient] = []

    @contextmanager
    def one(self) -> Iterator[httpx.AsyncClient]:
        """A client that nobody else uses meanwhile."""
        client = self._idle.pop() if self._idle else self._made()
        try:
            yield client
        finally:
            self._idle.append(client)

    async def aclose(self) -> None:
        """Close all of them."""
        for client in self._all:
            await client.aclose()

    def _made(self) -> httpx.AsyncClient:
        client = httpx.AsyncClient(verify=self._trust, limits=_LIMITS)
        self._all.append(client)
        return client
