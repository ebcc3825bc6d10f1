"""One story for sync and async callers: it yields what is to be done, and a driver does it in the caller's way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, TypeAlias, TypeVar

import anyio

T = TypeVar("T")
Steps: TypeAlias = Generator[Callable[[], Any], Any, T]


@dataclass(frozen=True, slots=True)
class Mode:
    """How a caller waits: for some seconds, and for a future that another thread may set."""

    is_async: bool
    sleep: Callable[[float], Any]
    wait: Callable[[Future[Any]], Any]


SYNC = Mode(False, time.sleep, lambda future: future.result())
ASYNC = Mode(True, anyio.sleep, asyncio.wrap_future)


def run(steps: Steps[T]) -> T:
    """Do the steps in this thread."""
    try:
        step = next(steps)
        while True:
            try:
                result = step()
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        done: T = stop.value
        return done


async def a_run(steps: Steps[T]) -> T:
    """Do the steps in the running loop."""
    try:
        step = next(steps)
        while True:
            try:
                result = step()
                if isawaitable(result):
                    result = await result
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        done: T = stop.value
        return done
