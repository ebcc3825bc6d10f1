"""The one bridge from sync to async: works in scripts, in notebooks and inside a running loop."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import anyio

with suppress(ImportError):  # a name of anyio's own; without this the first suite would wait for it
    import anyio._backends._asyncio

T = TypeVar("T")


def run_sync(function: Callable[[], Awaitable[T]], *, apart: bool = False) -> T:
    """Run it to its end. Inside a running loop it gets a loop and a thread of its own, and the caller waits.

    Args:
        function: takes nothing. apart: give it a thread in any case. That one is a daemon and so are the worker
            threads that it starts, so that one that was left behind does not keep the process from ending.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _in_thread(function) if apart else anyio.run(function)
    return _in_thread(function)


def _run_apart(function: Callable[[], Awaitable[T]]) -> T:
    """In a context that was copied within a loop: where sniffio is installed, anyio reads there that one is running."""
    sniffio: Any = sys.modules.get("sniffio")
    if sniffio is not None:
        sniffio.current_async_library_cvar.set(None)
    return anyio.run(function)


def _in_thread(function: Callable[[], Awaitable[T]]) -> T:
    outcome: list[Any] = []
    failure: list[BaseException] = []
    context = contextvars.copy_context()

    def target() -> None:
        try:
            outcome.append(context.run(_run_apart, function))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="scoregate", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    result: T = outcome[0]
    return result
