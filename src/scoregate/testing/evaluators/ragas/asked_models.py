"""The models that a metric asks: their names, and copies of them for one evaluation each."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

_INNER = ("langchain_llm", "llm", "embeddings")
_NAMES = ("model_name", "model")


def name_of(model: Any) -> str | None:
    """What a model of ragas, or the one that it wraps, calls itself; None where it does not tell."""
    wrapped = [inner for attribute in _INNER if (inner := getattr(model, attribute, None)) is not None]
    told = (getattr(each, name, None) for each in (*wrapped, model) for name in _NAMES)
    return next((name for name in told if isinstance(name, str) and name), None)


def for_one(llm: Any) -> Any:
    """A copy with the same connections.

    ragas sets `n` and the temperature of a question on the LangChain model itself, so that questions which are asked
    at the same time must not share one.
    """
    inner = getattr(llm, "langchain_llm", None)
    if inner is None:
        return llm
    twin = copy.copy(llm)
    twin.langchain_llm = copy.copy(inner)
    return twin


def embedding(embeddings: Any) -> Any:
    """As the metrics use it: those of ragas' newer kind lack the names of LangChain's, which some metrics call."""
    if hasattr(embeddings, "embed_query") or not hasattr(embeddings, "embed_texts"):
        return embeddings
    return _Renamed(embeddings)


class _Renamed:
    def __init__(self, embeddings: Any) -> None:
        self._embeddings = embeddings
        self.embed_query = embeddings.embed_text
        self.embed_documents = embeddings.embed_texts

    async def aembed_text(self, text: str) -> Any:
        """The vector; ragas refuses to await what was made with a client that is not async."""
        if getattr(self._embeddings, "is_async", True):
            return await self._embeddings.aembed_text(text)
        return await asyncio.to_thread(self._embeddings.embed_text, text)
