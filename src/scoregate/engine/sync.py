"""Call async code from sync code: in scripts, in notebooks and inside a running event loop."""

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

from scoregate.kernel.types.cleanup import close_at_end

with suppress(ImportError):  # a private module of anyio, imported here so that the first suite need not wait for it
    import anyio._backends._asyncio

T = TypeVar("T")


def run_sync(function: Callable[[], Awaitable[T]], *, in_new_thread: bool = False) -> T:
    """Run an async function and return its result.

    Inside a running event loop, the function runs in a new loop in a new thread, and the caller waits. In the main
    thread, all runs of a process share one loop, so that the next run can use a client with open connections.

    Args:
        function: an async function without arguments.
        in_new_thread: always use a new thread. It and its worker threads are daemons, so an abandoned worker does not
            keep the process from ending.
    """
    if in_new_thread or _has_running_loop():
        return _run_in_thread(function)
    is_main = threading.current_thread() is threading.main_thread()
    return _run_in_shared_loop(function) if is_main else anyio.run(function)


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_sync_and_close(function: Callable[[], Awaitable[T]]) -> T:
    """Do the same as `run_sync`, and close connections and other resources that the function opened."""

    async def call_and_close() -> T:
        async with close_at_end():
            return await function()

    return run_sync(call_and_close)


def _run_in_shared_loop(function: Callable[[], Awaitable[T]]) -> T:
    async def call() -> T:
        return await function()

    process = os.getpid()
    if process not in _runners:
        _runners[process] = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        atexit.register(_close_shared_loop)
    runner = _runners[process]
    try:
        result = runner.run(call(), context=contextvars.copy_context())
        runner.run(_cancel_tasks())
    except BaseException:  # the state of the loop is unknown
        del _runners[process]
        runner.close()
        raise
    return result


_runners: dict[int, asyncio.Runner] = {}  # by process id: a forked process needs its own loop


def _close_shared_loop() -> None:
    """Close the loop of this process at exit.

    `Runner.close` would start a thread to wait for worker threads. Python 3.12 and later refuse new threads at exit
    and have already waited for the worker threads.
    """
    runner = _runners.pop(os.getpid(), None)
    if runner is not None:
        loop = runner.get_loop()
        loop.run_until_complete(_cancel_tasks())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _cancel_tasks() -> None:
    """Cancel the tasks that the user's code left running, as `asyncio.run` does."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _run_in_thread(function: Callable[[], Awaitable[T]]) -> T:
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        # The context may come from a running loop: then anyio reads from sniffio's variable that a loop runs here.
        sniffio: Any = sys.modules.get("sniffio")
        try:
            if sniffio is not None:
                sniffio.current_async_library_cvar.set(None)
            outcome.append(anyio.run(function))
        except BaseException as error:
            failure.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name="scoregate", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    result: T = outcome[0]
    return result
