"""The tools that lists have."""

from __future__ import annotations

from scoregate.kernel.types.records import record


@record
class ToolArgument:
    """An argument of a tool, and the values that it may have; none if it may have any."""

    name: str
    values: tuple[str, ...] = ()


@record
class ToolDefinition:
    """A tool that an agent can call, and where it is defined, relative to the project.

    The line is 0, and the path is the name, if a server lists the tool.
    """

    name: str
    arguments: tuple[ToolArgument, ...] = ()
    path: str = ""
    line: int = 1
