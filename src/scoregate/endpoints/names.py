"""The names that templates of requests may use, and those by which a conversation goes."""

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
