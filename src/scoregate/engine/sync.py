"""The one bridge from sync to async: works in scripts, in notebooks and inside a running loop."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import anyio

from scoregate.core.cleanup import close_at_end

with suppress(ImportError):  # a name of anyio's own; without this the first suite would wait for it
    import anyio._backends._asyncio

T = TypeVar("T")


def run_sync(function: Callable[[], Awaitable[T]], *, apart: bool = False) -> T:
    """Run it to its end. Inside a running loop it gets a loop and a thread of its own, and the caller waits.

    In the main thread all runs of a process have one loop, so that a client which one run has opened connections with
    can be used by the next.

    Args:
        function: takes nothing. apart: give it a thread in any case. That one is a daemon and so are the worker
            threads that it starts, so that one that was left behind does not keep the process from ending.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if apart:
            return _run_in_thread(function)
        is_main = threading.current_thread() is threading.main_thread()
        return _run_in_shared_loop(function) if is_main else anyio.run(function)
    return _run_in_thread(function)


def run_sync_and_close(function: Callable[[], Awaitable[T]]) -> T:
    """As `run_sync`; what was opened for it, such as connections, is closed."""

    async def whole() -> T:
        async with close_at_end():
            return await function()

    return run_sync(whole)


def _run_in_shared_loop(function: Callable[[], Awaitable[T]]) -> T:
    async def whole() -> T:
        return await function()

    runner = _shared_runner()
    try:
        result = runner.run(whole(), context=contextvars.copy_context())
        runner.run(_cancel_tasks())
    except BaseException:  # who knows what is left in that loop
        del _runners[os.getpid()]
        runner.close()
        raise
    return result


_runners: dict[int, asyncio.Runner] = {}  # by process: a fork has a loop of its own


def _shared_runner() -> asyncio.Runner:
    process = os.getpid()
    if process not in _runners:
        _runners[process] = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        atexit.register(_close_shared_loop)
    return _runners[process]


def _close_shared_loop() -> None:
    """End the loop of this process at its exit.

    `Runner.close` would start a thread to wait for worker threads, which Python 3.12 and newer refuse at exit. By then
    Python itself has waited for them.
    """
    runner = _runners.pop(os.getpid(), None)
    if runner is not None:
        loop = runner.get_loop()
        loop.run_until_complete(_cancel_tasks())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _cancel_tasks() -> None:
    """As at the end of any loop: what the user's code has left running is cancelled."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _run_in_own_loop(function: Callable[[], Awaitable[T]]) -> T:
    """In a context that was copied within a loop: where sniffio is installed, anyio reads there that one is running."""
    sniffio: Any = sys.modules.get("sniffio")
    if sniffio is not None:
        sniffio.current_async_library_cvar.set(None)
    return anyio.run(function)


def _run_in_thread(function: Callable[[], Awaitable[T]]) -> T:
    outcome: list[Any] = []
    failure: list[BaseException] = []
    context = contextvars.copy_context()

    def target() -> None:
        try:
            outcome.append(context.run(_run_in_own_loop, function))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="scoregate", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    result: T = outcome[0]
    return result
