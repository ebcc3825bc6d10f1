"""Signals that ask us to stop: the first ends what runs and reports what is known, the second ends us."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


@asynccontextmanager
async def stoppable() -> AsyncIterator[anyio.Event]:
    """An event that is set by the first SIGINT, SIGTERM or SIGHUP while the block lasts.

    Raises:
        KeyboardInterrupt: a second one came.
    """
    stop, done = anyio.Event(), False
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, stop, tasks.cancel_scope)
        yield stop
        done = True
        tasks.cancel_scope.cancel()
    if not done:
        raise KeyboardInterrupt


async def _listen(stop: anyio.Event, scope: anyio.CancelScope) -> None:
    under_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    ends = (signal.SIGINT, signal.SIGTERM) if under_nohup else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with anyio.open_signal_receiver(*ends) as signals:
        async for _ in signals:
            if stop.is_set():
                scope.cancel()
                return
            stop.set()
