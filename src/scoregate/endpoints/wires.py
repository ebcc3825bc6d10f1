"""What a conversation needs of the way to the other side, whichever it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias

from scoregate.core.target import Reply
from scoregate.endpoints.names import Context
from scoregate.endpoints.surroundings import Surroundings

# Sends what the names stand for; gives the reply, and the id of the conversation as the other side wrote it.
Ask: TypeAlias = Callable[[Context], Awaitable[tuple[Reply, Any]]]


class Wire(Protocol):
    """One way to one endpoint; safe for many conversations at a time."""

    place: Surroundings
    system_prompt: str

    def connected(self) -> AbstractAsyncContextManager[Ask]:
        """The way, for one conversation."""
        ...
