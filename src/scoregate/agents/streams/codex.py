"""Codex: `codex exec --json PROMPT`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.agents.streams.stream import AgentStream, find_mapping
from scoregate.kernel.types.trajectories.messages import read_arguments
from scoregate.kernel.types.trajectory_steps import Message, ToolCall


class CodexStream(AgentStream):
    """Events of threads, turns and items; an item counts when it is completed.

    An error before the end of the turn, such as a lost connection, was overcome.
    """

    def feed(self, event: Mapping[str, Any]) -> None:
        """Read one event."""
        kind = event.get("type")
        if kind == "item.completed":
            self._add_item(find_mapping(event, "item"))
        elif kind == "turn.completed":
            usage = find_mapping(event, "usage")
            self.add_usage(usage.get("input_tokens"), usage.get("output_tokens"), usage.get("cached_input_tokens"))
            self.ended, self.stop_reason, self.error = True, "turn.completed", None
        elif kind == "turn.failed":
            self.ended, self.stop_reason = True, "turn.failed"
            self.error = str(find_mapping(event, "error").get("message") or "the turn failed")
        elif kind == "error":
            self.error = str(event.get("message") or "error")

    def _add_item(self, item: Mapping[str, Any]) -> None:
        match item.get("type"):
            case "agent_message":
                self.output = str(item.get("text") or "")
                self.reader.steps.append(Message("assistant", self.output))
            case "reasoning":
                self.reader.steps.append(Message("reasoning", str(item.get("text") or "")))
            case "command_execution":
                code = item.get("exit_code")
                is_failed = code not in (0, None) or item.get("status") in ("failed", "declined")
                shown = str(item.get("aggregated_output") or "")
                error = f"exit code {code}: {shown}" if is_failed else None
                self._add_call("shell", {"command": item.get("command")}, None if is_failed else shown, error)
            case "file_change":
                changes = {"changes": item.get("changes")}
                error = "not applied" if item.get("status") == "failed" else None
                self._add_call("file_change", changes, None, error)
            case "mcp_tool_call":
                problem = item.get("error")
                error = None if problem is None else str(find_mapping(item, "error").get("message") or problem)
                error = error or ("failed" if item.get("status") == "failed" else None)
                name = f"mcp__{item.get('server')}__{item.get('tool')}"  # as the model calls it
                self._add_call(name, read_arguments(item.get("arguments")), item.get("result"), error)
            case "web_search":
                self._add_call("web_search", {"query": item.get("query")}, None, None)

    def _add_call(self, name: str, arguments: Mapping[str, Any], result: Any, error: str | None) -> None:
        self.reader.steps.append(ToolCall(name, arguments, result, error))
