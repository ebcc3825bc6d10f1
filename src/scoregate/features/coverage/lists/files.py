"""Read the files of tools that settings name."""

from __future__ import annotations

from pathlib import Path

from pydantic_core import from_json

from scoregate.features.coverage.lists.python_source import read_python_tools
from scoregate.features.coverage.lists.schemas import locate, read_document
from scoregate.features.coverage.lists.tools import ToolDefinition
from scoregate.kernel.host.file_access import read_project_file
from scoregate.kernel.types.yaml_document import parse_yaml

_MOST_BYTES = 4 * 1024 * 1024
_YAML = (".yaml", ".yml")


def read_tool_list(root: Path, reference: str) -> list[ToolDefinition]:
    """The tools of a file.

    Args:
        root: the project.
        reference: a JSON or YAML file with the result of an MCP server's `tools/list`, a list of tools or a description
            in OpenAPI; a Python file with tools; or a list in one: `agent/tools.py:TOOLS`.

    Raises:
        ValueError: the file can't be read, or has no tools.
    """
    path, _, name = reference.partition(":")
    try:
        data = read_project_file(root / path, _MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"it can't be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it is over the limit of {_MOST_BYTES:,} bytes")
    text = data.decode("utf-8", "replace")
    if path.endswith(".py"):
        return read_python_tools(text, name, path)
    try:
        document = parse_yaml(text, path).to_plain() if path.endswith(_YAML) else from_json(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it can't be parsed: {error!s:.200}") from None
    return locate(read_document(document), path, text)
