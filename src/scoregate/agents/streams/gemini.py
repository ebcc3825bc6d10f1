"""Gemini CLI: `gemini --prompt PROMPT --output-format stream-json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.agents.streams.stream import AgentStream, find_mapping
from scoregate.kernel.types.trajectory_steps import Message


class GeminiStream(AgentStream):
    """Events `init`, `message` (in chunks), `tool_use`, `tool_result`, `error` and `result`."""

    def feed(self, event: Mapping[str, Any]) -> None:
        """Read one event."""
        match event.get("type"):
            case "init":
                self.model = str(event["model"]) if event.get("model") else None
            case "message":
                self._add_text(str(event.get("role") or "assistant"), str(event.get("content") or ""), event)
            case "tool_use":
                function = {"name": event.get("tool_name"), "arguments": event.get("parameters")}
                call = {"id": event.get("tool_id"), "function": function}
                self.reader.add([{"role": "assistant", "content": None, "tool_calls": [call]}])
            case "tool_result":
                error = find_mapping(event, "error").get("message")
                is_error = event.get("status") == "error"
                content = (error or event.get("output")) if is_error else event.get("output")
                message = {"role": "tool", "tool_call_id": event.get("tool_id"), "content": content}
                self.reader.add([{**message, "is_error": is_error}])
            case "error" if event.get("severity") != "warning":
                self.error = str(event.get("message") or "error")
            case "result":
                self._end(event)

    def _add_text(self, role: str, text: str, event: Mapping[str, Any]) -> None:
        last = self.reader.steps[-1] if self.reader.steps else None
        if event.get("delta") and isinstance(last, Message) and last.role == role:
            self.reader.steps[-1] = Message(last.role, last.text + text)
        elif text:
            self.reader.add([{"role": role, "content": text}])

    def _end(self, event: Mapping[str, Any]) -> None:
        self.ended = True
        self.stop_reason = str(event.get("status") or "")
        if event.get("status") == "error":
            self.error = str(find_mapping(event, "error").get("message") or "error")
        stats = find_mapping(event, "stats")
        self.add_usage(stats.get("input_tokens"), stats.get("output_tokens"), stats.get("cached"))
