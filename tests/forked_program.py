"""What `tests/warm_program.py` executes: it imports the command line, and forks itself for every call of `scoregate`.

A call is a message on a socket: arguments, environment, folder and file mode, with the three standard streams. The
answer is the process id, and then the exit code, or the negative number of a signal.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import importlib
import os
import select
import signal
import socket
import sys
import termios
from typing import Any

from tests import warm_scripts

from scoregate.cli.main import COMMANDS, main

# What commands import when they need it.
MODULES = (
    *(f"scoregate.cli.{name}_command" for name in COMMANDS),
    "anyio._backends._asyncio",
    "scoregate.kernel.report.html.document",
)


def serve(address: str) -> list[str]:
    """Fork for every call, until the standard input ends. Returns only in a forked process: its arguments."""
    for name in MODULES:
        importlib.import_module(name)
    warm_scripts.server()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(f"\0{address}")
    listener.listen(64)
    os.write(1, b"\n")
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        ready, _, _ = select.select([0, listener, *running, *(caller for _, caller in running.values())], [], [])
        if 0 in ready:
            os._exit(0)
        for handle in running.keys() & ready:
            _end(handle, *running.pop(handle))
        for pid in [pid for pid, caller in running.values() if caller in ready]:  # the caller was killed
            os.kill(pid, signal.SIGKILL)
        if listener in ready:
            caller, _ = listener.accept()
            text, streams, _, _ = socket.recv_fds(caller, 1 << 20, 3)
            if not (pid := os.fork()):
                for handle, (_, other) in running.items():
                    os.close(handle)
                    other.close()
                listener.close()
                return _begin(text, streams, caller)
            for stream in streams:
                os.close(stream)
            running[os.pidfd_open(pid)] = pid, caller


def _end(handle: int, pid: int, caller: socket.socket) -> None:
    """Report how a process ended."""
    os.close(handle)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with contextlib.suppress(OSError):
        caller.send(b"%d" % code)
    caller.close()


def _begin(text: bytes, streams: Any, caller: socket.socket) -> list[str]:
    """Give this process what its caller has."""
    folder, umask, count, *rest = os.fsdecode(text).split("\0")
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    caller.send(b"%d" % os.getpid())
    caller.close()
    _begin_session()
    os.chdir(folder)
    os.umask(int(umask))
    os.environ.clear()
    os.environ.update(each.split("=", 1) for each in rest[int(count) :])
    return rest[: int(count)]


def _begin_session() -> None:
    """Begin a group of processes, and on a terminal a session, to whose processes its keys send signals."""
    if not os.isatty(0):
        os.setpgid(0, 0)
        return
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


class _End:
    """How a command ended. Python then frees all that is imported, which takes longer than many commands."""

    code: int | None = None

    def leave(self) -> None:
        """End the process without that, after all other functions of `atexit` and all threads."""
        if self.code is not None:
            with contextlib.suppress(AttributeError, OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(self.code & 0xFF)


if __name__ == "__main__":
    del sys.path[0]  # the project of the tests
    end = _End()
    atexit.register(end.leave)
    sys.argv[:] = serve(sys.argv[1])
    sys.orig_argv[1:] = sys.argv
    sys.path.insert(0, os.path.dirname(sys.argv[0]))  # noqa: PTH120
    # `multiprocessing` starts processes with the main module of this one.
    __spec__, __file__ = None, sys.argv[0]
    # A project may have modules of these names.
    for name in [each for each in sys.modules if each.partition(".")[0] == "tests"]:
        del sys.modules[name]
    with warm_scripts.warm_scripts():
        try:
            main()
            end.code = 0
        except SystemExit as ended:
            end.code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            raise
