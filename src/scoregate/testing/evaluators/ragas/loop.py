"""One event loop for all of ragas: its clients outlive a suite, and what blocks it blocks no task."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
_starting = threading.Lock()


async def apart(coroutine: Coroutine[Any, Any, T]) -> T:
    """What it gives; it runs in that loop, in the context of the caller, and is cancelled with the caller."""
    with _starting:
        loop = _loop(os.getpid())
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))


@cache
def _loop(process: int) -> asyncio.AbstractEventLoop:  # noqa: ARG001 - a fork has no threads of its parent
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="scoregate-ragas", daemon=True).start()
    return loop
