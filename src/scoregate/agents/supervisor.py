"""A program that runs the command line of an agent, and kills everything that it started at its end. Linux only.

Run as `python -I -S supervisor.py PROGRAM ARGUMENTS`. It is the parent of every process that loses its own, so that
none is missed: not one that left the process group, nor one with an empty environment. SIGTERM, or the end of its own
parent, ends it and all of them. It runs once for each trial, so it imports little.
"""

# ruff: noqa: PTH123, PTH208, SIM105

import ctypes
import os
import signal
import sys
import time

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_NOT_STARTED = 127
_LIMIT_S, _PAUSE_S = 5.0, 0.005


class _Stopped(Exception):
    """The signal to end arrived."""


def main() -> None:
    """Run the program, and end as it does."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, _stop)
    prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)  # a killed scoregate can't end the agent itself
    status = signal.SIGKILL.value  # as if the program was killed
    try:
        pid = os.fork()
        if not pid:
            _start(sys.argv[1:])
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # they are the program's, which may close them
            os.dup2(null, stream)
        ended = -1
        while ended != pid:
            ended, status = os.wait()
    except _Stopped:
        pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt the end
    _kill_all()
    _end(status)


def _stop(*_: object) -> None:
    raise _Stopped


def _start(arguments: list[str]) -> None:
    """Become the program, in a session of its own: it can't end this process with its group."""
    try:
        os.setsid()
        # Python ignores SIGPIPE and SIGXFSZ, and a program inherits that.
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(arguments[0], arguments)
    except OSError as error:
        os.write(2, f"{arguments[0]} can't be started: {error.strerror}\n".encode())
    finally:
        os._exit(_NOT_STARTED)  # no cleanup of Python: this is a copy of the parent


def _kill_all() -> None:
    """Kill all descendants. Each that loses its parent becomes a child, so without a child there are none."""
    deadline = time.monotonic() + _LIMIT_S
    while time.monotonic() < deadline:
        for pid in _list_descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        # An ended child stays in the list of processes until it is waited for.
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_PAUSE_S)


def _list_descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name of the program, which may be anything, ends at the last bracket.
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):  # it ended
                continue
            children.setdefault(parent, []).append(int(name))
    descendants, waiting = [], [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        descendants += below
        waiting += below
    return descendants


def _end(status: int) -> None:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:  # nobody can handle SIGKILL
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # by the same signal, so that the parent sees how the program ended
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


if __name__ == "__main__":
    main()
