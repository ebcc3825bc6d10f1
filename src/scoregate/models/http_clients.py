"""Clients of the openai package, one for each address. Async clients are closed when their event loop ends."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.request import getproxies
from weakref import WeakKeyDictionary

from scoregate.errors import MissingExtra, MissingKey
from scoregate.kernel.types.cleanup import CLEANUPS
from scoregate.models.providers import ModelTarget

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI


def create_http_client(openai: Any, cls: Any = None) -> Any:
    """Create an async HTTP client with a faster connection pool.

    The default pool checks every connection for every request. With fifty concurrent calls, this takes as long as the
    rest of a request. With a proxy, the default pool is used, because only that one supports proxies.

    Args:
        openai: the openai package.
        cls: the class of the client; None for the default class of the package.
    """
    client_class = cls or openai.DefaultAsyncHttpxClient
    if getproxies():
        return client_class()
    # The HTTP library that the package uses: httpx or a successor.
    http = sys.modules[type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0]]
    return client_class(transport=ConnectionPool(http))


class ConnectionPool:
    """An async transport with a last-in, first-out pool of connections. After `aclose` it opens new connections.

    Args:
        http: the HTTP library.
    """

    def __init__(self, http: Any) -> None:
        self._http = http
        self._ssl_context = _ssl_context(http)
        self._limits = http.Limits(max_connections=1, max_keepalive_connections=1)
        self._stream_class = type("Stream", (_Stream, http.AsyncByteStream), {})  # the library requires its own class
        self._free: list[Any] = []
        self._busy: set[Any] = set()

    async def __aenter__(self) -> ConnectionPool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request on a connection that no other request uses."""
        if self._free:
            connection = self._free.pop()
        else:
            connection = self._http.AsyncHTTPTransport(verify=self._ssl_context, limits=self._limits)
        self._busy.add(connection)
        try:
            response = await connection.handle_async_request(request)
        except BaseException:
            self.release(connection)
            raise
        response.stream = self._stream_class(response.stream, self, connection)
        return response

    def release(self, connection: Any) -> None:
        """Return a connection to the pool."""
        if connection in self._busy:
            self._busy.discard(connection)
            self._free.append(connection)

    async def aclose(self) -> None:
        """Close every connection."""
        connections = (*self._free, *self._busy)
        self._free.clear()
        self._busy.clear()  # a request that ends later must not put a closed connection back
        for connection in connections:
            await connection.aclose()


class _Stream:
    """The body of a response; `aclose` returns the connection to the pool."""

    def __init__(self, body: Any, pool: ConnectionPool, connection: Any) -> None:
        self._body, self._pool, self._connection = body, pool, connection

    def __aiter__(self) -> AsyncIterator[bytes]:
        chunks: AsyncIterator[bytes] = self._body.__aiter__()
        return chunks

    async def aclose(self) -> None:
        try:
            await self._body.aclose()
        finally:
            self._pool.release(self._connection)


@cache
def _ssl_context(http: Any) -> Any:
    """The trusted certificates, read once: this takes longer than a hundred requests."""
    return http.create_ssl_context()


_ClientKey: TypeAlias = tuple[object, ...]
_lock = threading.Lock()
_clients: dict[_ClientKey, OpenAI] = {}
_async_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_ClientKey, AsyncOpenAI]] = WeakKeyDictionary()


def get_client(target: ModelTarget) -> OpenAI:
    """The client for sync calls, shared by all threads.

    Raises:
        MissingKey: there is no key.
        MissingExtra: the openai package is not installed.
    """
    key = target.client_key
    with _lock:
        if key not in _clients:
            _clients[key] = import_openai().OpenAI(**_client_options(target))
        return _clients[key]


def get_async_client(target: ModelTarget) -> AsyncOpenAI:
    """The client for calls in the running event loop.

    Raises:
        MissingKey: there is no key.
        MissingExtra: the openai package is not installed.
    """
    key, loop = target.client_key, asyncio.get_running_loop()
    with _lock:
        clients = _async_clients.setdefault(loop, {})
    if key not in clients:  # without the lock: only this loop uses its clients
        openai = import_openai()
        client: AsyncOpenAI = openai.AsyncOpenAI(**_client_options(target), http_client=create_http_client(openai))
        clients[key] = client
        if (endings := CLEANUPS.get()) is not None:

            async def forget_clients() -> None:
                _async_clients.pop(loop, None)

            endings.append(client.close)
            endings.append(forget_clients)
    return clients[key]


def _client_options(target: ModelTarget) -> dict[str, Any]:
    if target.key is None:
        raise MissingKey(
            f"no key for {target.name}, and its answer is not in the cache",
            advice=f"Set {' or '.join(target.keys)}; a run without keys can replay answers with cache = readonly.",
        )
    return {
        "api_key": target.key,
        "base_url": target.base_url,
        "default_headers": dict(target.headers),
        "default_query": dict(target.query),
        "timeout": target.timeout_s,
        "max_retries": 0,  # the limiter and the budget have to see each attempt
    }


def import_openai() -> Any:
    """Import the openai package.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import openai
    except ImportError as error:
        raise MissingExtra(
            f"calls to models need the package openai: {error}", advice="pip install 'scoregate[judges]'"
        ) from None
    return openai


def close_connections_at_end(client: Any) -> None:
    """Close the client's connections when the run in this event loop ends; the client can still be used after that."""
    endings = CLEANUPS.get()
    if endings is None:
        return
    http_client = getattr(client, "_client", None)
    is_registered = any(
        isinstance(end, partial) and end.func is _close_connections and end.args[0] is http_client for end in endings
    )
    if not is_registered:
        endings.append(partial(_close_connections, http_client))


async def _close_connections(http_client: Any) -> None:
    mounts = getattr(http_client, "_mounts", None) or {}
    for transport in (getattr(http_client, "_transport", None), *mounts.values()):
        if type(transport).__name__ in ("AsyncHTTPTransport", "ConnectionPool"):  # these open new connections later
            await transport.aclose()
