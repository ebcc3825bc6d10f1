"""Cancel work when a stop is requested."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import anyio

_T = TypeVar("_T")


async def run_until_stopped(stop: anyio.Event, work: Awaitable[_T], *, stopped: _T) -> _T:
    """Await the work and return its result; cancel it and return `stopped` when the event is set."""
    result = stopped

    async def end(scope: anyio.CancelScope) -> None:
        await stop.wait()
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end, tasks.cancel_scope)
        result = await work
        tasks.cancel_scope.cancel()
    return result
