"""Clients of the openai package, one for each address; those of an event loop end with it."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from scoregate.core.endings import ENDINGS
from scoregate.errors import MissingExtra, MissingKey
from scoregate.models.lanes import with_lanes
from scoregate.models.providers import Target

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

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
