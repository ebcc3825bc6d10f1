"""Kill the processes that carry a mark: a daemon leaves its group and its parent, but keeps its environment."""

from __future__ import annotations

import contextlib
import os
import sys


def kill_marked(mark: str) -> None:
    """Kill every process that has `mark` as the value of a variable, as far as we may look into it."""
    import psutil

    for other in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if other.pid != os.getpid() and mark in other.environ().values():
                other.kill()


if __name__ == "__main__":
    kill_marked(sys.argv[1])
