"""Children end with us, even if we are killed: a watchdog process gets the id of each while it runs."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scoregate.ci.child import orphans

_lock = threading.Lock()
_pipe: list[int] = []
_UNTIL_STARTED = 0
_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # some builds of Python do not start without


class Watch:
    """What the watchdog knows of one child, by the mark in its environment."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._known: list[int] = []

    def add(self, pid: int) -> None:
        """A process whose group and descendants are to be killed with us."""
        self._known.append(pid)
        _tell(f"+{pid} {self._mark}\n")

    def close(self) -> None:
        """The child has ended, with all that it had started."""
        for pid in self._known:
            _tell(f"-{pid} {self._mark}\n")


@contextmanager
def watched(mark: str) -> Iterator[Watch]:
    """A watch over a child that is about to start, until the block ends.

    Args:
        mark: a value in its environment that no other child has. It holds no line break.
    """
    watch = Watch(mark)
    watch.add(_UNTIL_STARTED)
    try:
        yield watch
    finally:
        watch.close()


def _tell(line: str) -> None:
    """Say it to the watchdog. Without one, as when no process can be started, children end only as far as we end them.

    The first line starts it. It ends when the pipe is closed, which the end of our process does.
    """
    with _lock, suppress(OSError):
        if not _pipe:
            _pipe.append(_start())
        os.write(_pipe[0], line.encode("utf-8", "surrogateescape"))


def _start() -> int:
    read, write = os.pipe()
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", str(Path(orphans.__file__))],
            {name: os.environ[name] for name in _LIBRARIES if name in os.environ},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, read, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
    except OSError:
        os.close(write)
        raise
    finally:
        os.close(read)
    return write
