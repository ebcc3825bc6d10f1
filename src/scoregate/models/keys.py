"""What makes two questions the same."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from pydantic_core import PydanticSerializationError

from scoregate.core.wire import dump, ordered, plain

# How a question is sent, not what is asked.
_TRANSPORT = {"user", "safety_identifier", "service_tier", "metadata", "store", "prompt_cache_key", "stream_options"}


def question_of(provider: str, path: str, body: Mapping[str, Any]) -> str:
    """A digest of a question: provider, kind of answer, model, messages, schema and parameters."""
    asked = {name: body[name] for name in sorted(body) if name not in _TRANSPORT}
    return blake2b(_written([provider, path, asked]), digest_size=16).hexdigest()


def _written(value: object) -> bytes:
    try:
        return dump(value)
    except PydanticSerializationError:
        return dump(plain(ordered(value)))


def key_of(question: str, *, repeat: int, occurrence: int) -> bytes:
    """The key under which the answer is kept; another repeat, or the same question again, is another one."""
    return blake2b(f"{question} {repeat} {occurrence}".encode(), digest_size=16).digest()
