"""Share the workspace with the accounts of suites while a command runs."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path

from scoregate.kernel.host.isolation.processes import kill_accounts
from scoregate.kernel.host.isolation.shared_tree import SharedTree
from scoregate.kernel.host.runner import find_workspace
from scoregate.kernel.host.user_ids import ACCOUNTS, Accounts, find_accounts, find_identity

_PIDS_MAX = (Path("/sys/fs/cgroup/pids.max"), Path("/sys/fs/cgroup/pids/pids.max"))
_HOST_PIDS, _FEWEST_PIDS = 256, 256


@contextmanager
def separate_accounts(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Run the processes of suites under accounts of their own, until the block ends.

    Inside the block, the variable SCOREGATE_ACCOUNTS names the accounts. Without the right to do so, or outside of
    scoregate's container, nothing changes. At the end all processes of the accounts are killed, and owners and modes
    in the workspace are restored.
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
    """The folders in which suites get the rights of the owner: the workspace, and the runner's temporary folder.

    If root owns the workspace, nothing is shared.
    """
    top = find_workspace(environ).resolve()
    owner = top.stat()
    if owner.st_uid == 0:
        return
    yield SharedTree(top, owner.st_uid, owner.st_gid, accounts)
    temporary = Path(environ.get("RUNNER_TEMP") or "/nonexistent")
    # A workspace below it would be shared twice.
    if temporary.is_dir() and temporary.stat().st_uid == owner.st_uid and not top.is_relative_to(temporary.resolve()):
        yield SharedTree(
            temporary.resolve(),
            owner.st_uid,
            owner.st_gid,
            accounts,
            enter=lambda name, level: level > 0 or not name.startswith("_"),  # the runner's own folders
            sticky=True,
        )


def _limit_processes() -> None:
    """Limit the processes of each account to a share of the container's limit, so that the host can still start some.

    The limit does not apply to root, except in a user namespace, where nothing is limited.
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
