"""Fingerprints: digests of what a score depends on besides the output, such as code and parameters."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from scoregate.kernel.types.event_values import Fingerprint
from scoregate.kernel.types.json_io import dump, to_stable_plain

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def sources_by_name(module: str, qualname: str) -> Iterator[str]:
    """Yield the syntax trees of a top-level definition and of all definitions in the module that it refers to.

    Args:
        module: the name of the module.
        qualname: the qualified name of a class or function; its first part names the definition.

    Raises:
        LookupError: the module has no such definition.
    """
    name = qualname.split(".<locals>", maxsplit=1)[0].split(".", maxsplit=1)[0]
    if name not in _module_definitions(module):
        raise LookupError(f"{module}.{qualname}")
    yield from _referenced_sources(module, [name])


def sources_by_code(module: str, code: CodeType) -> Iterator[str]:
    """Yield the syntax trees of a function at any level of a module and of all definitions that it refers to.

    Raises:
        LookupError: the module has no function with this code.
    """
    nodes = ast.walk(_module_tree(module))
    functions = [node for node in nodes if isinstance(node, _Function) and _has_code(node, code)]
    if not functions:
        raise LookupError(f"{module}.{code.co_name}")
    for function in functions:
        yield _node_text(function)
    yield from _referenced_sources(module, [name for function in functions for name in _referenced_names(function)])


def clear_source_cache() -> None:
    """Forget the sources of modules, for callers that change a loaded module."""
    _module_tree.cache_clear()
    _module_definitions.cache_clear()


def _has_code(node: _Function, code: CodeType) -> bool:
    """Compare line, name and parameters: these can distinguish several lambdas in a line."""
    decorators = () if isinstance(node, ast.Lambda) else node.decorator_list
    line = min(part.lineno for part in (node, *decorators))  # the code of a function begins at its first decorator
    parameters = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    code_parameters = list(code.co_varnames[: code.co_argcount])
    return (line, name, parameters) == (code.co_firstlineno, code.co_name, code_parameters)


def _referenced_sources(module: str, wanted: Sequence[str]) -> Iterator[str]:
    definitions, remaining, seen = _module_definitions(module), list(wanted), set[str]()
    while remaining:
        name = remaining.pop()
        if name in definitions and name not in seen:
            seen.add(name)
            for node in definitions[name]:
                yield _node_text(node)
                remaining.extend(_referenced_names(node))


def _referenced_names(node: ast.AST) -> list[str]:
    return sorted({part.id for part in ast.walk(node) if isinstance(part, ast.Name)})


@cache
def _module_tree(module: str) -> ast.Module:
    """The syntax tree of a module; an empty tree if the module has no source."""
    try:
        return _normalize(ast.parse(inspect.getsource(sys.modules[module])))
    except (OSError, TypeError, KeyError, SyntaxError):
        return ast.Module([], [])


@cache
def _module_definitions(module: str) -> dict[str, list[ast.AST]]:
    definitions: dict[str, list[ast.AST]] = {}
    for node in _walk_statements(_module_tree(module).body):
        if isinstance(node, _Definition):
            definitions.setdefault(node.name, []).append(node)
        elif isinstance(node, _Assignment) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
                definitions.setdefault(name, []).append(node.value)
    return definitions


def _walk_statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of a module, including those under `if`, `try` and `with`."""
    for node in nodes:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            for part in ("body", "handlers", "orelse", "finalbody"):
                yield from _walk_statements(getattr(node, part, ()))


def _node_text(node: object) -> str:
    """The syntax tree as text that is the same in every Python version; `ast.dump` differs between versions."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []) and name != "kind")
        return f"{type(node).__name__}({','.join(f'{name}={_node_text(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_node_text, node))}]"
    return repr(node)


def _normalize(tree: ast.Module) -> ast.Module:
    """Remove docstrings, annotations and the type arguments of base classes."""
    for node in ast.walk(tree):
        if isinstance(node, _Definition) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.ClassDef):
            node.bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.JoinedStr):  # some Python versions add an empty text to nested format specs
            node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    return tree


_PLAIN_MODULES = ("builtins", "abc", "typing", "typing_extensions")


def fingerprint_object(
    evaluator: object, *, ignore: Iterable[str] = (), model: str | None = None, prompt: str | None = None
) -> Fingerprint:
    """Compute the fingerprint of an evaluator.

    The source consists of the user's classes and everything in their modules that they refer to. scoregate's own
    classes are represented by their `version`.

    Args:
        evaluator: any object.
        ignore: attributes that do not change a score.
        model: the name of the model that the evaluator calls; None for its attribute `model`.
        prompt: a digest of the prompt; None if the evaluator has none.

    Returns:
        The fingerprint. Its `source` is None if there is no source, as of code typed into a console.
    """
    model = model or getattr(evaluator, "model", None)
    has_model_name = isinstance(model, str)
    sources: list[str] = []
    try:
        for base in type(evaluator).__mro__:
            if base.__module__.split(".")[0] == "scoregate":
                sources.append(f"{base.__qualname__} {base.__dict__.get('version', 1)}")
            elif base.__module__ not in _PLAIN_MODULES or not hasattr(sys.modules[base.__module__], base.__name__):
                sources += sources_by_name(base.__module__, base.__qualname__)
        source = digest(*sources)
    except (LookupError, RecursionError):
        source = None
    ignored = {*ignore, "model"} if has_model_name else {*ignore}
    parameters = digest(_parameters(evaluator, ignored))
    return Fingerprint(source=source, prompt=prompt, parameters=parameters, model=model if has_model_name else None)


def _parameters(evaluator: object, ignore: set[str]) -> str:
    slots = (cls.__dict__.get("__slots__", ()) for cls in type(evaluator).__mro__)
    slot_names = [name for slot in slots for name in ((slot,) if isinstance(slot, str) else slot)]
    slot_values = {name: getattr(evaluator, name) for name in slot_names if hasattr(evaluator, name)}
    attributes = slot_values | getattr(evaluator, "__dict__", {})
    # Private attributes count only with plain values, as constructors store them; a cache or a client does not count.
    return ",".join(
        f"{name}={stable_text(value)}"
        for name, value in sorted(attributes.items())
        if name not in ignore
        and (not name.startswith("_") or (name[1:2] != "_" and isinstance(value, str | int | float | bool | None)))
    )


def stable_text(value: Any) -> str:
    """A value as JSON. An object without a JSON form is replaced by its name, so no memory address is included."""
    if hasattr(value, "__qualname__"):
        return f"<{value.__qualname__}>"
    if isinstance(value, Iterator):
        return f"<{type(value).__qualname__}>"
    try:
        return dump(to_stable_plain(value)).decode()
    except Exception:  # foreign objects may raise anything when they are serialized
        return f"<{type(value).__qualname__}>"


def digest(*parts: str) -> str:
    """Return a digest of 16 hexadecimal digits."""
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def fingerprint_function(function: Callable[..., Any]) -> Fingerprint:
    """Compute the fingerprint of a function, a lambda, a method, a partial, or a callable object.

    The source consists of the function and everything in its module that it refers to. The parameters are the
    arguments of a partial and the values of a closure. scoregate's own functions are represented by their names.

    Returns:
        The fingerprint. Its `source` is None if there is no source.
    """
    arguments: list[str] = []
    while isinstance(function, functools.partial):
        arguments += [stable_text(list(function.args)), stable_text(function.keywords)]
        function = function.func
    function = inspect.unwrap(function)
    if inspect.ismethod(function):
        owner = fingerprint_object(function.__self__)
        return replace(owner, parameters=digest(owner.parameters or "", function.__name__, *arguments))
    if not isinstance(function, FunctionType):
        callable_object = fingerprint_object(function)
        return replace(callable_object, parameters=digest(callable_object.parameters or "", *arguments))
    try:
        source = digest(*_function_sources(function, set()))
    except (LookupError, RecursionError):
        source = None
    closure = (f"{name}={stable_text(value)}" for name, value in _closure_cells(function))
    return Fingerprint(source, parameters=digest(*closure, *arguments))


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


def _closure_cells(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a closure; a name without a value yet is left out."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
