"""End a child and everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from anyio.abc import Process

from scoregate.ci.child.marked import kill_marked
from scoregate.ci.identity import Identity, rights
from scoregate.ci.isolation import kill_account

if TYPE_CHECKING:
    import psutil

_GRACE_S = 3.0


async def stop_tree(process: Process, mark: str, identity: Identity | None) -> None:
    """Ask the child's process group to end, then kill it and all its descendants."""
    with anyio.CancelScope(shield=True):
        family = _descendants(process)
        signal_group(process, signal.SIGTERM)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()
        signal_group(process, signal.SIGKILL)
        _kill(family)
        await end_daemons(process, mark, identity)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()


def signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to the group that the child leads; nothing happens where it is empty."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _descendants(process: Process) -> list[psutil.Process]:
    """Those that a chain of parents leads to: their environment may be another."""
    import psutil

    with contextlib.suppress(psutil.Error):
        return psutil.Process(process.pid).children(recursive=True)
    return []


def _kill(processes: Iterable[psutil.Process]) -> None:
    import psutil

    for each in processes:
        with contextlib.suppress(psutil.Error):
            each.kill()


async def end_daemons(process: Process, mark: str, identity: Identity | None) -> tuple[int, ...]:
    """Kill what is left of a child; returns what of its account could not be killed."""
    if identity is not None and identity.shared is not None:
        kill = partial(kill_account, identity.uid, identity.gid, child=process.pid)
        return await anyio.to_thread.run_sync(kill)
    await _kill_marked(mark, identity)
    return ()


async def _kill_marked(mark: str, identity: Identity | None) -> None:
    """Another user's environments can be read by that user alone: without SYS_PTRACE not even by root."""
    if identity is None:
        kill_marked(mark)
        return
    command = [sys.executable, "-I", "-m", kill_marked.__module__, mark]
    with contextlib.suppress(OSError), anyio.move_on_after(_GRACE_S):
        await anyio.run_process(
            command,
            cwd="/",
            env={},
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **rights(identity),
        )
