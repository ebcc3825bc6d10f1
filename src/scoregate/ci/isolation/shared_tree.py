"""A folder of the workspace's owner in which all suites may do what the owner may, by a group that they share."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from scoregate.ci.isolation.trees import DEEPEST, Enter, open_entry, walk
from scoregate.ci.user_ids import Accounts

_GROUP = 0o070


def _everywhere(_name: str, _level: int) -> bool:
    return True


@dataclass(slots=True)
class SharedTree:
    """The folder `root`, which belongs to the user `uid` and the group `gid`.

    `enter` says which folders in it are shared. With `sticky`, what is in the root itself can be renamed and deleted by
    who made it only.
    """

    root: Path
    uid: int
    gid: int
    accounts: Accounts
    enter: Enter = _everywhere
    sticky: bool = False
    _is_deep: bool = False
    _before: dict[tuple[int, int], tuple[int, int, int]] = field(default_factory=dict)

    def share(self) -> None:
        """Give the group the owner's rights. What an interrupted run left in the accounts' hands is the owner's again.

        Raises:
            OSError: this process may not.
        """
        for folder, name, found in walk(self.root, self._enter):
            if not _is_plain(found) or (found.st_dev, found.st_ino) in self._before:
                continue
            left_behind = found.st_uid in self.accounts or found.st_gid == self.accounts.group
            uid = self.uid if found.st_uid in self.accounts else found.st_uid
            gid, mode = found.st_gid, stat.S_IMODE(found.st_mode)
            if left_behind:
                gid, mode = self.gid, _suite_mode(mode)
            if uid == self.uid or gid == self.gid:
                shared = self._shared_mode(found, mode, rights=mode >> 3 if uid == self.uid else mode)
                self._before[found.st_dev, found.st_ino] = gid, mode, shared
                with open_entry(folder, name) as handle:
                    os.fchown(handle, uid, self.accounts.group)
                    os.fchmod(handle, shared)

    def _shared_mode(self, found: os.stat_result, mode: int, *, rights: int) -> int:
        shared = mode & 0o1707 | rights & _GROUP
        if stat.S_ISDIR(found.st_mode):
            shared |= stat.S_ISGID
            if self.sticky and os.path.samestat(found, self.root.stat()):
                shared |= stat.S_ISVTX
        return shared

    def restore(self) -> None:
        """Give everything back as it was; what suites made belongs to the owner. No process of theirs may be left."""
        for folder, name, found in walk(self.root, self._enter):
            if found.st_uid in self.accounts or found.st_gid == self.accounts.group:
                with contextlib.suppress(OSError):
                    self._restore(folder, name, found)

        if self._is_deep:
            owner = f"{self.uid}:{self.gid}"
            words = ["find", str(self.root), "-xdev", "-uid", f"+{self.accounts.first}"]
            subprocess.run(
                [*words, "-execdir", "chown", "-h", owner, "{}", "+"], check=False, stderr=subprocess.DEVNULL
            )

    def _enter(self, name: str, level: int) -> bool:
        self._is_deep = self._is_deep or level >= DEEPEST
        return self.enter(name, level)

    def _restore(self, folder: int, name: str, found: os.stat_result) -> None:
        uid = self.uid if found.st_uid in self.accounts else -1
        if not _is_plain(found):
            os.chown(name, uid, self.gid, dir_fd=folder, follow_symlinks=False)
            return
        mode = stat.S_IMODE(found.st_mode)
        gid, before, shared = self._before.get((found.st_dev, found.st_ino), (self.gid, -1, -1))
        with open_entry(folder, name) as handle:
            os.fchown(handle, uid, gid if mode == shared else self.gid)
            os.fchmod(handle, before if mode == shared else _suite_mode(mode))


def _is_plain(found: os.stat_result) -> bool:
    """A file or a folder: what else there is has no rights of its own, or none that count here."""
    return stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)


def _suite_mode(mode: int) -> int:
    """The mode of what a suite made, without what was added for the group: it may do no more than all others."""
    return mode & 0o707 | mode & (mode & 0o007) << 3


def release(root: Path, uid: int, owner: os.stat_result) -> None:
    """Make what a user has made in a shared folder the owner's, with the same rights for the group.

    Other users may be at work in it.
    """
    for folder, name, found in walk(root):
        if found.st_uid != uid:
            continue
        with contextlib.suppress(OSError):
            if not _is_plain(found):
                os.chown(name, owner.st_uid, -1, dir_fd=folder, follow_symlinks=False)
                continue
            with open_entry(folder, name) as handle:
                now = os.fstat(handle)
                if now.st_uid == uid:
                    mode = stat.S_IMODE(now.st_mode)
                    set_id = stat.S_ISGID if stat.S_ISDIR(now.st_mode) else 0
                    os.fchown(handle, owner.st_uid, -1)
                    os.fchmod(handle, mode & 0o707 | (mode & 0o700) >> 3 | set_id)
