"""What an answer says that it used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.core.evaluation import Usage


def usage_of(body: Mapping[str, Any], model: str) -> Usage | None:
    """The tokens of an answer of chat completions, responses or embeddings; None where it does not tell."""
    told = body.get("usage")
    if not isinstance(told, Mapping):
        return None
    return Usage(
        input_tokens=_count(told, "prompt_tokens", "input_tokens"),
        output_tokens=_count(told, "completion_tokens", "output_tokens"),
        cached_tokens=_count(_part(told, "prompt_tokens_details", "input_tokens_details"), "cached_tokens"),
        model=model,
    )


def _part(told: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((part for name in names if isinstance(part := told.get(name), Mapping)), {})


def _count(told: Mapping[str, Any], *names: str) -> int:
    found: list[int] = [told[name] for name in names if isinstance(told.get(name), int)]
    return max(0, found[0]) if found else 0
