"""The marker of a run in progress: it exists from the start of a run until its reports are written."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from scoregate.errors import RunRefused, ScoregateError, UsageError
from scoregate.kernel.judge.archive.folder import CASES_FILE, RUN_FILE, open_nofollow
from scoregate.kernel.judge.archive.lock import is_locked, lock_holder
from scoregate.kernel.types.records import record

MARKER_FILE = "in-progress.json"
IN_PROGRESS = "in-progress-"
_MAX_BYTES = 1 << 16


@record
class Marker:
    """The process of a run, and when it started, in seconds since the epoch. `alive`: that process still runs."""

    pid: int
    started: float
    alive: bool = False


@contextmanager
def mark_in_progress(folder: Path) -> Iterator[None]:
    """Mark the folder of a run as in progress until the block ends. The caller holds the lock of the folder above.

    The marker stays if the process is killed. It also stays if the block fails while the folder holds an older run,
    which must not be mistaken for the failed one. It is removed if the block fails with a usage error or a refusal,
    since nothing was run then. A folder that can't be written gets no marker.
    """
    created = [each for each in (folder, folder.parent) if not each.exists()]
    has_marker = _write_marker(folder)
    failed = False
    try:
        yield
    except BaseException as error:
        cause = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        is_usage_error = isinstance(cause, ScoregateError) and cause.exit_code == UsageError.exit_code
        failed = not (is_usage_error or isinstance(cause, RunRefused))
        raise
    finally:
        hides_older_run = failed and (folder / RUN_FILE).exists()
        # Cases that can be recovered need the marker.
        if has_marker and not hides_older_run and not list(find_unfinished(folder)):
            (folder / MARKER_FILE).unlink(missing_ok=True)
        for empty in created:
            with suppress(OSError):  # a run that was refused leaves no empty folder
                empty.rmdir()


def _write_marker(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(folder / MARKER_FILE, flags, 0o644), "wb") as file:  # noqa: PTH123
            file.write(to_json({"pid": os.getpid(), "started": time.time()}))
    except OSError:
        return False
    return True


def read_marker(folder: Path) -> Marker | None:
    """The marker in the folder of a run; None if there is none that can be read."""
    try:
        with open(folder / MARKER_FILE, "rb", opener=open_nofollow) as file:
            content = TypeAdapter(dict[str, float]).validate_json(file.read(_MAX_BYTES))
        pid, started = int(content["pid"]), content["started"]
    except (OSError, ValidationError, KeyError, OverflowError):
        return None
    # A marker that is older than the lock was left by an earlier process. Process ids can repeat, as in containers.
    holder = lock_holder(folder.parent)
    return Marker(pid, started, alive=holder is not None and holder.started <= started)


def find_unfinished(folder: Path) -> Iterator[Path]:
    """The subfolders in which a process that no longer runs wrote cases, in no order."""
    for path in folder.glob(f"{IN_PROGRESS}*/"):
        if not path.is_symlink() and (path / RUN_FILE).is_file() and not is_being_written(path):
            yield path


def is_being_written(folder: Path) -> bool:
    """Whether a process writes cases to the folder now."""
    return is_locked(folder / CASES_FILE)
