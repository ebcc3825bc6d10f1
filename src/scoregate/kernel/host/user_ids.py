"""User ids: which user owns the workspace, and which user ids run the code of suites."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from scoregate.errors import ScoregateError
from scoregate.kernel.host.runner import find_workspace, in_container
from scoregate.kernel.types.records import record

ACCOUNTS = "SCOREGATE_ACCOUNTS"
# Each container chooses a random block of ids. Users with the same id on one machine share one limit of processes.
_FIRST, _COUNT, _BLOCKS = 200_000, 65_536, 32_000
# A user namespace without that range still has enough ids for one run, below the id of the user `nobody`.
_FEWEST = 1_024
NOBODY = 65_534
_SHARED = (
    "run as one user: one could change the results of another. Scoregate looks for such changes; "
    "they make the run unmeasurable"
)
_used: list[int] = []


@record
class Accounts:
    """User ids from `first` to `last`. The group `first` belongs to all of them, and to no other user."""

    first: int
    last: int

    @property
    def group(self) -> int:
        """The group that all of them share."""
        return self.first

    def __contains__(self, uid: int) -> bool:
        return self.first <= uid <= self.last

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def new_uid(self) -> int:
        """A user id that no process of this run has had.

        Raises:
            ScoregateError: all are used.
        """
        if (uid := self.first + 1 + len(_used)) > self.last:
            raise ScoregateError(f"this run has used all {self.last - self.first:,} user ids that it has for suites")
        _used.append(uid)
        return uid

    def used(self) -> tuple[int, ...]:
        """The user ids that processes of this run have had."""
        return tuple(uid for uid in _used if uid in self)


def current_accounts(environ: Mapping[str, str]) -> Accounts | None:
    """The range that this process uses; None if suites don't get accounts of their own."""
    first, _, last = environ.get(ACCOUNTS, "").partition("-")
    return Accounts(int(first), int(last)) if first.isdigit() and last.isdigit() else None


def find_accounts() -> Accounts | None:
    """A range of user ids under which this process can start others; None if it has no right to."""
    block = _FIRST + secrets.randbelow(_BLOCKS) * _COUNT
    ranges = [_range_of(Path(f"/proc/self/{name}_map"), block) for name in ("uid", "gid")]
    first, last = max(each[0] for each in ranges), min(each[1] for each in ranges)
    accounts = Accounts(first, last)
    if last - first < _FEWEST - 1 or not _can_become(accounts.first + 1, accounts.group):
        return None
    return accounts


def _range_of(path: Path, block: int) -> tuple[int, int]:
    """The first and the last id of the range to use; an empty range if there is none.

    Args:
        path: a map of the kernel's. Each line has the first id inside the namespace, the first one outside, the count.
        block: the first id of the range to use, if the map has it.
    """
    try:
        lines = [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
    except OSError:
        return block, block - 1
    small_range = block, block - 1
    for first, _, count in lines:
        last = first + count - 1
        if first <= block and last >= block + _COUNT - 1:
            return block, block + _COUNT - 1
        if count >= 2 * _FEWEST:
            highest = NOBODY - 1 if first < NOBODY <= last else last
            small_range = highest - _FEWEST + 1, highest
    return small_range


def _can_become(uid: int, gid: int) -> bool:
    """Whether this process can start a process as another user; it starts one to find out."""
    environ = {"PATH": os.defpath}
    try:
        process = subprocess.run(["true"], cwd="/", env=environ, user=uid, group=gid, extra_groups=(), check=False)
    except (OSError, ValueError):
        return False
    return process.returncode == 0 and os.geteuid() == 0


_DOCKER = Path("/var/run/docker.sock")
# Files of a suite may be written by the group that all suites share.
_UMASK = 0o002


@record
class Identity:
    """A user and a group, without supplementary groups.

    Args:
        uid: the user.
        gid: the group.
        owns: the user can write to the workspace.
        shared: the workspace, if this account belongs to one process tree only. Its group has the rights of the owner
            in the workspace. None for the owner and for the user `nobody`.
    """

    uid: int
    gid: int
    owns: bool = True
    shared: Path | None = None

    def give(self, path: Path) -> None:
        """Make the user the owner of a path, but not of its content. A link is not followed."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def share(self, path: Path) -> None:
        """Give every suite the host's rights to a file or folder of the host; without accounts, give it to the user."""
        if self.shared is None:
            self.give(path)
            return
        mode = path.stat().st_mode
        os.chown(path, -1, self.gid)
        path.chmod(mode & 0o707 | (mode & 0o700) >> 3 | (0o2000 if path.is_dir() else 0))

    def could_write(self, handle: int) -> bool:
        """Whether this user, or another one that shares the workspace, could have written an open file."""
        status = os.fstat(handle)
        return status.st_uid == self.uid or (self.shared is not None and status.st_gid == self.gid)


class Rights(TypedDict, total=False):
    """The arguments of `subprocess` that start a process as another user."""

    user: int
    group: int
    extra_groups: Sequence[int]
    umask: int


def find_identity(environ: Mapping[str, str]) -> Identity | None:
    """The owner of the workspace, or the user `nobody` if root owns it; None outside of scoregate's container."""
    if not in_container(environ):
        return None
    owner = find_workspace(environ).stat()
    if owner.st_uid == 0:
        return Identity(NOBODY, _harmless_group(NOBODY), owns=False)
    return Identity(owner.st_uid, _harmless_group(owner.st_gid, owner.st_uid))


def new_identity(environ: Mapping[str, str]) -> Identity | None:
    """An account that no other process uses; the result of `find_identity` if there are no accounts."""
    owner, accounts = find_identity(environ), current_accounts(environ)
    if owner is None or accounts is None:
        return owner
    return Identity(accounts.new_uid(), accounts.group, owns=owner.owns, shared=find_workspace(environ).resolve())


def _harmless_group(*groups: int) -> int:
    """The first group that is neither root's group nor the group of Docker's socket."""
    forbidden = {0}
    with contextlib.suppress(OSError):
        forbidden.add(_DOCKER.stat().st_gid)
    return next(group for group in (*groups, NOBODY, NOBODY - 1) if group not in forbidden)


def process_rights(identity: Identity | None) -> Rights:
    """The arguments that start a process as this user; none without one."""
    if identity is None:
        return Rights()
    rights = Rights(user=identity.uid, group=identity.gid, extra_groups=())
    return rights if identity.shared is None else Rights(**rights, umask=_UMASK)


def owner_rights(environ: Mapping[str, str]) -> Rights:
    """The arguments that start a process as the workspace's owner, such as git, whose configuration names programs."""
    identity = new_identity(environ)
    return process_rights(identity if identity is not None and identity.owns else None)


def with_home(
    identity: Identity | None, environ: Mapping[str, str], scratch: Path, *, readable: bool = False
) -> Mapping[str, str]:
    """The environment with a home folder for the user, in `scratch`; unchanged without a user.

    Python may write bytecode again, into folders of that user.

    Args:
        identity: the user.
        environ: the environment.
        scratch: a folder of the host.
        readable: all suites may read the home, for example an interpreter that is installed there.
    """
    if identity is None:
        return environ
    home = scratch / "home"
    home.mkdir(mode=0o700)
    scratch.chmod(0o755)
    identity.give(home)
    if readable and identity.shared is not None:
        home.chmod(0o2750)
    kept = {name: value for name, value in environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "HOME": str(home), "USER": "scoregate", "LOGNAME": "scoregate"}


def give_folder(folder: Path, environ: Mapping[str, str]) -> None:
    """Make the workspace's owner the owner of a folder in the workspace and of everything in it.

    No link is followed, in its path or in the folder, because a suite could have created one there.
    """
    identity, top, folder = find_identity(environ), find_workspace(environ), Path(os.path.normpath(folder))
    if identity is None or not identity.owns or not folder.is_relative_to(top):
        return
    with contextlib.suppress(OSError), contextlib.ExitStack() as handles:
        handle = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
        for part in folder.relative_to(top).parts:
            handles.callback(os.close, handle)
            handle = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
        handles.callback(os.close, handle)
        os.chown(handle, identity.uid, identity.gid)
        for _, folders, files, inner in os.fwalk(".", dir_fd=handle):
            for name in (*folders, *files):
                os.chown(name, identity.uid, identity.gid, dir_fd=inner, follow_symlinks=False)


def missing_isolation(environ: Mapping[str, str]) -> str | None:
    """Why suites of a job don't have accounts of their own; None if they have."""
    if environ.get("GITHUB_ACTIONS") != "true" or current_accounts(environ) is not None:
        return None
    if find_identity(environ) is None:
        return f"outside of scoregate's container, suites {_SHARED}"
    return f"this runner doesn't allow user ids for suites, so they {_SHARED}"
