"""Tools in Python files, which are read and never run: lists of tools, and functions that a decorator makes tools."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from scoregate.features.coverage.lists.schemas import MOST_TOOLS, read_tool
from scoregate.features.coverage.lists.tools import ToolArgument, ToolDefinition
from scoregate.kernel.types.json_io import to_text

_DECORATORS = ("tool", "function_tool", "tool_plain")
# What frameworks pass to a tool, besides the arguments that the model chooses.
_CONTEXTS = ("self", "cls", "ctx", "context", "run_context", "tool_context")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_python_tools(source: str, name: str, path: str) -> list[ToolDefinition]:
    """The tools of a Python file.

    Args:
        source: the text of the file.
        name: the name of a list at the top of the module: of functions of the module, of names, or of dicts; empty for
            all functions with a decorator such as `@tool`, `@mcp.tool()` or `@function_tool`.
        path: the file, relative to the project.

    Raises:
        ValueError: the file is not Python, the list is missing, or it has other elements.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise ValueError(f"it is not Python: {error!s:.200}") from None
    functions = {node.name: node for node in ast.walk(module) if isinstance(node, _Function)}
    if name:
        tools = [_read_element(each, functions) for each in _find_list(module, name)]
    else:
        tools = [_read_function(node) for node in functions.values() if any(map(_is_tool, node.decorator_list))]
    if not tools:
        raise ValueError("it has no function with the decorator of a tool" if not name else f"{name} is empty")
    if len(tools) > MOST_TOOLS:
        raise ValueError(f"it has more than {MOST_TOOLS:,} tools")
    return [replace(tool, path=path) for tool in tools]


def _find_list(module: ast.Module, name: str) -> list[ast.expr]:
    for node in reversed(module.body):  # the last assignment counts, as when the file is run
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if _is_annotated(node) else []  # type: ignore[attr-defined]
        value = getattr(node, "value", None)
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            if isinstance(value, ast.List | ast.Tuple | ast.Set):
                return value.elts
            raise ValueError(f"{name} is not a list that can be read without running the file")
    raise ValueError(f"it has no list {name}")


def _is_annotated(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is not None


def _read_element(node: ast.expr, functions: dict[str, _Function]) -> ToolDefinition:
    if isinstance(node, ast.Name | ast.Attribute):
        known = node.id if isinstance(node, ast.Name) else node.attr
        # A function of another module has unknown arguments.
        return _read_function(functions[known]) if known in functions else ToolDefinition(known, line=node.lineno)
    try:
        return replace(read_tool(ast.literal_eval(node)), line=node.lineno)
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"line {node.lineno} can't be read without running the file: {error!s:.200}") from None


def _read_function(node: _Function) -> ToolDefinition:
    given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    arguments = [ToolArgument(each.arg, tuple(_list_values(each.annotation))) for each in given]
    return ToolDefinition(node.name, tuple(each for each in arguments if each.name not in _CONTEXTS), line=node.lineno)


def _list_values(annotation: ast.expr | None) -> Iterator[str]:
    """The values of `Literal[...]`; none for any other type."""
    if isinstance(annotation, ast.Subscript):
        named = annotation.value
        if (named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")) == "Literal":
            elements = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            yield from (to_text(each.value) for each in elements if isinstance(each, ast.Constant))


def _is_tool(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) in _DECORATORS
