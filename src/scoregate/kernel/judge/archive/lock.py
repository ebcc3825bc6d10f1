"""The lock of an output folder: one process at a time writes a run and its reports there.

A lock that is there and that no process holds was left by a killed process. It shows from the first moment on that the
run in the folder may be an older one.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from scoregate.errors import UsageError
from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.types.records import record

LOCK_FILE = ".lock"
_MAX_BYTES = 1 << 10
_TRIES, _PAUSE_S = 5, 0.05  # a process that checks a lock holds it for a moment


@record
class LockHolder:
    """The process that holds a lock, and since when, in seconds since the epoch."""

    pid: int
    started: float


@contextmanager
def lock_folder(out: Path) -> Iterator[None]:
    """Hold the lock of an output folder until the block ends. The system releases it if the process is killed.

    Args:
        out: the folder of a run and its reports. It is created if needed.

    Raises:
        UsageError: another process holds the lock, or the folder can't be written.
    """
    path = out / LOCK_FILE
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = _open_locked(path)
    except BlockingIOError:
        holder = _read_holder(path)
        raise UsageError(
            f"another scoregate run (process {holder.pid if holder else 'unknown'}) is writing to {out.resolve()}",
            advice="Wait until it ends, or choose another folder with --out.",
        ) from None
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}", advice="Choose another folder with --out.") from None
    with file:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # before the lock is released: another process may hold the path by then


def lock_holder(out: Path) -> LockHolder | None:
    """The process that holds the lock of an output folder now; None if it is free."""
    return _read_holder(out / LOCK_FILE) if is_locked(out / LOCK_FILE) else None


def find_killed_holder(out: Path) -> LockHolder | None:
    """The killed process that left the lock of an output folder; None if there is no lock, or a process holds it."""
    path = out / LOCK_FILE
    try:
        created = path.lstat().st_mtime
    except OSError:
        return None
    if is_locked(path):
        return None
    return _read_holder(path) or LockHolder(0, created)  # it was killed before it had written who it is


def remove_left_lock(out: Path) -> None:
    """Delete the lock of a killed process."""
    if find_killed_holder(out) is not None:
        (out / LOCK_FILE).unlink(missing_ok=True)


def is_locked(path: Path) -> bool:
    """Whether a process holds a file's lock. Where the file system has no locks, none does."""
    try:
        with open(path, "rb", opener=open_nofollow) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _open_locked(path: Path) -> IO[bytes]:
    """Open and lock the file and write this process into it. Try again if its holder deletes it meanwhile."""
    tries = 1
    while True:
        file = path.open("ab")  # appends, as the id of the holder must stay
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                file.truncate(0)
                file.write(to_json({"pid": os.getpid(), "started": time.time()}))
                file.flush()
                return file
        except BlockingIOError:
            if tries == _TRIES:
                file.close()
                raise
            tries += 1
            time.sleep(_PAUSE_S)
        except BaseException:
            file.close()
            raise
        file.close()


def _read_holder(path: Path) -> LockHolder | None:
    try:
        with open(path, "rb", opener=open_nofollow) as file:
            return TypeAdapter(LockHolder).validate_json(file.read(_MAX_BYTES))
    except (OSError, ValidationError):
        return None
