"""A model that answers a question with the tools of a server, one call after another."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from scoregate.errors import AgentError
from scoregate.kernel.types.json_io import dump, to_plain
from scoregate.kernel.types.task_trace import read_content
from scoregate.kernel.types.text import truncate_middle
from scoregate.kernel.types.trajectory_steps import Message, Step, ToolCall
from scoregate.mcp_servers.results import call_tool
from scoregate.mcp_servers.session import McpSession

if TYPE_CHECKING:
    from scoregate.models.model import Model

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
# The whole results are in the record; a model gets at most this much of one.
_LONGEST_RESULT = 100_000


class ToolLoop:
    """One question, which a model answers with tools.

    Args:
        model: the model.
        session: the session with the server.
        tools: the tools that the server lists.
        max_steps: the most tool calls.

    Attributes:
        steps: the messages and tool calls so far.
        stop_reason: why the model stopped, in its words.
    """

    def __init__(self, model: Model, session: McpSession, tools: Sequence[Mapping[str, Any]], max_steps: int) -> None:
        self._model, self._session, self._max_steps = model, session, max_steps
        self._names = _name_tools(tools)
        by_name = {str(tool["name"]): tool for tool in tools}
        self._tools = [_describe_tool(name, by_name[real]) for name, real in self._names.items()]
        self.steps: list[Step] = []
        self.stop_reason = ""

    async def run(self, conversation: Sequence[Mapping[str, Any]]) -> str:
        """The answer to the last message.

        Args:
            conversation: the messages so far, with the question as the last one.

        Raises:
            AgentError: the model calls too many tools, or ends without an answer.
            McpServerError: the server fails.
            ModelError: the model fails.
        """
        messages = list(conversation)
        self.steps.append(Message("user", str(messages[-1]["content"])))
        while True:
            generation = await self._model.a_generate(messages, tools=self._tools)
            answer = dict(generation.message) or {"content": generation.text}
            self.stop_reason = generation.finish_reason or ""
            text = read_content(answer.get("content")).text
            if text:
                self.steps.append(Message("assistant", text))
            calls = answer.get("tool_calls")
            if not isinstance(calls, list) or not calls:
                return self._read_answer(text)
            messages.append({**answer, "role": "assistant"})
            messages += [await self._answer_call(call) for call in calls]

    def _read_answer(self, text: str) -> str:
        if self.stop_reason == "length":
            raise AgentError(
                f"the answer of {self._model.name} was cut off",
                advice="Use a model with longer answers, or a shorter question.",
            )
        if not text.strip():
            raise AgentError(f"{self._model.name} ended with an empty answer")
        return text

    async def _answer_call(self, call: Any) -> Mapping[str, Any]:
        """Call the tool that the model asks for, and return the message with its result."""
        if len([step for step in self.steps if isinstance(step, ToolCall)]) >= self._max_steps:
            raise AgentError(
                f"{self._model.name} called more than {self._max_steps} tools", advice="max_steps allows more."
            )
        function = call.get("function") if isinstance(call, Mapping) else None
        function = function if isinstance(function, Mapping) else {}
        step = await self._call(str(function.get("name", "")), function.get("arguments"))
        self.steps.append(step)
        result = f"Error: {step.error}" if step.error is not None else step.result
        text = result if isinstance(result, str) else dump(to_plain(result)).decode()
        identity = call.get("id", "") if isinstance(call, Mapping) else ""
        return {"role": "tool", "tool_call_id": identity, "content": truncate_middle(text, _LONGEST_RESULT)}

    async def _call(self, name: str, given: Any) -> ToolCall:
        """The call with its result. A mistake of the model is an error of the call, which the model reads."""
        tool = self._names.get(name)
        try:
            arguments = given if isinstance(given, dict) else from_json(given or "{}")
        except (ValueError, TypeError):
            arguments = None
        if not isinstance(arguments, dict):
            return ToolCall(tool or name, {"": str(given)}, error="the arguments are no JSON object")
        if tool is None:
            return ToolCall(name, arguments, error="there is no tool with this name")
        return await call_tool(self._session, tool, arguments)


def _name_tools(tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The tools by names that APIs of models accept: letters, digits, `_` and `-`, and at most 64 of them."""
    names: dict[str, str] = {}
    for tool in tools:
        base = name = _NOT_IN_NAMES.sub("_", str(tool["name"]))[:_LONGEST_NAME]
        number = 2
        while name in names:
            suffix = f"_{number}"
            name, number = base[: _LONGEST_NAME - len(suffix)] + suffix, number + 1
        names[name] = str(tool["name"])
    return names


def _describe_tool(name: str, tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {
        "name": name,
        "description": str(tool.get("description") or tool.get("title") or ""),
        "parameters": tool.get("inputSchema") or {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": function}
