"""The list of a server's tools during a run: digests for the record, and a check that it stays the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scoregate.engine.trial import record_tools
from scoregate.errors import McpServerError
from scoregate.kernel.compare.tool_changes import describe_tool_changes
from scoregate.kernel.types.event_values import ListedTool
from scoregate.kernel.types.json_io import dump

_DIGITS = 16


class ToolList:
    """The tools that a server lists, the same in all of its sessions.

    Args:
        server: the name of the server.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._known: tuple[ListedTool, ...] | None = None

    def check(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Record the tools of a session, and compare them with those of the first.

        Raises:
            McpServerError: it lists no tool, one twice, or others than before.
        """
        listed = tuple(_digest_tools(self._server, tools))
        if not listed:
            raise McpServerError(f"the MCP server {self._server} lists no tools")
        if repeated := find_repeated(each.name for each in listed):
            raise McpServerError(f"the MCP server {self._server} lists two tools with the name {repeated:.100}")
        if self._known is None:
            self._known = listed
        if change := describe_tool_changes(listed, self._known):
            raise McpServerError(
                f"the MCP server {self._server} changed its list of tools during the run: {change}",
                advice="Cases with other tools are not comparable. Start the server so that its list stays the same.",
            )
        record_tools(listed)


def find_repeated(names: Iterable[str]) -> str:
    """The first name that comes twice; empty if none does."""
    seen = set[str]()
    return next((name for name in names if name in seen or seen.add(name)), "")  # type: ignore[func-returns-value]


def _digest_tools(server: str, tools: Sequence[Mapping[str, Any]]) -> Iterator[ListedTool]:
    for tool in tools:
        texts = [tool.get(name) for name in ("title", "description", "annotations")]
        result = tool.get("outputSchema")
        yield ListedTool(
            server,
            str(tool["name"]),
            _digest(texts),
            _digest(tool.get("inputSchema")),
            "" if result is None else _digest(result),
        )


def _digest(value: Any) -> str:
    return hashlib.sha256(dump(_sort(value))).hexdigest()[:_DIGITS]


def _sort(value: Any) -> Any:
    """The value with sorted keys: servers may write them in any order."""
    if isinstance(value, Mapping):
        return {key: _sort(value[key]) for key in sorted(value)}
    return [_sort(each) for each in value] if isinstance(value, list) else value
