"""Run all scripts of a plan, some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import anyio

from scoregate.ci.launch.happenings import Tell
from scoregate.ci.launch.host import Host
from scoregate.ci.launch.process import run_script
from scoregate.ci.plan import Launch


async def launch_all(launches: Iterable[Launch], host: Host, tell: Tell) -> None:
    """Launch scripts, `host.max_scripts` at a time, and tell what happens until the last has ended.

    Cancelled, it ends them all with everything that they started, and still tells what they had reported.
    """
    waiting = iter(tuple(launches))
    async with anyio.create_task_group() as workers:
        for _ in range(max(1, host.max_scripts)):
            workers.start_soon(_work, waiting, host, tell)


async def _work(waiting: Iterator[Launch], host: Host, tell: Tell) -> None:
    for launch in waiting:
        await run_script(launch, host, tell)
