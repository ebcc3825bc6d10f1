"""What the code of a user's class or function says, with all in its module that it refers to, as syntax trees.

As trees, so that comments, docstrings and annotations change nothing.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from types import CodeType

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def of_name(module: str, qualname: str) -> Iterator[str]:
    """What stands at the top of a module under the first part of a name, and all that it refers to.

    Raises:
        LookupError: nothing does.
    """
    name = qualname.split(".<locals>", maxsplit=1)[0].split(".", maxsplit=1)[0]
    if name not in _definitions(module):
        raise LookupError(f"{module}.{qualname}")
    yield from _referred(module, [name])


def of_code(module: str, code: CodeType) -> Iterator[str]:
    """The function that this is the code of, wherever in a module it stands, and all that it refers to.

    Raises:
        LookupError: it is not there.
    """
    found = [node for node in _functions(module) if _is_of(node, code)]
    if not found:
        raise LookupError(f"{module}.{code.co_name}")
    for node in found:
        yield _text(node)
    yield from _referred(module, [name for node in found for name in _names(node)])


def forget() -> None:
    """Read every module anew: for who changes them while they are loaded."""
    _tree.cache_clear()
    _definitions.cache_clear()


def _is_of(node: _Function, code: CodeType) -> bool:
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


def _referred(module: str, wanted: Sequence[str]) -> Iterator[str]:
    definitions, waiting, seen = _definitions(module), list(wanted), set[str]()
    while waiting:
        name = waiting.pop()
        if name in definitions and name not in seen:
            seen.add(name)
            for node in definitions[name]:
                yield _text(node)
                waiting.extend(_names(node))


def _names(node: ast.AST) -> list[str]:
    return sorted({each.id for each in ast.walk(node) if isinstance(each, ast.Name)})


@cache
def _tree(module: str) -> ast.Module:
    """Of a module that has no source, an empty one."""
    try:
        return _normalised(ast.parse(inspect.getsource(sys.modules[module])))
    except (OSError, TypeError, KeyError, SyntaxError):
        return ast.Module([], [])


def _functions(module: str) -> Iterator[_Function]:
    return (node for node in ast.walk(_tree(module)) if isinstance(node, _Function))


@cache
def _definitions(module: str) -> dict[str, list[ast.AST]]:
    found: dict[str, list[ast.AST]] = {}
    for node in _statements(_tree(module).body):
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


def _text(node: object) -> str:
    """The syntax tree as text that is the same under every Python: `ast.dump` differs between versions."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []) and name != "kind")
        return f"{type(node).__name__}({','.join(f'{name}={_text(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_text, node))}]"
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
