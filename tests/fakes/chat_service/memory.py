"""The answers of the service, and its memory of each conversation."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

Answer = Callable[[str], Any]


class Memory:
    """Conversations by their ids, and the answers that a test has set."""

    def __init__(self) -> None:
        self.conversations: dict[str, list[str]] = {}
        self._numbers = itertools.count(1)
        self._rules: list[tuple[str, Any]] = []

    def answers(self, pattern: str, answer: Any) -> None:
        """Answer so where the pattern is found in a message; later rules win. A function is given the message."""
        self._rules.append((pattern, answer))

    def say(self, message: Any, conversation: Any) -> dict[str, Any]:
        """The answer to a message, in a conversation that may be a new one."""
        known = str(conversation) if conversation is not None else f"c-{next(self._numbers)}"
        messages = self.conversations.setdefault(known, [])
        output = self.output(message, messages)
        messages.append(message)
        return {
            "output": output,
            "conversation_id": known,
            "context": ["the handbook, page 3"],
            "metadata": {"turn": len(messages), "received": type(message).__name__},
        }

    def output(self, message: Any, before: list[str]) -> Any:
        """Its answer: by a rule, from its memory, or the message."""
        for pattern, answer in reversed(self._rules):
            if re.search(pattern, str(message)):
                return answer(message) if callable(answer) else answer
        if before and re.search(r"what did I (just )?say", str(message), re.I):
            return f"You said: {before[-1]}"
        return f"You said: {message}"
