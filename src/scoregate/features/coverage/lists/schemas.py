"""Tools in documents: lists of MCP servers and of providers' APIs, and the operations of OpenAPI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scoregate.features.coverage.lists.tools import ToolArgument, ToolDefinition
from scoregate.kernel.types.json_io import to_text

MOST_TOOLS = 2_000
_MOST_ARGUMENTS = 200
_MOST_VALUES = 200
_MOST_REFERENCES = 20
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_SCHEMAS = ("inputSchema", "input_schema", "parameters", "schema")
_JSON_BODY = "application/json"


def read_document(document: Any) -> list[ToolDefinition]:
    """The tools of a document.

    Args:
        document: the result of an MCP server's `tools/list`; a list of tools as OpenAI's or Anthropic's APIs take them,
            or of names; or a description in OpenAPI.

    Raises:
        ValueError: it is none of these, or has too many tools.
    """
    if isinstance(document, Mapping) and isinstance(document.get("result"), Mapping):
        document = document["result"]  # the response of JSON-RPC
    if isinstance(document, Mapping) and isinstance(document.get("paths"), Mapping):
        tools = list(_read_operations(document))
    else:
        listed = document.get("tools") if isinstance(document, Mapping) else document
        if not isinstance(listed, list | tuple):
            raise ValueError("it has neither a list of `tools` nor the `paths` of OpenAPI")
        tools = [read_tool(each) for each in listed]
    if len(tools) > MOST_TOOLS:
        raise ValueError(f"it has more than {MOST_TOOLS:,} tools")
    return tools


def read_tool(value: Any) -> ToolDefinition:
    """A tool of a list.

    Args:
        value: a name, or a mapping with the name and the JSON Schema of the arguments.

    Raises:
        ValueError: it has no name.
    """
    if isinstance(value, str) and value:
        return ToolDefinition(value)
    tool = value.get("function") if isinstance(value, Mapping) and isinstance(value.get("function"), Mapping) else value
    name = tool.get("name") if isinstance(tool, Mapping) else None
    if not isinstance(tool, Mapping) or not isinstance(name, str) or not name:
        raise ValueError(f"a tool has no name: {value!r:.100}")
    schema: Mapping[str, Any] = next((tool[key] for key in _SCHEMAS if isinstance(tool.get(key), Mapping)), {})
    return ToolDefinition(name, tuple(_read_arguments(schema, schema)))


def _read_operations(document: Mapping[str, Any]) -> Iterator[ToolDefinition]:
    """Each operation as a tool with the name `operationId`, or `GET /path`, and parameters and body as arguments."""
    for path, shared in document["paths"].items():
        item = _resolve(shared, document)
        for method, operation in ((each, item.get(each)) for each in _METHODS):
            if not isinstance(operation, Mapping):
                continue
            name = operation.get("operationId")
            arguments = [
                ToolArgument(str(parameter["name"]), _list_values(parameter.get("schema", parameter), document))
                for parameter in (_resolve(each, document) for each in _list_parameters(item, operation))
                if "name" in parameter
            ]
            content = _resolve(operation.get("requestBody"), document).get("content")
            body = content.get(_JSON_BODY) if isinstance(content, Mapping) else None
            if isinstance(body, Mapping):
                arguments += _read_arguments(body.get("schema"), document)
            unique = {each.name: each for each in reversed(arguments[:_MOST_ARGUMENTS])}
            yield ToolDefinition(
                name if isinstance(name, str) and name else f"{method.upper()} {path}", tuple(unique.values())[::-1]
            )


def _list_parameters(*owners: Mapping[str, Any]) -> Iterator[Any]:
    for owner in owners:
        given = owner.get("parameters")
        yield from given if isinstance(given, list) else ()


def _read_arguments(schema: Any, document: Mapping[str, Any]) -> Iterator[ToolArgument]:
    """The properties of an object, also of the parts of `allOf`."""
    schema = _resolve(schema, document)
    parts = schema.get("allOf")
    for part in (schema, *(parts[:_MOST_REFERENCES] if isinstance(parts, list) else ())):
        properties = _resolve(part, document).get("properties")
        if isinstance(properties, Mapping):
            for name, each in list(properties.items())[:_MOST_ARGUMENTS]:
                yield ToolArgument(str(name), _list_values(each, document))


def _list_values(schema: Any, document: Mapping[str, Any], depth: int = 0) -> tuple[str, ...]:
    """The values of an enumeration, also in an array and in alternatives; none if others are allowed, too."""
    schema = _resolve(schema, document)
    if isinstance(values := schema.get("enum"), list):
        return tuple(dict.fromkeys(to_text(each) for each in values[:_MOST_VALUES] if each is not None))
    if "const" in schema:
        return (to_text(schema["const"]),)
    if depth < 3 and isinstance(schema.get("items"), Mapping):
        return _list_values(schema["items"], document, depth + 1)
    alternatives = next((schema[key] for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list)), ())
    resolved = [_resolve(each, document) for each in alternatives[:_MOST_REFERENCES]]
    value_lists = [
        _list_values(each, document, depth + 1) for each in resolved if depth < 3 and each.get("type") != "null"
    ]
    return tuple(dict.fromkeys(value for each in value_lists for value in each)) if all(value_lists) else ()


def _resolve(schema: Any, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mapping that a `$ref` within the document names; an empty one for anything else."""
    for _ in range(_MOST_REFERENCES):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        schema = _find(document, reference.removeprefix("#").split("/")[1:]) if reference.startswith("#/") else {}
    return {}


def _find(document: Any, names: Sequence[str]) -> Any:
    for name in names:
        key = name.replace("~1", "/").replace("~0", "~")  # in this order: ~01 is ~1
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


def locate(tools: Sequence[ToolDefinition], path: str, text: str) -> list[ToolDefinition]:
    """The tools with their places: the line of the file that first has the name after those of `name` or `operationId`.

    Args:
        tools: the tools.
        path: the file, relative to the project.
        text: its content.
    """
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, _, value = line.strip().lstrip("-{ ").partition(":")
        if key.strip().strip("\"'") in ("name", "operationId"):
            lines.setdefault(value.partition(",")[0].strip(" \t\"'}"), number)
    return [replace(tool, path=path, line=lines.get(tool.name, 1)) for tool in tools]
