"""The workspace, shared with the accounts of suites for as long as a command runs."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path

from scoregate.ci.isolation.processes import kill_accounts
from scoregate.ci.isolation.shared_tree import SharedTree
from scoregate.ci.user_ids import ACCOUNTS, Accounts, find_accounts, find_identity, workspace

_PIDS_MAX = (Path("/sys/fs/cgroup/pids.max"), Path("/sys/fs/cgroup/pids/pids.max"))
_HOST_PIDS, _FEWEST_PIDS = 256, 256


@contextmanager
def separate_accounts(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Let the processes of suites have accounts of their own, until the block ends.

    Meanwhile the variable SCOREGATE_ACCOUNTS says which. Without the right to do so, or outside of our container,
    nothing is changed. Afterwards no process of theirs is left, and the workspace is its owner's as before.
    """
    environ.pop(ACCOUNTS, None)
    owner = find_identity(environ)
    accounts = None if owner is None else find_accounts()
    trees = [] if accounts is None else list(_trees(environ, accounts))
    try:
        for tree in trees:
            tree.share()
    except OSError:
        accounts = None
    if accounts is not None:
        _limit_processes()
        environ[ACCOUNTS] = str(accounts)
    try:
        yield
    finally:
        environ.pop(ACCOUNTS, None)
        if accounts is not None:
            kill_accounts(accounts)
        for tree in trees:
            with contextlib.suppress(OSError):
                tree.restore()


def _trees(environ: Mapping[str, str], accounts: Accounts) -> Iterator[SharedTree]:
    """The folders in which suites may do what their owner may: the workspace, and what earlier steps put beside it.

    Where root owns the workspace, nothing is shared.
    """
    top = workspace(environ).resolve()
    owner = top.stat()
    if owner.st_uid == 0:
        return
    yield SharedTree(top, owner.st_uid, owner.st_gid, accounts)
    temporary = Path(environ.get("RUNNER_TEMP") or "/nonexistent")
    if temporary.is_dir() and temporary.stat().st_uid == owner.st_uid and not top.is_relative_to(temporary.resolve()):
        yield SharedTree(
            temporary.resolve(), owner.st_uid, owner.st_gid, accounts, enter=_is_no_runner_folder, sticky=True
        )


def _is_no_runner_folder(name: str, level: int) -> bool:
    """The runner's own folders begin with an underscore."""
    return level > 0 or not name.startswith("_")


def _limit_processes() -> None:
    """Leave the host some of the processes that the container may have: an account has a part of them at most.

    Root itself is not limited, except in a user namespace.
    """
    if Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]:
        return
    for path in _PIDS_MAX:
        with contextlib.suppress(OSError, ValueError):
            most = max(_FEWEST_PIDS, (int(path.read_text()) - _HOST_PIDS) // ((os.cpu_count() or 1) + 1))
            _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
            limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
            return
