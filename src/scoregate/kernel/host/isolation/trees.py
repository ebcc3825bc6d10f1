"""Walk a tree that untrusted processes write to. It uses handles: no link is followed, no path is looked up twice."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

# Deeper than any project; a handle is open for each level.
DEEPEST = 150
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
            if is_folder and level < DEEPEST:
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
