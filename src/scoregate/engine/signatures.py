"""Read the parameters of the user's functions, and the text of lambdas."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from linecache import getlines
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
    """The expression that a lambda returns, on one line, at most 60 characters; `lambda` if its source is unknown.

    It depends on the code alone: white space, brackets, quotes and comments of the source make no other text.
    """
    code = getattr(function, "__code__", None)
    module = sys.modules.get(getattr(function, "__module__", ""))
    if not isinstance(code, CodeType) or module is None:
        return _UNKNOWN
    try:
        # A cell of a notebook has no file; IPython keeps its lines for tracebacks.
        source = inspect.getsource(module) if hasattr(module, "__file__") else "".join(getlines(code.co_filename))
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda) and _has_code(node, code)]
        text = _format_expression(nodes[0].body) if len(nodes) == 1 else _UNKNOWN
    except (OSError, TypeError, SyntaxError, RecursionError):
        return _UNKNOWN
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _format_expression(node: ast.expr) -> str:
    """The text of an expression, with the quotes that most formatters of source code write."""
    text = ast.unparse(node)
    return text.replace("'", '"') if text.count("'") and not set(text).intersection('"\\') else text


def _has_code(node: ast.Lambda, code: CodeType) -> bool:
    """Whether a lambda has this code: it begins on the same line, and its body contains the places of all instructions.

    Python 3.12 has no places for constants and some others. There, a lambda that only returns a constant has its value.
    """
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_line is not None and column is not None and end_column
    ]
    has_value = bool(places) or not isinstance(body, ast.Constant) or repr((body.value,)) == repr(code.co_consts[-1:])
    parameters = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    return (
        node.lineno == code.co_firstlineno
        and parameters == list(code.co_varnames[: code.co_argcount])
        and all(start <= first and last <= end for first, last in places)
        and has_value
    )
