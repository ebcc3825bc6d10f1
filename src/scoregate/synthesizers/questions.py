"""What a model is asked for one batch: templates in files, with sources and earlier tests between fences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scoregate.core.utf8 import whole
from scoregate.enums import TestType
from scoregate.judging.fence import fence_of
from scoregate.judging.templates import messages
from scoregate.synthesizers.batches import Batch
from scoregate.synthesizers.brief import Brief

_PROMPTS = Path(__file__).parent / "prompts"


def question(brief: Brief, batch: Batch) -> list[dict[str, Any]]:
    """The messages. The same for the same brief and batch, so that answers are found again in the cache.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    blocks = {name: whole(text) for name, text in _blocks(brief, batch).items() if text.strip()}
    words = {
        "config": brief.config,
        "batch": batch,
        "multi_turn": brief.kind is TestType.MULTI_TURN,
        "blocks": blocks,
        "fence": fence_of(blocks.values()),
    }
    return messages(_PROMPTS, "batch", words)


def _blocks(brief: Brief, batch: Batch) -> dict[str, str]:
    """All that nobody vouches for, by what it is."""
    return {
        "context": brief.config.additional_context,
        "source": "" if batch.chunk is None else batch.chunk.text,
        "tests that there are": "\n".join(f"- {text}" for text in batch.known),
    }
