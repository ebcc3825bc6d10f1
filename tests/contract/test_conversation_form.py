"""The documented form of a conversation is written and stays readable."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

from scoregate.kernel.types.conversation import Conversation, EndReason, Turn

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text("utf-8")
EXAMPLE = json.loads(
    next(each for each in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL) if '"conversation"' in each)
)


def test_the_documented_conversation_round_trips() -> None:
    conversation = Conversation.read(EXAMPLE)
    assert conversation == Conversation(
        (
            Turn("I eat no meat. Where should I have dinner?", "Try the salad bar."),
            Turn("And for lunch?", "The steak house.", tool_calls=({"name": "search"},)),
        ),
        EndReason.MAX_TURNS,
        False,
    )
    assert conversation.plain() == EXAMPLE


def test_every_field_is_documented() -> None:
    words = {each.name for kind in (Conversation, Turn) for each in fields(kind)} | {str(ended) for ended in EndReason}
    assert sorted(word for word in words if f"`{word}`" not in TEXT and f'"{word}"' not in TEXT) == []
