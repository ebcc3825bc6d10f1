"""Which parameters of a scorer have the type `ScoreContext`, and what the scorer reads of it."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from inspect import Parameter
from types import CodeType, UnionType
from typing import Annotated, Any, ForwardRef, Union, get_args, get_origin

from scoregate.evals.case import ScoreContext

_NAME = re.compile(r"\bScoreContext\b(?!\s*[.\w])")


def takes_context(parameter: Parameter, function: Callable[..., Any]) -> bool:
    """Whether a parameter has the type `ScoreContext`, maybe by an alias, as text, or as one of several types."""
    annotation = parameter.annotation
    if annotation is Parameter.empty:
        return False
    if isinstance(annotation, str | ForwardRef):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        with suppress(Exception):  # names that only type checkers import
            return _is_context(eval(text, dict(_list_globals(function))))
        return _NAME.search(text) is not None
    return _is_context(annotation)


def list_names(function: Callable[..., Any]) -> set[str] | None:
    """The attributes and the global names that the code of a function has; None if its code is unknown."""
    code = getattr(_find_function(function), "__code__", None)
    return {name for each in _list_code(code) for name in each.co_names} if isinstance(code, CodeType) else None


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, ForwardRef | str):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        return _NAME.search(text) is not None
    annotation = getattr(annotation, "__value__", annotation)  # of `type Name = …`
    origin = get_origin(annotation)
    if origin is Annotated:
        return _is_context(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return any(map(_is_context, get_args(annotation)))
    return (origin or annotation) is ScoreContext


def _find_function(function: Any) -> Any:
    """The function behind wrappers, decorators, bound arguments and callable objects."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = inspect.unwrap(function)
        elif inspect.ismethod(function):
            function = function.__func__
        elif not inspect.isfunction(function) and inspect.isfunction(call := type(function).__call__):
            function = call
        else:
            return function


def _list_globals(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    found = _find_function(function)
    yield from getattr(found, "__globals__", {}).items()
    code, cells = getattr(found, "__code__", None), getattr(found, "__closure__", None) or ()
    for name, cell in zip(getattr(code, "co_freevars", ()), cells, strict=False):
        with suppress(ValueError):  # an empty cell
            yield name, cell.cell_contents


def _list_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _list_code(each)
