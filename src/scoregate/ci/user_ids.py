"""User ids: which user the host is, and which user ids run the code of suites."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from scoregate.errors import ScoregateError

ACCOUNTS = "SCOREGATE_ACCOUNTS"
# Containers on one machine must not use the same ids, which share one limit of processes: each draws one of the blocks.
_FIRST, _COUNT, _BLOCKS = 200_000, 65_536, 32_000
# A user namespace without that range still has enough ids for one run; the last one below is that of the user `nobody`.
_FEWEST, _NOBODY = 1_024, 65_534
_used: list[int] = []


@dataclass(frozen=True, slots=True)
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
    """The range that this process uses; None where suites do not get accounts of their own."""
    first, _, last = environ.get(ACCOUNTS, "").partition("-")
    return Accounts(int(first), int(last)) if first.isdigit() and last.isdigit() else None


def find_accounts() -> Accounts | None:
    """A range of ids that this process may start others with; None where it may not."""
    block = _FIRST + secrets.randbelow(_BLOCKS) * _COUNT
    ranges = [_range_of(Path(f"/proc/self/{name}_map"), block) for name in ("uid", "gid")]
    first, last = max(each[0] for each in ranges), min(each[1] for each in ranges)
    accounts = Accounts(first, last)
    if last - first < _FEWEST - 1 or not _can_become(accounts.first + 1, accounts.group):
        return None
    return accounts


def _range_of(path: Path, block: int) -> tuple[int, int]:
    """The first and the last id of the range to use, by a map of the kernel's: lines of inside, outside, count.

    Args:
        block: the first id of the range to use where the map has it.
    """
    try:
        lines = [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
    except OSError:
        return block, block - 1
    return _widest(((inside, inside + count - 1) for inside, _, count in lines), block)


def _widest(mapped: Iterable[tuple[int, int]], block: int) -> tuple[int, int]:
    found = block, block - 1
    for first, last in mapped:
        if first <= block and last >= block + _COUNT - 1:
            return block, block + _COUNT - 1
        if last - first + 1 >= 2 * _FEWEST:
            highest = _NOBODY - 1 if first < _NOBODY <= last else last
            found = highest - _FEWEST + 1, highest
    return found


def _can_become(uid: int, gid: int) -> bool:
    """Try it."""
    environ = {"PATH": os.defpath}
    try:
        done = subprocess.run(["true"], cwd="/", env=environ, user=uid, group=gid, extra_groups=(), check=False)
    except (OSError, ValueError):
        return False
    return done.returncode == 0 and os.geteuid() == 0


MARK = "SCOREGATE_CONTAINER"
NOBODY = 65534
_DOCKER = Path("/var/run/docker.sock")
# Files of a suite may be written by the group that all suites share.
_UMASK = 0o002


@dataclass(frozen=True, slots=True)
class Identity:
    """A user and a group, with no supplementary ones.

    `owns`: the user can write to the workspace. `shared` is the workspace of an account that one process tree has for
    itself, with the owner's rights there by its group; None for the owner and for the user nobody.
    """

    uid: int
    gid: int
    owns: bool = True
    shared: Path | None = None

    def give(self, path: Path) -> None:
        """Make it theirs, without what is in it; a link itself, not what it points to."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def share(self, path: Path) -> None:
        """Give every suite our rights to a file or folder of ours; if all suites are one user, give it to that user."""
        if self.shared is None:
            self.give(path)
            return
        found = path.stat()
        os.chown(path, -1, self.gid)
        path.chmod(found.st_mode & 0o707 | (found.st_mode & 0o700) >> 3 | (0o2000 if path.is_dir() else 0))

    def could_write(self, handle: int) -> bool:
        """Whether an open file is one that they, or others who share the workspace, could have written."""
        found = os.fstat(handle)
        return found.st_uid == self.uid or (self.shared is not None and found.st_gid == self.gid)


class Rights(TypedDict, total=False):
    """The arguments of `subprocess` that start a process as another user."""

    user: int
    group: int
    extra_groups: Sequence[int]
    umask: int


def in_container(environ: Mapping[str, str]) -> bool:
    """Whether this is the host process of scoregate's image, with the right to become another user."""
    return environ.get(MARK) == "1" and os.geteuid() == 0


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether a job runs us and not a person; all systems that run jobs say so."""
    return environ.get("CI", "").lower() not in ("", "0", "false") or environ.get("GITHUB_ACTIONS") == "true"


def workspace(environ: Mapping[str, str]) -> Path:
    """The folder that CI checked the project out into; elsewhere the working directory."""
    return Path(environ.get("GITHUB_WORKSPACE") or Path.cwd())


def find_identity(environ: Mapping[str, str]) -> Identity | None:
    """The owner of the workspace, or the user nobody if that is root; None outside our container."""
    if not in_container(environ):
        return None
    owner = workspace(environ).stat()
    if owner.st_uid == 0:
        return Identity(NOBODY, _harmless_group(NOBODY), owns=False)
    return Identity(owner.st_uid, _harmless_group(owner.st_gid, owner.st_uid))


def new_identity(environ: Mapping[str, str]) -> Identity | None:
    """An account that nothing else runs as; `find_identity` if there are none."""
    owner, accounts = find_identity(environ), current_accounts(environ)
    if owner is None or accounts is None:
        return owner
    return Identity(accounts.new_uid(), accounts.group, owns=owner.owns, shared=workspace(environ).resolve())


def _harmless_group(*groups: int) -> int:
    """The first group that is neither root's nor that of Docker's socket."""
    forbidden = {0}
    with contextlib.suppress(OSError):
        forbidden.add(_DOCKER.stat().st_gid)
    return next(group for group in (*groups, NOBODY, NOBODY - 1) if group not in forbidden)


def process_rights(identity: Identity | None) -> Rights:
    """The arguments that start a process as this user; none without one."""
    if identity is None:
        return Rights()
    found = Rights(user=identity.uid, group=identity.gid, extra_groups=())
    return found if identity.shared is None else Rights(**found, umask=_UMASK)


def owner_rights(environ: Mapping[str, str]) -> Rights:
    """How a process gets the rights of the workspace's owner, such as git, which runs what its configuration names."""
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
    """Give a folder of the workspace, with all that is in it, to the workspace's owner.

    No link is followed, on the way to it or in it: a suite could have put one there.
    """
    identity, top, folder = find_identity(environ), workspace(environ), Path(os.path.normpath(folder))
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
