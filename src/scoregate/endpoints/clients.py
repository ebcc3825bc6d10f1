"""Clients of HTTP, one for each message under way: a pool of many connections looks at all of them at every request."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

import httpx

# Many servers, uvicorn among them, close what was idle for five seconds: just then it must not be used.
_LIMITS = httpx.Limits(max_connections=2, max_keepalive_connections=1, keepalive_expiry=3.0)
_IS_OURS: ContextVar[bool] = ContextVar("scoregate_endpoint_request", default=False)


def _is_theirs(_: logging.LogRecord) -> bool:
    return not _IS_OURS.get()


# httpx logs the address of every request in full, and among its parameters may be a key.
logging.getLogger("httpx").addFilter(_is_theirs)


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
        before = _IS_OURS.set(True)
        try:
            yield client
        finally:
            _IS_OURS.reset(before)
            self._idle.append(client)

    async def aclose(self) -> None:
        """Close all of them, also where one cannot be closed."""
        for client in self._all:
            with suppress(Exception):
                await client.aclose()

    def _made(self) -> httpx.AsyncClient:
        client = httpx.AsyncClient(verify=self._trust, limits=_LIMITS)
        self._all.append(client)
        return client
