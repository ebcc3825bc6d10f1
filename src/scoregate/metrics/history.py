"""Conversations as users of metrics have them: messages with roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scoregate.core.conversation import Conversation, Turn
from scoregate.errors import MetricError

_USER, _ASSISTANT = "user", "assistant"
_OTHERS = ("system", "developer", "tool")


@dataclass(frozen=True, slots=True)
class ConversationHistory:
    """What was said, turn by turn: a message of the user and what the assistant answered."""

    turns: tuple[Turn, ...]

    @classmethod
    def from_messages(cls, messages: Iterable[Mapping[str, Any]]) -> ConversationHistory:
        """From messages as models know them, `{"role": …, "content": …}`; those of the system and of tools are no part.

        Raises:
            MetricError: a message has another role, or no text.
        """
        turns: list[Turn] = []
        waiting: str | None = None
        for number, message in enumerate(messages, 1):
            role, text = _read(number, message)
            if role == _ASSISTANT:
                turns.append(Turn(waiting or "", text, **_beside(message)))
                waiting = None
            elif role == _USER:
                waiting = text if waiting is None else f"{waiting}\n\n{text}"
        return cls((*turns, *([] if waiting is None else [Turn(waiting, "")])))

    @classmethod
    def from_conversation(cls, conversation: Conversation) -> ConversationHistory:
        """From a conversation that was had in a test."""
        return cls(conversation.turns)

    @property
    def messages(self) -> list[dict[str, str]]:
        """What was said, in its order; who said nothing has no message."""
        return [message for message in Conversation(self.turns).messages() if message["content"]]

    def __len__(self) -> int:
        return len(self.messages)


def conversation_of(history: ConversationHistory | Conversation) -> Conversation:
    """The conversation that it is.

    Raises:
        MetricError: it is none, or nothing was said in it.
    """
    if not isinstance(history, ConversationHistory | Conversation):
        advice = "Make one with ConversationHistory.from_messages([…])."
        raise MetricError(f"conversation_history must be a ConversationHistory, not {history!r:.60}", advice=advice)
    if not history.turns:
        raise MetricError("conversation_history is empty: there is nothing to grade")
    return Conversation(history.turns)


def _read(number: int, message: Mapping[str, Any]) -> tuple[str, str]:
    role, text = message.get("role"), message.get("content")
    if role not in (_USER, _ASSISTANT, *_OTHERS):
        raise MetricError(f"message {number}: its role is {role!r:.60}, which is neither user nor assistant")
    if role not in _OTHERS and not isinstance(text, str) and not (text is None and message.get("tool_calls")):
        raise MetricError(f"message {number}: its content must be a string, not {text!r:.60}")
    return str(role), text if isinstance(text, str) else ""


def _beside(message: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(message[name]) for name in ("context", "tool_calls") if message.get(name)}
