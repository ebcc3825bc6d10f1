"""Await something, and learn whether it has to wait at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def noticed(awaitable: Awaitable[T], waits: Callable[[], None]) -> Awaitable[T]:
    """What it gives; `waits` is called whenever it has to wait for something, before the loop does something else."""
    return _Noticed(awaitable, waits)


class _Noticed(Generic[T]):
    def __init__(self, awaitable: Awaitable[T], waits: Callable[[], None]) -> None:
        self._awaitable, self._waits = awaitable, waits

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._awaitable.__await__()
        step: Callable[[], Any] = partial(next, steps)
        while True:
            try:
                awaited = step()
            except StopIteration as stop:
                result: T = stop.value
                return result
            self._waits()
            try:
                yield awaited
            except BaseException as error:  # the end of the run, or of its patience
                step = partial(steps.throw, error)
            else:
                step = partial(next, steps)
