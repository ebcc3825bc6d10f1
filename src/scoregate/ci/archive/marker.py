"""The marker of a run in progress: it is there from the first moment to the last report."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from scoregate.ci.archive.folder import CASES_FILE, RUN_FILE
from scoregate.ci.archive.opening import plainly
from scoregate.errors import ScoregateError, UsageError

MARKER_FILE = "in-progress.json"
IN_PROGRESS = "in-progress-"
_MOST_BYTES = 1 << 16
_TRIES, _PAUSE_S = 5, 0.05  # whoever reads a marker holds its lock for a moment
_WRONG_USAGE = UsageError.exit_code


@dataclass(frozen=True, slots=True)
class Marker:
    """Who makes a run, and since when, in seconds since the epoch. `alive`: that process still runs."""

    pid: int
    started: float
    alive: bool = False


@contextmanager
def marked_in_progress(folder: Path) -> Iterator[None]:
    """Mark the folder of a run as in progress until the block ends. A killed process leaves its marker behind.

    So does a block that fails where an older run could be taken for the one that failed, unless it was called wrongly,
    in which case nothing was run. A folder that cannot be written to has no marker.

    Raises:
        UsageError: another process makes a run there.
    """
    made = [each for each in (folder, folder.parent) if not each.exists()]
    handle = _open_marker(folder)
    failed = False
    try:
        yield
    except BaseException as error:
        failed = not _is_wrong_usage(error)
        raise
    finally:
        if handle is not None:
            hides = failed and (folder / RUN_FILE).exists()  # an older run, which is not to be taken for this one
            if not hides and not list(unfinished_in(folder)):
                (folder / MARKER_FILE).unlink(missing_ok=True)
            os.close(handle)
        for empty in made:
            with suppress(OSError):
                empty.rmdir()


def _is_wrong_usage(error: BaseException) -> bool:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return isinstance(error, ScoregateError) and error.exit_code == _WRONG_USAGE


def _open_marker(folder: Path) -> int | None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / MARKER_FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError:
        return None
    tries = 1
    while not (locked := _is_locked_by(handle)) and tries < _TRIES:
        time.sleep(_PAUSE_S)
        tries += 1
    if not locked:
        os.close(handle)
        raise UsageError(
            f"another process makes a run in {folder}",
            advice="Wait until it has ended, or name another folder with --out.",
        )
    os.ftruncate(handle, 0)
    os.write(handle, to_json({"pid": os.getpid(), "started": time.time()}))
    return handle


def _is_locked_by(handle: int) -> bool:
    """Whether the lock is ours now. Where the disk knows no locks, it is."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def read_marker(folder: Path) -> Marker | None:
    """The marker in the folder of a run; None where there is none that can be read."""
    try:
        with open(folder / MARKER_FILE, "rb", opener=plainly) as file:
            alive = not _is_locked_by(file.fileno())
            told = TypeAdapter(dict[str, float]).validate_json(file.read(_MOST_BYTES))
        return Marker(int(told["pid"]), told["started"], alive=alive)
    except (OSError, ValidationError, KeyError, OverflowError):
        return None


def unfinished_in(folder: Path) -> Iterator[Path]:
    """The folders in that of a run in which a process that no longer runs had written cases, in no order."""
    for path in folder.glob(f"{IN_PROGRESS}*/"):
        if not path.is_symlink() and (path / RUN_FILE).is_file() and not is_being_written(path):
            yield path


def is_being_written(folder: Path) -> bool:
    """Whether a writer that lives holds the lock of the cases there."""
    try:
        with open(folder / CASES_FILE, "rb", opener=plainly) as file:
            return not _is_locked_by(file.fileno())
    except OSError:
        return False
