"""The one bridge from sync to async: works in scripts, in notebooks and inside a running loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


def run_sync(function: Callable[[], Awaitable[T]]) -> T:
    """Run it to its end. Inside a running loop it gets a loop and a thread of its own, and the caller waits."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return anyio.run(function)
    return _in_thread(function)


def _in_thread(function: Callable[[], Awaitable[T]]) -> T:
    outcome: list[Any] = []
    failure: list[BaseException] = []
    context = contextvars.copy_context()

    def target() -> None:
        try:
            outcome.append(context.run(anyio.run, function))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="scoregate", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    result: T = outcome[0]
    return result
