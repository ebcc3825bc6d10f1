"""Claude Code: `claude -p PROMPT --output-format stream-json --verbose`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.agents.streams.stream import AgentStream, find_mapping
from scoregate.kernel.types.text import parse_amount


class ClaudeStream(AgentStream):
    """Events `system`, `assistant`, `user` and `result`; messages of sub-agents name the call that started them."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}

    def feed(self, event: Mapping[str, Any]) -> None:
        """Read one event."""
        kind = event.get("type")
        if kind == "system" and isinstance(event.get("model"), str):
            self.model = event["model"]
        elif kind in ("assistant", "user") and (message := find_mapping(event, "message")):
            self._name_agents(message)
            parent = event.get("parent_tool_use_id")
            self.reader.add([{"role": kind, **message}], self._agents.get(str(parent), "") if parent else "")
        elif kind == "result":
            self._end(event)

    def _name_agents(self, message: Mapping[str, Any]) -> None:
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            given = find_mapping(block, "input")
            if given.get("subagent_type") and isinstance(block.get("id"), str):
                self._agents[block["id"]] = str(given["subagent_type"])

    def _end(self, event: Mapping[str, Any]) -> None:
        self.ended = True
        result = event.get("result")
        self.output = result if isinstance(result, str) else None
        subtype = str(event.get("subtype") or "")
        self.stop_reason = str(event.get("stop_reason") or subtype)
        # A failed call of the API is reported as "success" with `is_error` and the message as the result.
        if event.get("is_error") or subtype.startswith("error"):
            errors = event.get("errors")
            self.error = self.output or "; ".join(map(str, errors if isinstance(errors, list) else ())) or subtype
        usage = find_mapping(event, "usage")
        read = parse_amount(usage.get("cache_read_input_tokens")) or 0
        written = parse_amount(usage.get("cache_creation_input_tokens")) or 0
        given = (parse_amount(usage.get("input_tokens")) or 0) + read + written
        self.add_usage(given, usage.get("output_tokens"), read, event.get("total_cost_usd"))
