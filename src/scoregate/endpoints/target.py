"""An endpoint as a target: conversations with it, and what they need of the way to the other side, whichever it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, TypeAlias

from scoregate.core.target import Reply
from scoregate.endpoints.names import CONVERSATION, Context
from scoregate.endpoints.surroundings import Surroundings
from scoregate.errors import EndpointError

# Sends what the names stand for; gives the reply, and the id of the conversation as the other side wrote it.
Ask: TypeAlias = Callable[[Context], Awaitable[tuple[Reply, Any]]]


class Wire(Protocol):
    """One way to one endpoint; safe for many conversations at a time."""

    place: Surroundings
    system_prompt: str

    def connected(self) -> AbstractAsyncContextManager[Ask]:
        """The way, for one conversation."""
        ...


class Talk:
    """As `core.target.Session` has it: one message after another.

    Args:
        ask: the way to the other side. wire: whose it is.
        conversation_id: of a conversation that the other side knows already.
    """

    def __init__(self, ask: Ask, wire: Wire, *, conversation_id: str | None = None) -> None:
        self._ask, self._wire = ask, wire
        self._id: Any = conversation_id
        prompt = wire.system_prompt
        self._said = [{"role": "system", "content": prompt}] if prompt else []

    async def send(self, message: str) -> Reply:
        """As `Session.send`. A message without a reply was not said."""
        messages = [*self._said, {"role": "user", "content": message}]
        context: Context = dict.fromkeys(CONVERSATION, self._id)
        context |= {"input": message, "messages": messages, "system_prompt": self._wire.system_prompt, "auth_token": ""}
        reply, identity = await self._asked(context)
        self._id = self._id if identity is None else identity
        self._said = [*messages, {"role": "assistant", "content": reply.text}]
        return reply

    async def _asked(self, context: Context) -> tuple[Reply, Any]:
        try:
            return await self._ask(context)
        except EndpointError:
            raise
        except Exception as error:  # no cause: what it says may hold a secret
            raise self._wire.place.fail(f"{type(error).__name__}: {error!s:.1000}") from None


class EndpointTarget:
    """As `core.target.Target` has it."""

    def __init__(self, name: str, wire: Wire) -> None:
        self._name, self._wire = name, wire

    @property
    def name(self) -> str:
        """As `Target.name`."""
        return self._name

    @asynccontextmanager
    async def session(self, conversation_id: str | None = None) -> AsyncIterator[Talk]:
        """As `Target.session`; `conversation_id` goes on with one that the other side knows."""
        async with self._wire.connected() as ask:
            yield Talk(ask, self._wire, conversation_id=conversation_id)
