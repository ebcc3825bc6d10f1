"""OpenCode: `opencode run --format json PROMPT`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scoregate.agents.streams.stream import AgentStream, find_mapping
from scoregate.kernel.types.text import parse_amount
from scoregate.kernel.types.trajectories.messages import read_arguments
from scoregate.kernel.types.trajectory_steps import Message, ToolCall


class OpencodeStream(AgentStream):
    """Events `text`, `reasoning`, `tool_use`, `step_finish` and `error`, each with a `part`."""

    def feed(self, event: Mapping[str, Any]) -> None:
        """Read one event."""
        part = find_mapping(event, "part")
        match event.get("type"):
            case "text" | "reasoning" as kind:
                self.reader.steps.append(
                    Message("assistant" if kind == "text" else "reasoning", str(part.get("text") or ""))
                )
                self.output = str(part.get("text") or "") if kind == "text" else self.output
            case "tool_use":
                self._add_call(part)
            case "step_finish":
                tokens, cache = find_mapping(part, "tokens"), find_mapping(part, "tokens", "cache")
                read = parse_amount(cache.get("read")) or 0
                given = (parse_amount(tokens.get("input")) or 0) + read + (parse_amount(cache.get("write")) or 0)
                produced = (parse_amount(tokens.get("output")) or 0) + (parse_amount(tokens.get("reasoning")) or 0)
                self.add_usage(given, produced, read, part.get("cost"))
                self.stop_reason = str(part.get("reason") or "")
                self.ended = self.stop_reason not in ("", "tool-calls")
            case "error":
                problem = find_mapping(event, "error")
                data = find_mapping(problem, "data")
                self.error = str(data.get("message") or problem.get("name") or event.get("error") or "error")

    def _add_call(self, part: Mapping[str, Any]) -> None:
        state = find_mapping(part, "state")
        name = str(part.get("tool") or "(no name)")
        call = ToolCall(name, read_arguments(state.get("input")))
        if state.get("status") == "error":
            call = replace(call, error=str(state.get("error") or "error"))
        else:
            call = replace(call, result=state.get("output"))
        started, ended = (parse_amount(find_mapping(state, "time").get(name)) for name in ("start", "end"))
        if started is not None and ended is not None and ended >= started:
            call = replace(call, duration_s=(ended - started) / 1000)
        self.reader.steps.append(call)
