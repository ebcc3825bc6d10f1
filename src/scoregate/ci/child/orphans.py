"""A process beside the host that kills the host's children if the host itself is killed.

It is started by the path of this file and imports nothing of ours: it has to start quickly. It reads lines on its
standard input, `+PID MARK` and `-PID MARK`; a PID of 0 is a child that is about to start. The end of the input without
these being taken back means that the host is gone, however it ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def main() -> None:
    """Follow what the host says, until it is gone; then kill what is left of its children."""
    with contextlib.suppress(OSError):
        os.setsid()  # a signal to the host's process group does not reach us
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    children: dict[str, None] = {}
    for line in sys.stdin:
        sign, child = line[0], line[1:].rstrip("\n")
        if sign == "+":
            children[child] = None
        else:
            children.pop(child, None)
    pairs = [child.partition(" ") for child in children]
    if pairs:
        kill({int(pid) for pid, _, _ in pairs} - {0}, {mark for _, _, mark in pairs})


def kill(pids: set[int], marks: set[str]) -> None:
    """Kill processes with their groups and descendants, and every process whose environment has a mark as a value."""
    import psutil

    family = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            family += psutil.Process(pid).children(recursive=True)
    for pid in pids:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    for each in family:
        with contextlib.suppress(psutil.Error):
            each.kill()
    for other in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if other.pid != os.getpid() and not marks.isdisjoint(other.environ().values()):
                other.kill()


if __name__ == "__main__":
    main()
