"""A separate process that kills the host's children when the host itself was killed, and kills marked processes.

It is started by the path of this file (`python -I orphans.py`), and imports nothing of scoregate: the import of the
package takes longer than the start of Python, and the first child waits for it. `process.py` starts it without
arguments. Then it reads lines from its standard input, `+PID MARK` and `-PID MARK`; a PID of 0 is a child that is about
to start. The end of the input without the `-` lines means that the host is gone, for whatever reason.

With a mark as its argument it kills the marked processes at once. `process.py` starts it like this as the user that a
suite ran as, because only that user can read the environment of these processes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def main() -> None:
    """Kill the processes of the mark in the arguments, or watch over the host's children."""
    if len(sys.argv) > 1:
        kill_marked({sys.argv[1]})
    else:
        watch_host()


def watch_host() -> None:
    """Collect the host's children until the host is gone; then kill those that are left."""
    with contextlib.suppress(OSError):
        os.setsid()  # a signal to the host's process group does not reach this process
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
        kill_trees({int(pid) for pid, _, _ in pairs} - {0})
        kill_marked({mark for _, _, mark in pairs})


def kill_trees(pids: set[int]) -> None:
    """Kill processes with their groups and descendants."""
    import psutil

    descendants = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            descendants += psutil.Process(pid).children(recursive=True)
    for pid in pids:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    for descendant in descendants:
        with contextlib.suppress(psutil.Error):
            descendant.kill()


def kill_marked(marks: set[str]) -> None:
    """Kill every other process that has a mark as the value of a variable, if its environment can be read."""
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and not marks.isdisjoint(process.environ().values()):
                process.kill()


if __name__ == "__main__":
    main()
