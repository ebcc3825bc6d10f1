"""Folders that a Python file adds to `sys.path`, if they are literals or built from `__file__`."""

from __future__ import annotations

import ast
import os
import posixpath
import warnings
from collections.abc import Iterator, Sequence

_MOST_FOLDERS = 20
_LONGEST = 500
_WORD = b"sys.path"
# They don't change which folder a path is, as far as it can be known without the file system.
_SAME = {"str", "os.fspath"} | {
    f"{place}{name}" for place in ("os.path.", "path.", "") for name in ("abspath", "realpath")
}
_JOINS = {"Path", "PurePath", "pathlib.Path", "pathlib.PurePath", "os.path.join", "path.join", "join"}
_DIRNAMES = {"os.path.dirname", "path.dirname", "dirname"}
_CURRENT = {"Path.cwd", "pathlib.Path.cwd", "os.getcwd"}
_SAME_METHODS = {"resolve", "absolute", "as_posix"}


def find_import_folders(content: bytes, file: str) -> tuple[str, ...]:
    """The folders of a project that a file adds to `sys.path`, relative to the project's root.

    Followed are `sys.path.insert(0, …)` and `append`, at any place in the file. The path is a text, which is relative
    to the root, or is built from `__file__` with `pathlib` or `os.path`, also through names at module level.

    Args:
        content: the source of the file; without the words `sys.path` it is not parsed.
        file: its path, relative to the root.
    """
    if _WORD not in content:  # parsing takes far longer than the search for a word
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    folders: dict[str, None] = {}
    # Folders outside of the project hold no suites of it.
    for node in _added_paths(tree):
        if (path := _Paths(tree, file).find(node)) is not None and not path.startswith(("..", "/")):
            folders[path] = None
    return tuple(folders)[:_MOST_FOLDERS]


def _added_paths(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute):
            owner = _dotted(node.func.value)
            if owner in ("sys.path", "path") and node.func.attr in ("insert", "append"):  # `from sys import path`
                yield node.args[-1]  # the position of insert comes first


class _Paths:
    """Finds the path that an expression is."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        self._file = file
        self._values = dict(_assigned_names(tree))

    def find(self, node: ast.expr, depth: int = 0) -> str | None:
        """The path, relative to the root; None if only a run knows it."""
        # `a = a / "x"` leads to itself for ever.
        if depth > 20:
            return None
        path = self._find(node, depth + 1)
        return None if path is None or len(path) > _LONGEST else posixpath.normpath(path)

    def _find(self, node: ast.expr, depth: int) -> str | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            value = self._values.get(node.id)
            return self._file if node.id == "__file__" else None if value is None else self.find(value, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return self._join((node.left, node.right), depth)
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            return self._find_above(node.value, 1, depth)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
            number = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return self._find_above(node.value.value, number + 1, depth) if isinstance(number, int) else None
        return self._find_call(node, depth) if isinstance(node, ast.Call) else None

    def _find_call(self, call: ast.Call, depth: int) -> str | None:
        name, function = _dotted(call.func), call.func
        owner = function.value if isinstance(function, ast.Attribute) else None
        path: str | None = None
        if name in _CURRENT:
            path = os.curdir  # suites run in the root
        elif name in _JOINS and call.args:
            path = self._join(call.args, depth)
        elif name in _DIRNAMES and call.args:
            path = self._find_above(call.args[0], 1, depth)
        elif name in _SAME and call.args:
            path = self.find(call.args[0], depth)
        elif isinstance(function, ast.Attribute) and owner is not None and function.attr == "joinpath":
            path = self._join((owner, *call.args), depth)
        elif isinstance(function, ast.Attribute) and owner is not None and function.attr in _SAME_METHODS:
            path = self.find(owner, depth)
        return path

    def _join(self, nodes: Sequence[ast.expr], depth: int) -> str | None:
        parts = [self.find(node, depth) for node in nodes]
        known = [part for part in parts if part is not None]
        return posixpath.join(*known) if known and len(known) == len(parts) else None

    def _find_above(self, node: ast.expr, levels: int, depth: int) -> str | None:
        path = self.find(node, depth)
        return None if path is None or not 0 < levels <= 20 else posixpath.join(path, *[os.pardir] * levels)


def _assigned_names(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _dotted(node: ast.expr) -> str:
    """The dotted name of an expression; empty if it is none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""
