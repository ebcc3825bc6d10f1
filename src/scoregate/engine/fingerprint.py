"""What a score depends on besides the output, as digests: of code as a syntax tree, and of parameters."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from scoregate.core.events import Fingerprint
from scoregate.core.json_io import dump, sort_sets, to_plain

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def sources_by_name(module: str, qualname: str) -> Iterator[str]:
    """What stands at the top of a module under the first part of a name, and all that it refers to.

    Raises:
        LookupError: nothing does.
    """
    name = qualname.split(".<locals>", maxsplit=1)[0].split(".", maxsplit=1)[0]
    if name not in _module_definitions(module):
        raise LookupError(f"{module}.{qualname}")
    yield from _referenced_sources(module, [name])


def sources_by_code(module: str, code: CodeType) -> Iterator[str]:
    """The function that this is the code of, wherever in a module it stands, and all that it refers to.

    Raises:
        LookupError: it is not there.
    """
    found = [node for node in _module_functions(module) if _has_code(node, code)]
    if not found:
        raise LookupError(f"{module}.{code.co_name}")
    for node in found:
        yield _node_text(node)
    yield from _referenced_sources(module, [name for node in found for name in _referenced_names(node)])


def clear_source_cache() -> None:
    """Read every module anew: for who changes them while they are loaded."""
    _module_tree.cache_clear()
    _module_definitions.cache_clear()


def _has_code(node: _Function, code: CodeType) -> bool:
    """Decorators belong to the code of a function; of several lambdas in a line the parameters may tell which."""
    decorators = () if isinstance(node, ast.Lambda) else node.decorator_list
    line = min(each.lineno for each in (node, *decorators))
    parameters = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    return (line, name, parameters) == (
        code.co_firstlineno,
        code.co_name,
        list(code.co_varnames[: code.co_argcount]),
    )


def _referenced_sources(module: str, wanted: Sequence[str]) -> Iterator[str]:
    definitions, waiting, seen = _module_definitions(module), list(wanted), set[str]()
    while waiting:
        name = waiting.pop()
        if name in definitions and name not in seen:
            seen.add(name)
            for node in definitions[name]:
                yield _node_text(node)
                waiting.extend(_referenced_names(node))


def _referenced_names(node: ast.AST) -> list[str]:
    return sorted({each.id for each in ast.walk(node) if isinstance(each, ast.Name)})


@cache
def _module_tree(module: str) -> ast.Module:
    """Of a module that has no source, an empty one."""
    try:
        return _normalize(ast.parse(inspect.getsource(sys.modules[module])))
    except (OSError, TypeError, KeyError, SyntaxError):
        return ast.Module([], [])


def _module_functions(module: str) -> Iterator[_Function]:
    return (node for node in ast.walk(_module_tree(module)) if isinstance(node, _Function))


@cache
def _module_definitions(module: str) -> dict[str, list[ast.AST]]:
    found: dict[str, list[ast.AST]] = {}
    for node in _walk_statements(_module_tree(module).body):
        if isinstance(node, _Definition):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, _Assignment) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
                found.setdefault(name, []).append(node.value)
    return found


def _walk_statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements of a module, those under `if`, `try` and `with` included."""
    for node in nodes:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            for part in ("body", "handlers", "orelse", "finalbody"):
                yield from _walk_statements(getattr(node, part, ()))


def _node_text(node: object) -> str:
    """The syntax tree as text that is the same under every Python: `ast.dump` differs between versions."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []) and name != "kind")
        return f"{type(node).__name__}({','.join(f'{name}={_node_text(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_node_text, node))}]"
    return repr(node)


def _normalize(tree: ast.Module) -> ast.Module:
    """Without docstrings and annotations, and without the types that generic bases are given.

    Some versions of Python put an empty text at the end of a format within a format.
    """
    for node in ast.walk(tree):
        if isinstance(node, _Definition) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.ClassDef):
            node.bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.JoinedStr):
            node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    return tree


_PLAIN_MODULES = ("builtins", "abc", "typing", "typing_extensions")


def fingerprint_object(
    evaluator: object, *, ignore: Iterable[str] = (), model: str | None = None, prompt: str | None = None
) -> Fingerprint:
    """The fingerprint of an evaluator.

    The source is that of the user's classes and of everything in their modules that these refer to; a class of ours
    counts by its `version`.

    Where the source is not to be had (code typed into a console, classes made at run time) `source` is None.

    Args:
        evaluator: any object. ignore: attributes that do not change a score.
        model: the one that it asks, where it knows that better than its attribute `model`.
        prompt: a digest of what that is asked, where the evaluator knows it.
    """
    told = model or getattr(evaluator, "model", None)
    named = isinstance(told, str)
    return Fingerprint(
        source=_source_digest(type(evaluator)),
        prompt=prompt,
        parameters=digest(_parameters(evaluator, {*ignore, "model"} if named else {*ignore})),
        model=told if named else None,
    )


def _source_digest(cls: type) -> str | None:
    try:
        return digest(*_class_sources(cls))
    except (LookupError, RecursionError):
        return None


def _class_sources(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        if base.__module__.split(".")[0] == "scoregate":
            yield f"{base.__qualname__} {base.__dict__.get('version', 1)}"
        elif base.__module__ not in _PLAIN_MODULES or not hasattr(sys.modules[base.__module__], base.__name__):
            yield from sources_by_name(base.__module__, base.__qualname__)


def _parameters(evaluator: object, ignore: set[str]) -> str:
    attributes = sorted(_attributes(evaluator).items())
    own = ((name, value) for name, value in attributes if name not in ignore and _is_parameter(name, value))
    return ",".join(f"{name}={stable_text(value)}" for name, value in own)


def _is_parameter(name: str, value: object) -> bool:
    """Private values count where they are plain, as constructors keep them; a cache or a client does not."""
    return not name.startswith("_") or (name[1:2] != "_" and isinstance(value, str | int | float | bool | None))


def _attributes(evaluator: object) -> dict[str, Any]:
    slots = (cls.__dict__.get("__slots__", ()) for cls in type(evaluator).__mro__)
    names = [name for given in slots for name in ((given,) if isinstance(given, str) else given)]
    in_slots = {name: getattr(evaluator, name) for name in names if hasattr(evaluator, name)}
    return in_slots | getattr(evaluator, "__dict__", {})


def stable_text(value: Any) -> str:
    """A value as JSON in which what has no JSON form stands as a name, so that no address of memory gets in."""
    if hasattr(value, "__qualname__"):
        return f"<{value.__qualname__}>"
    if isinstance(value, Iterator):
        return f"<{type(value).__qualname__}>"
    try:
        return dump(to_plain(sort_sets(value))).decode()
    except Exception:  # whatever a foreign object raises when it is written
        return f"<{type(value).__qualname__}>"


def digest(*parts: str) -> str:
    """16 hexadecimal digits."""
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def fingerprint_function(function: Callable[..., Any]) -> Fingerprint:
    """The fingerprint of a function, a lambda, a method, a partial, or an object that can be called.

    The source is that of the function and of all in its module that it refers to; the parameters are what a partial
    was given, and what a function inside of another one took from there. A function of ours counts by its name.

    Where the source is not to be had `source` is None.
    """
    function, given = _unwrap(function)
    if inspect.ismethod(function):
        owner = fingerprint_object(function.__self__)
        return Fingerprint(owner.source, parameters=digest(owner.parameters or "", function.__name__, *given))
    if not isinstance(function, FunctionType):
        own = fingerprint_object(function)
        return Fingerprint(own.source, parameters=digest(own.parameters or "", *given))
    try:
        source = digest(*_function_sources(function, set()))
    except (LookupError, RecursionError):
        source = None
    return Fingerprint(source, parameters=digest(*_closure_values(function), *given))


def _unwrap(function: Any) -> tuple[Any, list[str]]:
    """What is called in the end, and what it is given before."""
    given: list[str] = []
    while isinstance(function, functools.partial):
        given += [stable_text(list(function.args)), stable_text(function.keywords)]
        function = function.func
    return inspect.unwrap(function), given


def _function_sources(function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    if function in seen:
        return
    seen.add(function)
    if function.__module__.split(".")[0] == "scoregate":
        yield function.__qualname__
        return
    yield from sources_by_code(function.__module__, function.__code__)
    for _, value in _closure_cells(function):
        if isinstance(value, FunctionType):
            yield from _function_sources(value, seen)


def _closure_values(function: FunctionType) -> Iterator[str]:
    for name, value in _closure_cells(function):
        yield f"{name}={stable_text(value)}"


def _closure_cells(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What it took from the functions around it; a name that these have not set yet is left out."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
