"""Where a Python file is in its package, so that its relative imports and those of its project work."""

from __future__ import annotations

import ast
import os
import posixpath
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath

from scoregate.kernel.run.discover.files import DEFAULT_FOLDER, PYTHON, open_nonblocking
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


_ENVIRONMENTS = (".venv", "venv")
_MOST_PACKAGE_FOLDERS = 20
_MOST_FILES = 40  # of a package
_MOST_BYTES = 256 * 1024
# An SDK's name in an import; other words would find packages that only mention one.
_IMPORTS = (b"import scoregate", b"from scoregate", b"import autoblocks", b"from autoblocks")


@dataclass(slots=True)
class InstalledPackages:
    """The packages in some folders of installed packages. Only those are found that import an SDK which starts suites.

    Looked at are the modules directly in a package's folder, so that a large package without suites costs little.
    """

    folders: Sequence[str] = ()
    _found: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, name: str) -> tuple[str, ...]:
        """The folders that hold the top-level package or module of this name, if it imports an SDK."""
        if name not in self._found:
            # A name that no import has, or one of Python's own.
            is_known = not name.isidentifier() or name in sys.stdlib_module_names
            holders = () if is_known else (each for each in self.folders if _starts_suites(each, name))
            self._found[name] = tuple(islice(holders, 1))
        return self._found[name]


def find_site_packages(root: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of installed packages: those of the project's virtual environment, and of this process.

    Args:
        root: the folder of the project.
        environ: the host's environment.
    """
    homes = [root / name for name in _ENVIRONMENTS]
    if active := environ.get("VIRTUAL_ENV"):
        homes.append(Path(active))
    folders = dict.fromkeys(str(path) for home in homes for path in _list_site_packages(home))
    folders |= dict.fromkeys(path for path in sys.path if path.endswith(("site-packages", "dist-packages")))
    return tuple(folders)[:_MOST_PACKAGE_FOLDERS]


def _list_site_packages(home: Path) -> Iterator[Path]:
    try:
        yield from sorted(home.glob("lib/python3.*/site-packages"))[:2]
        yield from sorted(home.glob("Lib/site-packages"))[:1]
    except OSError:
        return


def _starts_suites(folder: str, name: str) -> bool:
    package = Path(folder, name)
    try:
        with os.scandir(package) as entries:
            paths = [entry.path for entry in islice(entries, 10 * _MOST_FILES) if entry.name.endswith(PYTHON)]
    except OSError:  # a module of one file
        paths = [f"{package}{PYTHON}"]
    return any(any(word in content for word in _IMPORTS) for content in map(_read, sorted(paths)[:_MOST_FILES]))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", opener=open_nonblocking) as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""
