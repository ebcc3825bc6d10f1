"""What was asked, as a script that answers wants to see it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """One request for an answer; `number` counts them from 1.

    `schema` is the JSON schema that the answer must have, be it asked for by a response format or by a forced tool.
    """

    body: Mapping[str, Any]
    number: int
    messages: Sequence[Mapping[str, Any]]
    schema: Mapping[str, Any] | None = None
    tool: str | None = None
    is_json: bool = False

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def text(self) -> str:
        """All messages, role by role."""
        return "\n".join(f"{message.get('role')}: {read_text(message)}" for message in self.messages)

    @property
    def last(self) -> str:
        """The text of the user's last message, or of the last message without a user."""
        by_users = [message for message in self.messages if message.get("role") == "user"]
        return read_text((by_users or self.messages)[-1]) if self.messages else ""


def read_text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


def parse_chat(body: Mapping[str, Any], number: int) -> Question:
    form = body.get("response_format") or {}
    tool = find_forced_tool(body)
    schema = form.get("json_schema", {}).get("schema") if form.get("type") == "json_schema" else None
    if tool is not None:
        schema = tool.get("parameters", {})
    if form.get("type") == "json_object":
        schema = find_schema(body.get("messages", ()))
    is_json = form.get("type") in ("json_schema", "json_object")
    return Question(body, number, body.get("messages", ()), schema, tool and tool.get("name"), is_json)


def find_schema(messages: Sequence[Mapping[str, Any]]) -> Any:
    """The JSON schema in a message, for a mode that knows JSON only as such."""
    for message in reversed(messages):
        text = read_text(message)
        for index in (found.start() for found in re.finditer(r"\{", text)):
            with suppress(ValueError):
                value, _ = json.JSONDecoder().raw_decode(text, index)
                if isinstance(value, dict) and "properties" in value:
                    return value
    return None


def find_forced_tool(body: Mapping[str, Any]) -> Any:
    """The function that must be called: the one that is named, or the first where any will do."""
    choice, tools = body.get("tool_choice"), [tool.get("function", tool) for tool in body.get("tools") or ()]
    if isinstance(choice, Mapping):
        name = choice.get("function", choice).get("name")
        return next((tool for tool in tools if tool.get("name") == name), None)
    return tools[0] if choice == "required" and tools else None


def parse_responses(body: Mapping[str, Any], number: int) -> Question:
    given = body.get("input") or ()
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    if instructions := body.get("instructions"):
        messages = [{"role": "system", "content": instructions}, *messages]
    form = (body.get("text") or {}).get("format") or {}
    tool = find_forced_tool(body)
    schema = tool.get("parameters", {}) if tool else form.get("schema")
    is_json = form.get("type") in ("json_schema", "json_object")
    return Question(body, number, messages, schema, tool and tool.get("name"), is_json)
