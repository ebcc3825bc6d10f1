"""Endpoints as targets: sessions, and the interface of transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Generic, Protocol, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import CONVERSATION_NAMES, RequestValues
from scoregate.errors import EndpointError
from scoregate.kernel.types.cleanup import CLEANUPS
from scoregate.kernel.types.conversation import Reply

# Sends the values of a request; returns the reply, and the id of the conversation in its original type.
SendMessage: TypeAlias = Callable[[RequestValues], Awaitable[tuple[Reply, Any]]]


class Transport(Protocol):
    """The connection to an endpoint. Many conversations may use it in parallel."""

    endpoint: EndpointContext
    system_prompt: str

    def connect(self) -> AbstractAsyncContextManager[SendMessage]:
        """Connect for one conversation."""
        ...


class EndpointSession:
    """A conversation with an endpoint, one message after another; a `Session`.

    Args:
        ask: sends a message.
        wire: the transport.
        conversation_id: the id of an existing conversation.
    """

    def __init__(self, ask: SendMessage, wire: Transport, *, conversation_id: str | None = None) -> None:
        self._ask, self._wire = ask, wire
        self._id: Any = conversation_id
        prompt = wire.system_prompt
        self._messages = [{"role": "system", "content": prompt}] if prompt else []

    async def send(self, message: str) -> Reply:
        """Send a message and wait for the reply. A message without a reply is not part of the conversation."""
        messages = [*self._messages, {"role": "user", "content": message}]
        context: RequestValues = dict.fromkeys(CONVERSATION_NAMES, self._id)
        context |= {"input": message, "messages": messages, "system_prompt": self._wire.system_prompt, "auth_token": ""}
        reply, identity = await self._send(context)
        self._id = self._id if identity is None else identity
        self._messages = [*messages, {"role": "assistant", "content": reply.text}]
        return reply

    async def _send(self, context: RequestValues) -> tuple[Reply, Any]:
        try:
            return await self._ask(context)
        except EndpointError:
            raise
        except Exception as error:  # without the cause, which may contain a secret
            raise self._wire.endpoint.fail(f"{type(error).__name__}: {error!s:.1000}") from None


class EndpointTarget:
    """An endpoint as a `Target`."""

    def __init__(self, name: str, wire: Transport) -> None:
        self._name, self._wire = name, wire

    @property
    def name(self) -> str:
        """The name of the endpoint."""
        return self._name

    @asynccontextmanager
    async def session(self, conversation_id: str | None = None) -> AsyncIterator[EndpointSession]:
        """Start a conversation, or continue the one with this id."""
        async with self._wire.connect() as ask:
            yield EndpointSession(ask, self._wire, conversation_id=conversation_id)


class Closable(Protocol):
    """A resource that can be closed."""

    async def aclose(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closable)


class PerLoop(Generic[C]):
    """A resource for each event loop, created by `make` at its first use."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._resources: WeakKeyDictionary[asyncio.AbstractEventLoop, _Resource[C]] = WeakKeyDictionary()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[C]:
        """Use the resource of this loop."""
        loop = asyncio.get_running_loop()
        resource = self._resources.get(loop) or self._open(loop)
        resource.users += 1
        try:
            yield resource.value
        finally:
            resource.users -= 1
            if not resource.users and not resource.stays:  # without a run that closes it, the last user does
                await self._close(loop)

    def _open(self, loop: asyncio.AbstractEventLoop) -> _Resource[C]:
        endings = CLEANUPS.get()
        resource = self._resources[loop] = _Resource(self._make(), stays=endings is not None)
        if endings is not None:
            endings.append(partial(self._close, loop))
        return resource

    async def _close(self, loop: asyncio.AbstractEventLoop) -> None:
        resource = self._resources.pop(loop, None)
        if resource is not None:
            await resource.value.aclose()


class _Resource(Generic[C]):
    """An open resource, its users, and whether it stays open without users."""

    def __init__(self, value: C, *, stays: bool) -> None:
        self.value, self.stays = value, stays
        self.users = 0
