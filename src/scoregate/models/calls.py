"""A question on its way: how it is asked, what comes back, and the answer that is made of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, TypeAlias, TypeVar

import anyio
from pydantic_core import from_json

from scoregate.core.evaluation import Usage


@dataclass(frozen=True, slots=True)
class Sent:
    """What came back: the headers, the body where it is complete, and what the caller makes of it."""

    headers: Mapping[str, str]
    body: bytes | None
    value: Any = None


@dataclass(frozen=True, slots=True)
class Call:
    """A question and the way to ask it.

    Args:
        question: what is asked, by which its answer is kept; it names the `model`.
        send: asks once, and gives a `Sent` or something awaitable that gives one.
        adapt: told of a final failure, says whether to ask at once in the other way that it has found.
        keeps: whether an answer may be kept; one that is an error may not. None keeps nothing.
    """

    provider: str
    address: str
    path: str
    question: Mapping[str, Any]
    send: Callable[[], Any]
    adapt: Callable[[BaseException], bool] = lambda _error: False
    keeps: Callable[[Mapping[str, Any]], bool] | None = lambda _body: True

    @property
    def model(self) -> str:
        """The name that the request asks for."""
        return str(self.question.get("model", ""))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `sent` is None where it was read from the cache, and `usage` where it does not tell."""

    body: bytes | None
    usage: Usage | None
    sent: Sent | None = None

    @property
    def table(self) -> Mapping[str, Any]:
        """The body read as JSON; empty where it is no object."""
        return {} if self.body is None else table_of(self.body)


def table_of(body: bytes) -> Mapping[str, Any]:
    """A body read as JSON; empty where it is no object."""
    try:
        told = from_json(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


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
