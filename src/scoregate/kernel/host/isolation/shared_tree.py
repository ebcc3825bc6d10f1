"""Walk a tree that untrusted processes write to. It uses handles: no link is followed, no path is looked up twice."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from scoregate.kernel.host.user_ids import Accounts

# Deeper than any project; a handle is open for each level.
_DEEPEST = 150
# Whether a folder is entered, by its name and its level below the root.
Enter: TypeAlias = Callable[[str, int], bool]


def walk(root: Path, enter: Enter = lambda _name, _level: True) -> Iterator[tuple[int, str, os.stat_result]]:
    """Every entry below a folder on its file system, and the folder itself at the end.

    Yields:
        A handle of the entry's folder, its name, and its status.

    Raises:
        OSError: the root is not a folder, or can't be read.
    """
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield from _walk(handle, enter, os.fstat(handle).st_dev, 0)
        yield handle, ".", os.fstat(handle)
    finally:
        os.close(handle)


def _walk(folder: int, enter: Enter, device: int, level: int) -> Iterator[tuple[int, str, os.stat_result]]:
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):  # entries may disappear while the suites run
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            is_folder = status.st_mode & 0o170000 == 0o040000
            # A mounted file system is not the project's.
            if status.st_dev != device or (is_folder and not enter(name, level)):
                continue
            if is_folder and level < _DEEPEST:
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                try:
                    yield from _walk(inner, enter, device, level + 1)
                finally:
                    os.close(inner)
            yield folder, name, status


@contextmanager
def open_entry(folder: int, name: str) -> Iterator[int]:
    """A handle of a file or a folder, which stays valid if another file gets the name.

    Raises:
        OSError: the entry is gone, is a link, or can't be opened.
    """
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


def remove_tree(folder: Path) -> None:
    """Delete a folder of any depth with everything in it, as far as possible."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, stderr=subprocess.DEVNULL)


_GROUP = 0o070


@dataclass(slots=True)
class SharedTree:
    """The folder `root`, which belongs to the user `uid` and the group `gid`.

    Args:
        accounts: the users of the suites.
        enter: decides by name and level which folders in it are shared.
        sticky: only the owner of an entry directly in the root can rename or delete it.
    """

    root: Path
    uid: int
    gid: int
    accounts: Accounts
    enter: Enter = lambda _name, _level: True
    sticky: bool = False
    _is_deep: bool = False
    _before: dict[tuple[int, int], tuple[int, int, int]] = field(default_factory=dict)

    def share(self) -> None:
        """Give the group the owner's rights. Files that an interrupted run left to the accounts go back to the owner.

        Raises:
            OSError: this process doesn't have the right to.
        """
        for folder, name, status in walk(self.root, self._enter):
            if not _is_plain(status) or (status.st_dev, status.st_ino) in self._before:
                continue
            # A run that was killed before it restored the workspace.
            left_behind = status.st_uid in self.accounts or status.st_gid == self.accounts.group
            uid = self.uid if status.st_uid in self.accounts else status.st_uid
            gid, mode = status.st_gid, stat.S_IMODE(status.st_mode)
            if left_behind:
                gid, mode = self.gid, _suite_mode(mode)
            if uid == self.uid or gid == self.gid:
                rights = mode >> 3 if uid == self.uid else mode
                shared = mode & 0o1707 | rights & _GROUP
                if stat.S_ISDIR(status.st_mode):
                    shared |= stat.S_ISGID  # new files get the group, too
                    # In a shared temporary folder, no suite may replace what another one made.
                    if self.sticky and os.path.samestat(status, self.root.stat()):
                        shared |= stat.S_ISVTX
                self._before[status.st_dev, status.st_ino] = gid, mode, shared
                with open_entry(folder, name) as handle:
                    os.fchown(handle, uid, self.accounts.group)
                    os.fchmod(handle, shared)

    def restore(self) -> None:
        """Restore owners, groups and modes. Files of suites go to the owner. No process of suites may be running."""
        for folder, name, status in walk(self.root, self._enter):
            if status.st_uid in self.accounts or status.st_gid == self.accounts.group:
                with contextlib.suppress(OSError):
                    self._restore(folder, name, status)

        # Folders deeper than the walk goes; find(1) has no such limit.
        if self._is_deep:
            owner = f"{self.uid}:{self.gid}"
            words = ["find", str(self.root), "-xdev", "-uid", f"+{self.accounts.first}"]
            subprocess.run(
                [*words, "-execdir", "chown", "-h", owner, "{}", "+"], check=False, stderr=subprocess.DEVNULL
            )

    def _enter(self, name: str, level: int) -> bool:
        self._is_deep = self._is_deep or level >= _DEEPEST
        return self.enter(name, level)

    def _restore(self, folder: int, name: str, status: os.stat_result) -> None:
        uid = self.uid if status.st_uid in self.accounts else -1
        if not _is_plain(status):
            os.chown(name, uid, self.gid, dir_fd=folder, follow_symlinks=False)
            return
        mode = stat.S_IMODE(status.st_mode)
        gid, before, shared = self._before.get((status.st_dev, status.st_ino), (self.gid, -1, -1))
        with open_entry(folder, name) as handle:
            # A mode that a suite changed itself stays as the suite wants it.
            os.fchown(handle, uid, gid if mode == shared else self.gid)
            os.fchmod(handle, before if mode == shared else _suite_mode(mode))


def _is_plain(status: os.stat_result) -> bool:
    """Whether it is a file or a folder. Modes of other entries, such as links, don't matter here."""
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)


def _suite_mode(mode: int) -> int:
    """The mode of a suite's file, without the rights added for the group: the group keeps at most those of others."""
    return mode & 0o707 | mode & (mode & 0o007) << 3


def release(root: Path, uid: int, owner: os.stat_result) -> None:
    """Give a user's files in a shared folder to the owner, with the same rights for the group.

    Other users may be writing to the folder.

    Args:
        root: the shared folder.
        uid: the user.
        owner: the status of a file that belongs to the owner.
    """
    for folder, name, status in walk(root):
        if status.st_uid != uid:
            continue
        with contextlib.suppress(OSError):
            if not _is_plain(status):
                os.chown(name, owner.st_uid, -1, dir_fd=folder, follow_symlinks=False)
                continue
            with open_entry(folder, name) as handle:
                current = os.fstat(handle)
                # Between the status and the open, another user's file may have got the name.
                if current.st_uid == uid:
                    mode = stat.S_IMODE(current.st_mode)
                    set_id = stat.S_ISGID if stat.S_ISDIR(current.st_mode) else 0
                    os.fchown(handle, owner.st_uid, -1)
                    os.fchmod(handle, mode & 0o707 | (mode & 0o700) >> 3 | set_id)
