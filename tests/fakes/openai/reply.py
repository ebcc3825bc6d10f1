"""What is answered: a text, an object, a call of a tool, or something that went wrong on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.openai.question import Question
from tests.fakes.openai.schemas import make_instance


@dataclass(frozen=True)
class ToolCall:
    """A call of a function, with its arguments as an object or as the text that is sent."""

    name: str
    arguments: Mapping[str, Any] | str = "{}"

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """One choice of an answer. Tokens are counted from the texts where they are not given.

    `message` has fields that replace those of the message, in any form that a server may send.
    """

    text: str | None = None
    tool: ToolCall | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    message: Mapping[str, Any] | None = None

    @property
    def length(self) -> int:
        """In characters."""
        return len(self.text or "") + (len(self.tool.text) if self.tool else 0)


def make_reply(given: Any, question: Question) -> Reply:
    """A reply from what a script gave: a text is sent as it is, an object is completed to what the schema asks for."""
    if isinstance(given, Reply):
        return given
    if isinstance(given, ToolCall):
        return Reply(tool=given, finish_reason="tool_calls")
    if isinstance(given, str):
        return _finish_reply(given, question)
    if isinstance(given, Mapping) and question.schema:
        filled = make_instance(question.schema)
        return _finish_reply(json.dumps({**filled, **given} if isinstance(filled, dict) else given), question)
    return _finish_reply(make_default_text(question) if given is None else json.dumps(given), question)


def _finish_reply(text: str, question: Question) -> Reply:
    if question.tool is not None:
        return Reply(tool=ToolCall(question.tool, text), finish_reason="stop")
    return Reply(text)


def make_default_text(question: Question) -> str:
    if question.schema is not None:
        return json.dumps(make_instance(question.schema))
    return "{}" if question.is_json else f"An answer to: {question.last[:80]}"
