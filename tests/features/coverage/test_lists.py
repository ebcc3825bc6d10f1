"""Lists of tools: MCP, providers' APIs, OpenAPI and Python, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoregate.features.coverage.lists.files import read_tool_list
from scoregate.features.coverage.lists.tools import ToolDefinition

SCHEMA = {
    "type": "object",
    "$defs": {"sort": {"enum": ["new", "old"]}},
    "properties": {
        "query": {"type": "string"},
        "sort": {"anyOf": [{"$ref": "#/$defs/sort"}, {"type": "null"}]},
        "fields": {"type": "array", "items": {"enum": ["a", 1, True]}},
        "free": {"anyOf": [{"enum": ["a"]}, {"type": "string"}]},
        "loop": {"$ref": "#/properties/loop"},
    },
}
ARGUMENTS = {"query": (), "sort": ("new", "old"), "fields": ("a", "1", "true"), "free": (), "loop": ()}


def read(root: Path, name: str, content: object, reference: str = "") -> list[ToolDefinition]:
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    (root / name).write_text(text)
    return read_tool_list(root, reference or name)


def list_arguments(tool: ToolDefinition) -> dict[str, tuple[str, ...]]:
    return {each.name: each.values for each in tool.arguments}


def test_lists_of_mcp_servers_and_providers_are_read_with_the_lines_of_their_tools(tmp_path: Path) -> None:
    for document in (
        {"tools": [{"name": "first"}, {"name": "search", "inputSchema": SCHEMA}]},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {"tools": [{"name": "first"}, {"name": "search", "inputSchema": SCHEMA}]},
        },
        [{"name": "first", "input_schema": {}}, {"name": "search", "input_schema": SCHEMA}],
        ["first", {"type": "function", "function": {"name": "search", "parameters": SCHEMA}}],
    ):
        first, search = read(tmp_path, "tools.json", document)
        assert (first.name, first.arguments, search.name) == ("first", (), "search")
        assert list_arguments(search) == ARGUMENTS
        line = json.dumps(document, indent=1).splitlines().index
        assert search.line == next(
            number
            for number, text in enumerate((tmp_path / "tools.json").read_text().splitlines(), 1)
            if "search" in text
        ), line
        assert search.path == "tools.json"


OPENAPI = """
openapi: 3.1.0
paths:
  /orders/{id}:
    parameters:
      - {name: id, in: path, schema: {type: string}}
    get:
      operationId: get_order
      parameters:
        - $ref: '#/components/parameters/Format'
    post:
      requestBody:
        content:
          application/json:
            schema:
              allOf:
                - $ref: '#/components/schemas/Order'
components:
  parameters:
    Format: {name: format, in: query, schema: {enum: [json, xml]}}
  schemas:
    Order:
      type: object
      properties:
        priority: {enum: [1, 2]}
"""


def test_operations_of_openapi_are_tools(tmp_path: Path) -> None:
    get, post = read(tmp_path, "api.yaml", OPENAPI)
    assert (get.name, get.line, list_arguments(get)) == ("get_order", 8, {"id": (), "format": ("json", "xml")})
    assert (post.name, list_arguments(post)) == ("POST /orders/{id}", {"id": (), "priority": ("1", "2")})


PYTHON = """
raise SystemExit("this file must not run")
from typing import Literal
import other

@mcp.tool()
def search(ctx, query: str, *, sort: Literal["new", "old"] = "new"): ...

@function_tool
async def book(room): ...

def helper(x): ...

TOOLS: list = [search, helper, other.pay, "named", {"name": "raw", "parameters": {"properties": {"a": {"const": 5}}}}]
EMPTY = []
COMPUTED = make()
CALLED = [make()]
"""


def test_python_files_are_read_and_not_run(tmp_path: Path) -> None:
    search, book = read(tmp_path, "tools.py", PYTHON)
    assert (search.name, search.line, list_arguments(search)) == ("search", 7, {"query": (), "sort": ("new", "old")})
    assert (book.name, book.line) == ("book", 10)
    listed = read_tool_list(tmp_path, "tools.py:TOOLS")
    assert [each.name for each in listed] == ["search", "helper", "pay", "named", "raw"]
    assert list_arguments(listed[-1]) == {"a": ("5",)}
    assert listed[-1].line == 14
    for name, message in (
        ("EMPTY", "EMPTY is empty"),
        ("COMPUTED", "COMPUTED is not a list that can be read without running"),
        ("CALLED", "line 17 can't be read without running the file"),
        ("MISSING", "it has no list MISSING"),
    ):
        with pytest.raises(ValueError, match=message):
            read_tool_list(tmp_path, f"tools.py:{name}")


def test_files_without_tools_have_a_reason(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("/etc/hostname")
    aliases = "a: &a [1]\ntools: [*a]\n"
    for name, text, message in (
        ("missing.json", None, "can't be read: No such file"),
        ("link.json", None, "outside of the project"),
        ("a.json", "{", "can't be parsed"),
        ("b.json", "[" * 5_000, "can't be parsed"),
        ("c.json", "5", "neither a list of `tools` nor the `paths`"),
        ("d.json", '[{"description": "x"}]', "a tool has no name"),
        ("e.json", json.dumps(["x"] * 2_001), "more than 2,000 tools"),
        ("f.json", " " * (4 << 20) + "[]", "over the limit"),
        ("g.yaml", aliases, r"can't be parsed: g.yaml:2: \*a is an alias"),
        ("k.yaml", "tools: []\ntools: []\n", "k.yaml:2: the key 'tools' occurs twice, first in line 1; keep one"),
        ("h.yaml", "a: [", "can't be parsed"),
        ("i.py", "def broken(:", "it is not Python"),
        ("j.py", "x = 1", "no function with the decorator of a tool"),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=message):
            read_tool_list(tmp_path, name)
