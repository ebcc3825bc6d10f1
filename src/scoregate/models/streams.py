"""Answers that come in pieces: what they used is told at their end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from scoregate.core.evaluation import Usage
from scoregate.models.usages import usage_of

Count = Callable[[Usage], None]


def with_usage(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request, so that the stream ends with what it used."""
    return {**body, "stream_options": {**(body.get("stream_options") or {}), "include_usage": True}}


def asks_for_usage(body: Mapping[str, Any]) -> bool:
    """Whether the caller expects a last piece that has nothing but the usage."""
    return bool((body.get("stream_options") or {}).get("include_usage"))


class Tally:
    """Looks at the pieces of one stream as they pass; `hides` the piece that nobody but us asked for."""

    def __init__(self, count: Count, model: str, *, hides: bool) -> None:
        self._count, self._model, self._hides = count, model, hides

    def sync(self, pieces: Iterator[Any]) -> Iterator[Any]:
        """The pieces, counted."""
        for piece in pieces:
            if self._passes(piece):
                yield piece

    async def a_sync(self, pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The pieces, counted."""
        async for piece in pieces:
            if self._passes(piece):
                yield piece

    def _passes(self, piece: Any) -> bool:
        holder = getattr(piece, "response", None) or piece
        told = getattr(holder, "usage", None)
        if told is None:
            return True
        if (usage := usage_of({"usage": told.model_dump()}, self._model)) is not None:
            self._count(usage)
        return not (self._hides and getattr(piece, "choices", None) == [])
