"""Clients of the openai package, one for each address; those of an event loop end with it."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.request import getproxies
from weakref import WeakKeyDictionary

from scoregate.core.cleanup import ENDINGS
from scoregate.errors import MissingExtra, MissingKey
from scoregate.models.providers import Target

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI


def with_lanes(openai: Any, cls: Any = None) -> Any:
    """An async HTTP client for the openai package, of its usual class or of `cls`.

    The pool that it would make looks at every connection whenever it wants one, which with fifty calls at a time costs
    as much as all the rest of a request. Behind a proxy it stays with that pool, which knows the way.
    """
    make = cls or openai.DefaultAsyncHttpxClient
    return make() if getproxies() else make(transport=ConnectionPool(_library(openai)))


def _library(openai: Any) -> Any:
    """The HTTP library that the package uses: httpx, or what came after it."""
    return sys.modules[type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0]]


class ConnectionPool:
    """An async transport of that library; closed, it opens new connections."""

    def __init__(self, http: Any) -> None:
        self._http = http
        self._trust = _trust(http)
        self._one = http.Limits(max_connections=1, max_keepalive_connections=1)
        self._free: list[Any] = []
        self._busy: set[Any] = set()

    async def __aenter__(self) -> ConnectionPool:
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

    def __init__(self, body: Any, lanes: ConnectionPool, lane: Any) -> None:
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


_Place: TypeAlias = tuple[object, ...]
_lock = threading.Lock()
_clients: dict[_Place, OpenAI] = {}
_async_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Place, AsyncOpenAI]] = WeakKeyDictionary()


def client_of(target: Target) -> OpenAI:
    """The client for sync calls, shared by all threads.

    Raises:
        MissingKey: there is no key. MissingExtra: the openai package is not installed.
    """
    place = target.place
    with _lock:
        if place not in _clients:
            _clients[place] = openai_package().OpenAI(**_options(target))
        return _clients[place]


def async_client_of(target: Target) -> AsyncOpenAI:
    """The client for calls in the running event loop.

    Raises:
        MissingKey: there is no key. MissingExtra: the openai package is not installed.
    """
    place, loop = target.place, asyncio.get_running_loop()
    with _lock:
        clients = _async_clients.setdefault(loop, {})
    if place not in clients:
        openai = openai_package()
        client: AsyncOpenAI = openai.AsyncOpenAI(**_options(target), http_client=with_lanes(openai))
        clients[place] = client
        if (endings := ENDINGS.get()) is not None:
            endings.append(client.close)
            endings.append(lambda: _forgotten(loop))
    return clients[place]


async def _forgotten(loop: asyncio.AbstractEventLoop) -> None:
    _async_clients.pop(loop, None)


def _options(target: Target) -> dict[str, Any]:
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
        "max_retries": 0,
    }


def openai_package() -> Any:
    """The openai package.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import openai
    except ImportError as error:
        raise MissingExtra(
            f"models need the openai package: {error}", advice="pip install 'scoregate[judges]'"
        ) from None
    return openai


def leave_with_loop(client: Any) -> None:
    """Close the client's idle connections when the run in this loop ends; the client itself can still be used."""
    endings = ENDINGS.get()
    if endings is None:
        return
    pools = getattr(client, "_client", None)
    if not any(isinstance(end, partial) and end.func is _drop and end.args[0] is pools for end in endings):
        endings.append(partial(_drop, pools))


async def _drop(pools: Any) -> None:
    for transport in _transports(pools):
        if type(transport).__name__ in ("AsyncHTTPTransport", "ConnectionPool"):  # closed, they open new connections
            await transport.aclose()


def _transports(pools: Any) -> Iterable[Any]:
    mounted = getattr(pools, "_mounts", None) or {}
    return (getattr(pools, "_transport", None), *mounted.values())
