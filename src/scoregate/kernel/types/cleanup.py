"""Cleanup at the end of a run: code that opens something for the length of the run registers a callback here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar

CLEANUPS: ContextVar[list[Callable[[], Awaitable[None]]] | None] = ContextVar("scoregate_endings", default=None)


@asynccontextmanager
async def close_at_end() -> AsyncIterator[None]:
    """Call the callbacks that the block adds to `CLEANUPS` at its end, the last first; their errors are ignored."""
    cleanups: list[Callable[[], Awaitable[None]]] = []
    token = CLEANUPS.set(cleanups)
    try:
        yield
    finally:
        CLEANUPS.reset(token)
        for cleanup in reversed(cleanups):
            with suppress(Exception):
                await cleanup()
