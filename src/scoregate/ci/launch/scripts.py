"""Run all scripts of a plan, some at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from scoregate.ci.launch.happenings import Happening
from scoregate.ci.launch.host import Host
from scoregate.ci.launch.process import run_script
from scoregate.ci.plan import Launch


@asynccontextmanager
async def launching(launches: Iterable[Launch], host: Host) -> AsyncIterator[MemoryObjectReceiveStream[Happening]]:
    """Launch scripts, `host.max_scripts` at a time, and stream what happens until the last has ended.

    Leaving the block early ends them all, with everything that they started.
    """
    send, receive = anyio.create_memory_object_stream[Happening](64)
    waiting = iter(tuple(launches))
    async with anyio.create_task_group() as workers:
        async with send:
            for _ in range(max(1, host.max_scripts)):
                workers.start_soon(_work, waiting, host, send.clone())
        async with receive:
            yield receive
        workers.cancel_scope.cancel()


async def _work(waiting: Iterable[Launch], host: Host, send: MemoryObjectSendStream[Happening]) -> None:
    async with send:
        for launch in waiting:
            await run_script(launch, host, send.send)
