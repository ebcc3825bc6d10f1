"""Copilot CLI: `copilot -p PROMPT --output-format json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.agents.streams.stream import AgentStream, find_mapping
from scoregate.kernel.types.trajectory_steps import Message


class CopilotStream(AgentStream):
    """Events of messages and tools, each with its fields in `data`, and `result`. Deltas repeat later messages."""

    def feed(self, event: Mapping[str, Any]) -> None:
        """Read one event."""
        data = find_mapping(event, "data")
        match event.get("type"):
            case "user.message":
                self._add_text("user", data)
            case "assistant.message":
                self.model = str(data["model"]) if data.get("model") else self.model
                self._add_text("assistant", data)
                self.add_usage(data.get("inputTokens"), data.get("outputTokens"))
            case "assistant.reasoning":
                self.reader.steps.append(Message("reasoning", str(data.get("content") or "")))
            case "tool.execution_start":
                function = {"name": data.get("toolName"), "arguments": data.get("arguments")}
                call = {"id": data.get("toolCallId"), "function": function}
                self.reader.add([{"role": "assistant", "content": None, "tool_calls": [call]}])
            case "tool.execution_complete":
                self._add_result(data)
            case "session.error":
                self.error = str(data.get("message") or "error")
            case "result":
                self.ended = True
                code = event.get("exitCode")
                self.stop_reason = f"exit code {code}"
                self.error = self.error if code in (0, None) else self.error or self.stop_reason

    def _add_text(self, role: str, data: Mapping[str, Any]) -> None:
        if isinstance(text := data.get("content"), str) and text:
            self.reader.add([{"role": role, "content": text}])
            self.output = text if role == "assistant" else self.output

    def _add_result(self, data: Mapping[str, Any]) -> None:
        is_error = data.get("success") is False
        problem = find_mapping(data, "error").get("message") or data.get("error")
        content = problem if is_error else find_mapping(data, "result").get("content", data.get("result"))
        message = {"role": "tool", "tool_call_id": data.get("toolCallId"), "content": content, "is_error": is_error}
        self.reader.add([message])
