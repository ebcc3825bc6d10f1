"""Kill every process of an account, and verify that none is left."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from scoregate.ci.user_ids import Accounts

_PROC = Path("/proc")
_LONGEST_S = 10.0
_PAUSE_S = 0.005
_DEAD = frozenset("ZX")
_DONE, _NOT_DONE = 0, 1
# Stands for processes that are in no list.
_UNKNOWN = 0


def kill_account(uid: int, gid: int, *, child: int = 0) -> tuple[int, ...]:
    """Kill all processes of a user.

    Args:
        child: the one whose exit code other code of this process waits for.

    Returns:
        Those that could not be killed within ten seconds.
    """
    return _kill([uid], gid, lambda found: found == uid, child)


def kill_accounts(accounts: Accounts) -> tuple[int, ...]:
    """Kill all processes of a range of users; returns those that could not be killed within ten seconds."""
    return _kill(accounts.used(), accounts.group, lambda found: found in accounts)


def _kill(uids: Iterable[int], gid: int, wanted: Callable[[int], bool], child: int = 0) -> tuple[int, ...]:
    """Signal all users, then look for what is left.

    A process that forks quickly may be in no list of processes; once its user is signalled, it cannot fork any more.
    """
    deadline = time.monotonic() + _LONGEST_S
    unsignalled = set(uids)
    while True:
        unsignalled -= {uid for uid in unsignalled if _kill_as(uid, gid)}
        left = dict(_processes(wanted, child))
        if not left and not unsignalled:
            return ()
        unsignalled |= set(left.values())
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return tuple(left) or (_UNKNOWN,)
        time.sleep(_PAUSE_S)


def _kill_as(uid: int, gid: int) -> bool:
    """Kill what a user may kill, at once: the kernel lets none of them fork meanwhile.

    There is no `exec`, which fails for a user who has as many processes as they may have.

    Returns:
        Whether it was done: there may be no room for one more process, and targets may kill the one that kills.
    """
    with warnings.catch_warnings(), contextlib.suppress(OSError):
        warnings.simplefilter("ignore", DeprecationWarning)  # threads: the child makes system calls only
        pid = os.fork()
        if pid == 0:
            _kill_and_exit(uid, gid)
        return _exit_code(pid) == _DONE
    return False


def _kill_and_exit(uid: int, gid: int) -> None:
    code = _NOT_DONE
    try:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        code = _DONE
        os.kill(-1, signal.SIGKILL)
    finally:
        os._exit(code)


def _exit_code(pid: int) -> int:
    """That of the process that kills; one that its targets have stopped is killed itself."""
    deadline = time.monotonic() + 1.0
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_S / 5)
    return os.waitstatus_to_exitcode(ended[1])


def _processes(wanted: Callable[[int], bool], child: int) -> Iterator[tuple[int, int]]:
    """Living processes, with the user who makes them wanted: the real, effective, saved or file system's one."""
    for name in (path.name for path in _PROC.iterdir() if path.name.isdigit()):
        with contextlib.suppress(OSError, LookupError, ValueError):
            status = dict(
                line.split(":", 1) for line in (_PROC / name / "status").read_text("utf-8", "replace").splitlines()
            )
            found = next((uid for uid in map(int, status["Uid"].split()) if wanted(uid)), None)
            if found is None:
                continue
            if status["State"].split()[0] not in _DEAD:
                yield int(name), found
            elif int(status["PPid"]) == os.getpid() and int(name) != child:
                os.waitpid(int(name), os.WNOHANG)  # an orphan that became ours, as those of a container do
