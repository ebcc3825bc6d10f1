"""What is to be closed when a run in this event loop ends: whoever opens something for its length says so here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar

ENDINGS: ContextVar[list[Callable[[], Awaitable[None]]] | None] = ContextVar("scoregate_endings", default=None)


@asynccontextmanager
async def close_at_end() -> AsyncIterator[None]:
    """Whatever is added to `ENDINGS` within the block is called at its end, the last first."""
    endings: list[Callable[[], Awaitable[None]]] = []
    before = ENDINGS.set(endings)
    try:
        yield
    finally:
        ENDINGS.reset(before)
        for end in reversed(endings):
            with suppress(Exception):
                await end()
