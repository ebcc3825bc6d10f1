"""Who runs us, and as whom users' code runs in our container: where our environment and Docker are out of its reach."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from scoregate.ci.accounts import current_accounts

MARK = "SCOREGATE_CONTAINER"
NOBODY = 65534
_DOCKER = Path("/var/run/docker.sock")
# Files of a suite may be written by the group that all suites share.
_UMASK = 0o002


@dataclass(frozen=True, slots=True)
class Identity:
    """A user and a group, with no supplementary ones.

    `owns` tells whether the workspace is theirs to write to. `shared` is the workspace of an account that one process
    tree has for itself: it may do there what the owner may, by its group. None where it is the owner, or nobody.
    """

    uid: int
    gid: int
    owns: bool = True
    shared: Path | None = None

    def give(self, path: Path) -> None:
        """Make it theirs, without what is in it; a link itself, not what it points to."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def share(self, path: Path) -> None:
        """Let every suite do with a file or a folder of ours what we may; where all are one user, give it to them."""
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
    """How a process is started as somebody else, in the words of `subprocess`."""

    user: int
    group: int
    extra_groups: Sequence[int]
    umask: int


def in_container(environ: Mapping[str, str]) -> bool:
    """Whether we are the host process of our own image, with its right to become somebody else."""
    return environ.get(MARK) == "1" and os.geteuid() == 0


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether a job runs us and not a person; all systems that run jobs say so."""
    return environ.get("CI", "").lower() not in ("", "0", "false") or environ.get("GITHUB_ACTIONS") == "true"


def workspace(environ: Mapping[str, str]) -> Path:
    """The folder that CI checked the project out into; elsewhere the working directory."""
    return Path(environ.get("GITHUB_WORKSPACE") or Path.cwd())


def find_identity(environ: Mapping[str, str]) -> Identity | None:
    """The owner of the workspace, or nobody where that is root; None outside our container: we stay who we are."""
    if not in_container(environ):
        return None
    owner = workspace(environ).stat()
    if owner.st_uid == 0:
        return Identity(NOBODY, _harmless(NOBODY), owns=False)
    return Identity(owner.st_uid, _harmless(owner.st_gid, owner.st_uid))


def new_identity(environ: Mapping[str, str]) -> Identity | None:
    """An account that nothing else runs as; `find_identity` where there are none."""
    owner, accounts = find_identity(environ), current_accounts(environ)
    if owner is None or accounts is None:
        return owner
    return Identity(accounts.new_uid(), accounts.group, owns=owner.owns, shared=workspace(environ).resolve())


def _harmless(*groups: int) -> int:
    """The first group that is neither root's nor that of Docker's socket."""
    forbidden = {0}
    with contextlib.suppress(OSError):
        forbidden.add(_DOCKER.stat().st_gid)
    return next(group for group in (*groups, NOBODY, NOBODY - 1) if group not in forbidden)


def rights(identity: Identity | None) -> Rights:
    """How a process is started as them; as we are, where there is nobody to be."""
    if identity is None:
        return Rights()
    found = Rights(user=identity.uid, group=identity.gid, extra_groups=())
    return found if identity.shared is None else Rights(**found, umask=_UMASK)


def as_owner(environ: Mapping[str, str]) -> Rights:
    """How a process gets the rights of the workspace's owner, such as git, which runs what its configuration names."""
    identity = new_identity(environ)
    return rights(identity if identity is not None and identity.owns else None)


def at_home(
    identity: Identity | None, environ: Mapping[str, str], scratch: Path, *, readable: bool = False
) -> Mapping[str, str]:
    """The environment in which they are at home, in a new folder of `scratch`; as it is, where there is nobody to be.

    Bytecode may be written there again: what is theirs to write to, nobody else has to clean up.

    Args:
        readable: all suites may read it, as they must an interpreter that is installed there.
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
