"""The event loop in which async code of a script, a thread or a notebook runs."""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import anyio
import pytest

from scoregate.engine import sync
from scoregate.engine.sync import run_sync, run_sync_and_close
from scoregate.kernel.types.cleanup import CLEANUPS


async def find_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def find_thread() -> threading.Thread:
    return threading.current_thread()


async def fail() -> None:
    raise ValueError("wrong")


def call_in_thread(function: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_the_runs_of_a_script_share_a_loop() -> None:
    """So a client with open connections can be used again."""
    first = run_sync(find_loop)
    assert run_sync(find_loop) is first
    assert not first.is_closed()


def test_a_loop_is_not_used_again_after_an_error() -> None:
    first = run_sync(find_loop)
    with pytest.raises(ValueError, match="wrong"):
        run_sync(fail)
    assert first.is_closed()
    assert run_sync(find_loop) is not first


def test_each_thread_has_its_own_loop() -> None:
    other = call_in_thread(lambda: run_sync(find_loop))
    assert other is not run_sync(find_loop)
    assert other.is_closed()


def test_a_new_thread_does_not_keep_the_process() -> None:
    thread = run_sync(find_thread, in_new_thread=True)
    assert (thread.daemon, thread.name, thread is threading.current_thread()) == (True, "scoregate", False)
    assert run_sync(find_thread) is threading.current_thread()


def test_inside_a_running_loop_a_new_thread_is_used() -> None:
    async def call() -> threading.Thread:
        return run_sync(find_thread)

    assert asyncio.run(call()) is not threading.current_thread()


@pytest.mark.parametrize("in_new_thread", [False, True])
def test_the_context_of_the_caller_is_known_and_stays(in_new_thread: bool) -> None:
    name: ContextVar[str] = ContextVar("name", default="")
    name.set("caller")

    async def change() -> str:
        before = name.get()
        name.set("run")
        return before

    assert run_sync(change, in_new_thread=in_new_thread) == "caller"
    assert name.get() == "caller"


def test_tasks_that_are_left_running_are_cancelled() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(300)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def leave() -> str:
        tasks.append(asyncio.create_task(wait()))
        await asyncio.sleep(0)
        return "done"

    tasks: list[asyncio.Task[None]] = []
    assert run_sync(leave) == "done"
    assert ended == ["cancelled"]


def test_what_a_function_opened_is_closed_before_the_result_is_returned() -> None:
    events: list[str] = []

    async def close() -> None:
        events.append("closed")

    async def use() -> str:
        cleanups = CLEANUPS.get()
        assert cleanups is not None
        cleanups.append(close)
        events.append("used")
        return "result"

    assert run_sync_and_close(use) == "result"
    assert events == ["used", "closed"]


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What is called at the end of a process that has run nothing so far."""
    found: list[Callable[[], None]] = []
    monkeypatch.setattr(sync, "_runners", {})
    monkeypatch.setattr(atexit, "register", found.append)
    return found


def test_the_shared_loop_is_closed_at_the_end_of_the_process(handlers: list[Callable[[], None]]) -> None:
    events: list[str] = []

    async def generate() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            events.append("closed")

    async def begin() -> AsyncIterator[int]:
        generator = generate()
        await anext(generator)
        return generator

    generator = run_sync(begin)
    loop = run_sync(find_loop)
    task = loop.create_task(asyncio.sleep(300))
    (end,) = handlers
    assert events == []
    end()
    assert (events, task.cancelled(), loop.is_closed()) == (["closed"], True, True)
    end()  # a loop that an error closed is not closed again
    del generator


def test_a_new_thread_is_no_part_of_the_loop_of_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    library: ContextVar[str | None] = ContextVar("library", default=None)
    sniffio: Any = ModuleType("sniffio")
    sniffio.current_async_library_cvar = library
    monkeypatch.setitem(sys.modules, "sniffio", sniffio)
    token = library.set("asyncio")
    seen: list[str | None] = []
    monkeypatch.setattr(anyio, "run", lambda _: seen.append(library.get()))
    try:
        run_sync(find_thread, in_new_thread=True)
        monkeypatch.setitem(sys.modules, "sniffio", None)
        run_sync(find_thread, in_new_thread=True)
    finally:
        library.reset(token)
    assert seen == [None, "asyncio"]
