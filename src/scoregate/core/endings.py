"""What is to be closed when a run in this event loop ends: whoever opens something for its length says so here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

ENDINGS: ContextVar[list[Callable[[], Awaitable[None]]] | None] = ContextVar("scoregate_endings", default=None)
