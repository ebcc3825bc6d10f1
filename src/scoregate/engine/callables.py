"""What a function that decides on scores depends on, as a fingerprint: its code, and what it was made with."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from scoregate.core.parts import Fingerprint
from scoregate.engine.definitions import of_code
from scoregate.engine.fingerprint import digest, fingerprint, stable


def fingerprint_of(function: Callable[..., Any]) -> Fingerprint:
    """The fingerprint of a function, a lambda, a method, a partial, or an object that can be called.

    The source is that of the function and of all in its module that it refers to; the parameters are what a partial
    was given, and what a function inside of another one took from there. A function of ours counts by its name.

    Where the source is not to be had `source` is None.
    """
    function, given = _bare(function)
    if inspect.ismethod(function):
        owner = fingerprint(function.__self__)
        return Fingerprint(owner.source, parameters=digest(owner.parameters or "", function.__name__, *given))
    if not isinstance(function, FunctionType):
        own = fingerprint(function)
        return Fingerprint(own.source, parameters=digest(own.parameters or "", *given))
    try:
        source = digest(*_sources(function, set()))
    except (LookupError, RecursionError):
        source = None
    return Fingerprint(source, parameters=digest(*_taken(function), *given))


def _bare(function: Any) -> tuple[Any, list[str]]:
    """What is called in the end, and what it is given before."""
    given: list[str] = []
    while isinstance(function, functools.partial):
        given += [stable(list(function.args)), stable(function.keywords)]
        function = function.func
    return inspect.unwrap(function), given


def _sources(function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    if function in seen:
        return
    seen.add(function)
    if function.__module__.split(".")[0] == "scoregate":
        yield function.__qualname__
        return
    yield from of_code(function.__module__, function.__code__)
    for _, value in _cells(function):
        if isinstance(value, FunctionType):
            yield from _sources(value, seen)


def _taken(function: FunctionType) -> Iterator[str]:
    for name, value in _cells(function):
        yield f"{name}={stable(value)}"


def _cells(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What it took from the functions around it; a name that these have not set yet is left out."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
