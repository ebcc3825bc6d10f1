"""End a child and everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import Process

if TYPE_CHECKING:
    import psutil

_GRACE_S = 3.0


async def stop_tree(process: Process, events: Path) -> None:
    """Ask the child's process group to end, then kill it and all its descendants."""
    with anyio.CancelScope(shield=True):
        family = _descendants(process)
        signal_group(process, signal.SIGTERM)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()
        signal_group(process, signal.SIGKILL)
        _kill(family)
        _kill(_marked(events))
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


def _marked(events: Path) -> Iterator[psutil.Process]:
    """Those that carry our mark: a daemon leaves the group and loses its parent, but keeps the environment."""
    import psutil

    for other in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if other.environ().get("SCOREGATE_EVENTS") == str(events):
                yield other


def _kill(processes: Iterable[psutil.Process]) -> None:
    import psutil

    for each in processes:
        with contextlib.suppress(psutil.Error):
            each.kill()
