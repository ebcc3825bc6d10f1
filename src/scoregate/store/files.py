"""Files that are written whole or not at all, by one process at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.errors import ReadOnlyStore, StoreError

if TYPE_CHECKING:
    from filelock import FileLock

_LOCK = ".lock"
_PATIENCE_S = 60.0
_POLL_S = 0.02
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder and hold its lock, which the system takes back from a process that dies.

    Raises:
        StoreError: `filelock` is not installed, the system refuses it, or somebody holds the lock for a minute.
    """
    lock = _acquired(folder)
    try:
        yield
    finally:
        lock.release()


def _acquired(folder: Path) -> FileLock:
    try:
        from filelock import FileLock, Timeout
    except ImportError:
        raise ReadOnlyStore(
            f"{folder} cannot be written: the package filelock is not installed",
            advice="Run: pip install 'scoregate[judges]'",
        ) from None
    with told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / _LOCK)
        try:
            lock.acquire(timeout=_PATIENCE_S, poll_interval=_POLL_S)
        except Timeout:
            raise StoreError(
                f"{folder / _LOCK} has been locked by another process for {_PATIENCE_S:g} seconds",
                advice="End that process, or try again when it is done.",
            ) from None
    return lock


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what the system refuses into an error of ours.

    Raises:
        StoreError: whatever the system said of this path.
    """
    try:
        yield
    except OSError as error:
        kind = ReadOnlyStore if error.errno in _REFUSED else StoreError
        raise kind(f"{path}: {error.strerror or error}") from error


def inside(path: Path, folder: Path) -> Path:
    """The path itself, none of whose parts may be a link that leaves the folder.

    Raises:
        StoreError: one is.
    """
    if not path.resolve().is_relative_to(folder.resolve()):
        raise StoreError(f"{path} is a link to a place outside the store", advice="Put the file itself there.")
    return path


def replace(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file beside its place and move it there; readers see the old one or the new one. Needs the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(".new")
    beside.unlink(missing_ok=True)  # left by a process that was killed
    try:
        with beside.open("xb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def extend(path: Path, pieces: Iterable[bytes], *, start: int) -> None:
    """Write after the first `start` bytes of a file, over what a killed process may have left. Needs the lock.

    Who reads at that time may see the beginning of what is written.
    """
    with path.open("r+b") as file:
        file.truncate(start)
        file.seek(start)
        try:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(start)
            raise
