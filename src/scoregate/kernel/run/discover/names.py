"""What the names in a Python file are: where they are imported from, and what made their values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from scoregate.kernel.run.discover.entry_points import ENTRY_POINTS, PARTIAL, find_entry_point

STAR = "*"
SDKS = ("scoregate", "autoblocks")
_IMPORT_FUNCTIONS = ("importlib.import_module", "__import__")
_MOST_PARTS = 8  # of an expression that is followed, as in `helpers.Runner(model).start()`
_LONGEST = 500
Resolve: TypeAlias = Callable[[str], str]
ExportedNames: TypeAlias = Callable[[str], Mapping[str, str]]


def is_sdk_path(path: str) -> bool:
    """Whether a dotted path is in one of the packages that start suites."""
    return path.partition(".")[0] in SDKS


def collect_names(
    tree: ast.AST, resolve: Resolve | None = None, exported: ExportedNames = lambda _: {}
) -> dict[str, str]:
    """The dotted path of every name that an import binds, or that is an alias, anywhere in the file.

    `run = run_test_suite` and `run = partial(run_test_suite, …)` make aliases of entry points, and
    `sdk = import_module("scoregate")` makes one of a package. The path of a relative import begins with its dots.

    Args:
        tree: the syntax tree of the file.
        resolve: returns the path at which an imported object is defined. A module of the project may import it, too.
        exported: returns the names that a star import of a module binds, each with its path.
    """
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        for name, path in _imported_names(node):
            # A star import must not hide an explicit import of an entry point: suites were left out without a word.
            if name.startswith(STAR) or find_entry_point(names.get(name)) is None or _is_explicit(node):
                names[name] = path
    for module in [path for name, path in names.items() if name.startswith(STAR)]:
        others = exported(module)
        names |= {name: others[name] for name in others if find_entry_point(names.get(name)) is None}
    if resolve is not None:
        names = {name: path if name.startswith(STAR) else resolve(path) for name, path in names.items()}
    # In a second walk: an alias may be used above the import in the file.
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            function = node.value
            if isinstance(function, ast.Call) and function.args and dotted_path(function.func, names) == PARTIAL:
                function = function.args[0]
            alias = dotted_path(function, names)
            if alias is not None and (is_sdk_path(alias) or isinstance(function, ast.Call)):
                names |= {target.id: alias for target in node.targets if isinstance(target, ast.Name)}
    return names


def _is_explicit(node: ast.AST) -> bool:
    return not (isinstance(node, ast.ImportFrom) and any(alias.name == STAR for alias in node.names))


def _imported_names(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that an import binds. A star import also has a name of its own: the star and its module."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == STAR:
                yield f"{STAR}{module}", module
                paths = {name: f"{module}.{name}" for entry_point in ENTRY_POINTS for name in entry_point.names}
                # The star may import any entry point of an SDK.
                yield from ((name, path) for name, path in paths.items() if find_entry_point(path) is not None)
            else:
                yield alias.asname or alias.name, join_path(module, (alias.name,))


def join_path(module: str, parts: Iterable[str]) -> str:
    """The dotted path of a part of a module; the module may be the dots of a relative import."""
    rest = ".".join(parts)
    return f"{module}{rest}" if not rest or module.endswith(".") else f"{module}.{rest}"


def list_imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The dotted paths of what an import may execute."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    else:
        module = "." * node.level + (node.module or "")
        yield from (module if each.name == STAR else join_path(module, (each.name,)) for each in node.names)


def dotted_path(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """The dotted path of an expression; None if it does not begin with an imported name or module."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        return None if (left := dotted_path(node.value, names)) is None else f"{left}.{node.attr}"
    if not isinstance(node, ast.Call) or not node.args:
        return None
    last = node.args[-1].value if isinstance(node.args[-1], ast.Constant) else None
    if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) == 2 and isinstance(last, str):
        return None if (left := dotted_path(node.args[0], names)) is None else f"{left}.{last}"
    return _imported_module(node, names)


def _imported_module(call: ast.Call, names: Mapping[str, str]) -> str | None:
    """The module of `import_module("module")`."""
    function, name = call.func, call.args[0].value if isinstance(call.args[0], ast.Constant) else None
    called = (
        function.id if isinstance(function, ast.Name) and function.id not in names else dotted_path(function, names)
    )
    return name if called in _IMPORT_FUNCTIONS and isinstance(name, str) and name.strip(".") else None


Objects: TypeAlias = Mapping[str, tuple[str, ...]]


def collect_objects(tree: ast.AST, names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The paths that the values of local names come from.

    They are those of the function or class whose call made a value, as in `runner = helpers.Runner()`, and those of the
    bases of a class; `self` has the bases of all classes.
    """
    objects: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bases = tuple(path for base in node.bases for path in find_paths(base, names, objects))
            if bases:
                objects[node.name] = bases
                # `self` may belong to any class of the file, so it has the bases of all.
                objects["self"] = tuple(dict.fromkeys((*objects.get("self", ()), *bases)))[:_MOST_PARTS]
            continue
        for target, value in _bindings(node):
            if target not in names and (paths := find_paths(value, names, objects)):
                objects[target] = paths
    return objects


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        targets, value = [node.target], node.value
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        targets, value = [node.target], node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets, value = [node.optional_vars], node.context_expr
    if value is not None:
        yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))


def find_paths(node: ast.expr, names: Mapping[str, str], objects: Objects) -> tuple[str, ...]:
    """The dotted paths of an expression, through calls: `helpers.Runner(model).start` is `helpers.Runner.start`."""
    parts: list[str] = []
    for _ in range(2 * _MOST_PARTS):
        path = names.get(node.id) if isinstance(node, ast.Name) else None
        if path is None and isinstance(node, ast.Call) and node.args:
            path = _imported_module(node, names)
        if path is not None:
            return (join_path(path, reversed(parts)),)
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Await | ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Name):
            known = (path for path in objects.get(node.id, ()) if len(path) < _LONGEST)
            return tuple(join_path(path, reversed(parts)) for path in known)
        else:
            break
        if len(parts) > _MOST_PARTS:
            break
    return ()
