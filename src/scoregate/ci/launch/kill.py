"""End a child and everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import anyio
from anyio.abc import Process

_GRACE_S = 3.0


async def stop_tree(process: Process, events: Path) -> None:
    """Ask the child's process group to end, then kill it and every process that carries our mark, its descendants."""
    with anyio.CancelScope(shield=True):
        signal_group(process, signal.SIGTERM)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()
        signal_group(process, signal.SIGKILL)
        _kill_marked(events)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()


def signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to the group that the child leads; nothing happens where it is empty."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _kill_marked(events: Path) -> None:
    """A daemon leaves the group and loses its parent, but keeps the environment."""
    import psutil

    for other in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if other.environ().get("SCOREGATE_EVENTS") == str(events):
                other.kill()
