"""Changes of the tools that a suite's MCP servers list, compared with the baseline's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from scoregate.kernel.types.event_values import ListedTool

_Key: TypeAlias = tuple[str, str]
_PARTS = {"arguments": "arguments", "result": "result", "description": "description"}
_MOST_SHOWN = 5


def describe_tool_changes(tools: Sequence[ListedTool], base_tools: Sequence[ListedTool]) -> str:
    """Describe how the listed tools differ from the baseline's.

    Args:
        tools: the tools of a suite; none if it connected to no MCP server.
        base_tools: the tools of its counterpart.

    Returns:
        The description; empty if nothing changed, or if the tools of a side are unknown.
    """
    if not tools or not base_tools:
        return ""
    names = {each.server for each in tools} | {each.server for each in base_tools}
    # A renamed server is the same one if there is no other.
    is_single = len({each.server for each in tools}) == len({each.server for each in base_tools}) == 1
    new, old = _by_name(tools, is_single=is_single), _by_name(base_tools, is_single=is_single)
    changes = list(_list_changes(new, old, with_server=len(names) > 1 and not is_single))
    more = f" and {len(changes) - _MOST_SHOWN:,} more" if len(changes) > _MOST_SHOWN else ""
    return f"tools changed: {', '.join(changes[:_MOST_SHOWN])}{more}" if changes else ""


def _by_name(tools: Sequence[ListedTool], *, is_single: bool) -> dict[_Key, ListedTool]:
    return {("" if is_single else tool.server, tool.name): tool for tool in tools}


def _list_changes(
    new: Mapping[_Key, ListedTool], old: Mapping[_Key, ListedTool], *, with_server: bool
) -> Iterator[str]:
    for key in sorted({*new, *old}):
        server, name = key
        title = f"{server} {name}" if with_server else name
        if (tool := new.get(key)) is None:
            yield f"{title} (gone)"
        elif (base := old.get(key)) is None:
            yield f"{title} (new)"
        elif parts := [words for part, words in _PARTS.items() if getattr(tool, part) != getattr(base, part)]:
            yield f"{title} ({', '.join(parts)})"
