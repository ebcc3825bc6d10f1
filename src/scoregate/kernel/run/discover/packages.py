"""Where a Python file is in its package, so that its relative imports and those of its project work."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from scoregate.kernel.run.discover.files import DEFAULT_FOLDER
from scoregate.kernel.run.plan import Module

_INIT = "__init__"
_SOURCE_FOLDER = "src"


def find_relative_level(tree: ast.Module) -> int:
    """The highest number of dots of a relative import, `from ..a import b`; 0 without any.

    Imports for type checkers only don't count, and neither do those whose failure is handled: such a file also runs
    as a script.
    """
    return max((node.level for node in _walk_executed(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _walk_executed(node: ast.AST) -> Iterator[ast.AST]:
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.If) and _is_for_type_checkers(node.test):
            stack.extend(node.orelse)
        elif isinstance(node, ast.Try) and any(_handles_import_error(handler) for handler in node.handlers):
            stack.extend((*node.orelse, *node.finalbody))
        elif not isinstance(node, ast.expr):
            stack.extend(ast.iter_child_nodes(node))


def _is_for_type_checkers(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def _handles_import_error(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {each.id for each in kinds if isinstance(each, ast.Name)}
    return handler.type is None or not names.isdisjoint({"ImportError", "Exception", "BaseException"})


def locate_module(root: Path, path: str, level: int) -> Module | None:
    """The module of a file with relative imports; None if it has none, or can't be a module.

    Args:
        root: the project.
        path: the file, relative to the root.
        level: the highest number of dots of its relative imports.
    """
    file = PurePosixPath(path)
    folders = file.parts[:-1]
    depth = max(level, _count_packages(root, folders))
    # A module can't be named by a path with a dot in it.
    if not level or depth > len(folders) or any("." in part for part in (*folders[-depth:], file.stem)):
        return None
    is_package = file.stem == _INIT
    names = folders[-depth:] if is_package else (*folders[-depth:], file.stem)
    folder = PurePosixPath(*folders[:-depth])
    return Module(".".join(names), str(folder), is_package=is_package)


def locate_import_folders(root: Path, path: str) -> tuple[str, ...]:
    """The folders below the root from which the project around a file is imported, the nearest first.

    They are the folder of its top-level package, and, unless that is a package, the folder that holds `evals/` with the
    folder `src` in it. The root itself and its `src` are always searched.

    Args:
        root: the project.
        path: the file, relative to the root.
    """
    folders = PurePosixPath(path).parts[:-1]
    packages = _count_packages(root, folders)
    nearest = [folders[: len(folders) - packages]] if packages else []
    if DEFAULT_FOLDER in folders:
        project = folders[: folders.index(DEFAULT_FOLDER)]
        # The modules of a package are not imported from its own folder: its `types.py` would hide Python's.
        if project[:1] != (_SOURCE_FOLDER,) and not _count_packages(root, project):
            nearest += [project, (*project, _SOURCE_FOLDER)]
    paths = dict.fromkeys(str(PurePosixPath(*each)) for each in nearest)
    # On the path of every suite already.
    return tuple(each for each in paths if each not in (os.curdir, _SOURCE_FOLDER) and (root / each).is_dir())


def _count_packages(root: Path, folders: tuple[str, ...]) -> int:
    """How many of the innermost folders are packages, each in the one before."""
    count = 0
    while count < len(folders) and Path(root, *folders[: len(folders) - count], f"{_INIT}.py").is_file():
        count += 1
    return count
