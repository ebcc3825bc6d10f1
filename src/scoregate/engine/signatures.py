"""Read the parameters of the user's functions, and the text of lambdas."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any


def read_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function in order, without evaluating their annotations.

    From Python 3.14 on, annotations may use names that only type checkers import, and evaluating them would fail.

    Raises:
        ValueError: the function is written in C and has no signature.
    """
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        signature = inspect.signature(function, annotation_format=Format.FORWARDREF)
    else:
        signature = inspect.signature(function)
    return list(signature.parameters.values())


_LONGEST = 60
_UNKNOWN = "lambda"


def find_lambda_text(function: Any) -> str:
    """The expression that a lambda returns, on one line, at most 60 characters; `lambda` if its source is unknown."""
    code = getattr(function, "__code__", None)
    module = sys.modules.get(getattr(function, "__module__", ""))
    if not isinstance(code, CodeType) or module is None:
        return _UNKNOWN
    positions = set(code.co_positions())  # including that of the whole expression
    try:
        source = inspect.getsource(module)
        lambdas = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda))
        body = next((each.body for each in lambdas if _position(each.body) in positions), None)
        text = ast.get_source_segment(source, body) if body is not None else None
    except (OSError, TypeError, SyntaxError, RecursionError):
        return _UNKNOWN
    line = " ".join((text or _UNKNOWN).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _position(node: ast.expr) -> tuple[int, int | None, int, int | None]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
