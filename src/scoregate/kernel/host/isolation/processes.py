"""Kill every process of a user account, and verify that none is left."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from scoregate.kernel.host.user_ids import Accounts

_PROC = Path("/proc")
_LONGEST_S = 10.0
_PAUSE_S = 0.005
_DEAD = frozenset("ZX")
_DONE, _NOT_DONE = 0, 1
# Returned for processes that are running but are in no list.
_UNKNOWN_PID = 0


def kill_account(uid: int, gid: int, *, child: int = 0) -> tuple[int, ...]:
    """Kill all processes of a user.

    Args:
        uid: the user.
        gid: the user's group.
        child: a process whose exit code other code waits for, so it is not reaped here.

    Returns:
        The ids of processes that could not be killed within ten seconds.
    """
    return _kill([uid], gid, lambda owner: owner == uid, child)


def kill_accounts(accounts: Accounts) -> tuple[int, ...]:
    """Kill all processes of a range of users; returns the ids of those that could not be killed within ten seconds."""
    return _kill(accounts.used(), accounts.group, lambda owner: owner in accounts)


def _kill(uids: Iterable[int], gid: int, is_target: Callable[[int], bool], child: int = 0) -> tuple[int, ...]:
    """Send SIGKILL to all processes of each user, then look for processes that are left.

    A process that forks quickly may be in no list of processes. The signal to its user reaches it all the same.
    """
    deadline = time.monotonic() + _LONGEST_S
    unsignalled = set(uids)
    while True:
        unsignalled -= {uid for uid in unsignalled if _kill_as(uid, gid)}
        left = dict(_processes(is_target, child))
        if not left and not unsignalled:
            return ()
        # New ones of a user that was signalled already: it forked in the meantime.
        unsignalled |= set(left.values())
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return tuple(left) or (_UNKNOWN_PID,)
        time.sleep(_PAUSE_S)


def _kill_as(uid: int, gid: int) -> bool:
    """Kill all processes that a user may kill in one system call, so that none of them can fork in the meantime.

    The child process does not call `exec`, because that fails at the user's limit of processes.

    Returns:
        Whether the child sent the signal. It may fail to start at the limit of processes, and its targets may kill it.
    """
    # At the limit of processes, the next round of the loop tries again.
    with warnings.catch_warnings(), contextlib.suppress(OSError):
        warnings.simplefilter("ignore", DeprecationWarning)  # threads: the child makes system calls only
        pid = os.fork()
        if pid == 0:
            code = _NOT_DONE
            try:
                os.setgroups([])
                os.setresgid(gid, gid, gid)
                os.setresuid(uid, uid, uid)
                code = _DONE  # before the signal, which also ends this child
                os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(code)
        return _exit_code(pid) == _DONE
    return False


def _exit_code(pid: int) -> int:
    """The exit code of the child that sends the signal. If its targets stopped it, it is killed after a second."""
    deadline = time.monotonic() + 1.0
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_S / 5)
    return os.waitstatus_to_exitcode(ended[1])


def _processes(is_target: Callable[[int], bool], child: int) -> Iterator[tuple[int, int]]:
    """Running processes with a target user as their real, effective, saved or file system's user; with that user.

    Dead children of this process are reaped, except `child`.
    """
    for name in (path.name for path in _PROC.iterdir() if path.name.isdigit()):
        with contextlib.suppress(OSError, LookupError, ValueError):
            status = dict(
                line.split(":", 1) for line in (_PROC / name / "status").read_text("utf-8", "replace").splitlines()
            )
            target = next((uid for uid in map(int, status["Uid"].split()) if is_target(uid)), None)
            if target is None:
                continue
            if status["State"].split()[0] not in _DEAD:
                yield int(name), target
            elif int(status["PPid"]) == os.getpid() and int(name) != child:
                os.waitpid(int(name), os.WNOHANG)  # an orphan: in a container, this process becomes its parent
