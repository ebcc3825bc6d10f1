"""Templates of a definition: is a text one, what may it name, and by which names does a conversation go?"""

from __future__ import annotations

from typing import Any, TypeAlias

Context: TypeAlias = dict[str, Any]

CONVERSATION = (
    "conversation_id",
    "session_id",
    "thread_id",
    "chat_id",
    "dialog_id",
    "dialogue_id",
    "context_id",
    "interaction_id",
)
NAMES = frozenset({"input", "messages", "system_prompt", "auth_token", *CONVERSATION})
_MARKS = ("{{", "{%", "{#")


def is_template(text: str) -> bool:
    """Whether there is any Jinja in it."""
    return any(mark in text for mark in _MARKS)
