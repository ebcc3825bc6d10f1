"""What a score depends on besides the output, as digests: code as a syntax tree, so that comments change nothing."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from scoregate.core.parts import Fingerprint
from scoregate.core.wire import dump, ordered, plain

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BARE = ("builtins", "abc", "typing", "typing_extensions")
_Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def fingerprint(
    evaluator: object,
    *,
    ignore: Iterable[str] = (),
    model: str | None = None,
    prompt: str | None = None,
    code: Callable[..., Any] | None = None,
) -> Fingerprint:
    """The fingerprint of an evaluator.

    The source is that of the user's classes and of everything in their modules that these refer to; a class of ours
    counts by its `version`.

    Where the source is not to be had (code typed into a console, classes made at run time) `source` is None.

    Args:
        evaluator: any object. ignore: attributes that do not change a score.
        model: the one that it asks, where it knows that better than its attribute `model`.
        prompt: a digest of what that is asked, where the evaluator knows it.
        code: a function of the user's that it calls.
    """
    told = model or getattr(evaluator, "model", None)
    named = isinstance(told, str)
    return Fingerprint(
        source=_source(type(evaluator), code),
        prompt=prompt,
        parameters=_digest(_parameters(evaluator, {*ignore, "model"} if named else {*ignore})),
        model=told if named else None,
    )


def _source(cls: type, code: Callable[..., Any] | None) -> str | None:
    called = () if code is None else _with_references(code.__module__, code.__qualname__)
    try:
        return _digest(*_sources(cls), *called)
    except (LookupError, RecursionError):
        return None


def _sources(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        if base.__module__.split(".")[0] == "scoregate":
            yield f"{base.__qualname__} {base.__dict__.get('version', 1)}"
        elif base.__module__ not in _BARE or not hasattr(sys.modules[base.__module__], base.__name__):
            yield from _with_references(base.__module__, base.__qualname__)


def _with_references(module: str, qualname: str) -> Iterator[str]:
    definitions = _definitions(module)
    wanted, seen = [qualname.split(".<locals>", maxsplit=1)[0].split(".", maxsplit=1)[0]], set[str]()
    if wanted[0] not in definitions:
        raise LookupError(f"{module}.{qualname}")
    while wanted:
        name = wanted.pop()
        if name in definitions and name not in seen:
            seen.add(name)
            for node in definitions[name]:
                yield _tree(node)
                wanted.extend(sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)}))


@cache
def _definitions(module: str) -> dict[str, list[ast.AST]]:
    try:
        tree = _normalised(ast.parse(inspect.getsource(sys.modules[module])))
    except (OSError, TypeError, KeyError, SyntaxError):
        return {}
    found: dict[str, list[ast.AST]] = {}
    for node in _statements(tree.body):
        if isinstance(node, _Definition):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, _Assignment) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
                found.setdefault(name, []).append(node.value)
    return found


def _statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements of a module, those under `if`, `try` and `with` included."""
    for node in nodes:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            for part in ("body", "handlers", "orelse", "finalbody"):
                yield from _statements(getattr(node, part, ()))


def _tree(node: object) -> str:
    """The syntax tree as text that is the same under every Python: `ast.dump` differs between versions."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []) and name != "kind")
        return f"{type(node).__name__}({','.join(f'{name}={_tree(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_tree, node))}]"
    return repr(node)


def _normalised(tree: ast.Module) -> ast.Module:
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


def _parameters(evaluator: object, ignore: set[str]) -> str:
    attributes = sorted(_attributes(evaluator).items())
    own = ((name, value) for name, value in attributes if name not in ignore and _counts(name, value))
    return ",".join(f"{name}={_stable(value)}" for name, value in own)


def _counts(name: str, value: object) -> bool:
    """Private values count where they are plain, as constructors keep them; a cache or a client does not."""
    return not name.startswith("_") or (name[1:2] != "_" and isinstance(value, str | int | float | bool | None))


def _attributes(evaluator: object) -> dict[str, Any]:
    slots = (cls.__dict__.get("__slots__", ()) for cls in type(evaluator).__mro__)
    names = [name for given in slots for name in ((given,) if isinstance(given, str) else given)]
    in_slots = {name: getattr(evaluator, name) for name in names if hasattr(evaluator, name)}
    return in_slots | getattr(evaluator, "__dict__", {})


def _stable(value: Any) -> str:
    """JSON in which what has no JSON form stands as a name, so that no address of memory gets in."""
    if hasattr(value, "__qualname__"):
        return f"<{value.__qualname__}>"
    if isinstance(value, Iterator):
        return f"<{type(value).__qualname__}>"
    try:
        return dump(plain(ordered(value))).decode()
    except Exception:  # whatever a foreign object raises when it is written
        return f"<{type(value).__qualname__}>"


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
