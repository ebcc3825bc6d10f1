"""The folder of a run: its files, and how it is found."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from scoregate.errors import RecordError
from scoregate.kernel.types.runs.evidence import TrialRole

RUN_FILE = "run.json"
CASES_FILE = "cases.jsonl.gz"
COLUMNS_FILE = "columns.jsonl.gz"
RUN_FOLDER = "run"
BASE_FOLDER = "base"
EARLIER = "earlier"
EXTRA = "extra-"
CONTROL = "control"
AGAIN = "again-"
AGAIN_BASE = "base-again"
ATTEMPT = "attempt-"
PUSH = "push-"
# The copies of earlier runs, by what these are to the run.
COPIES = {TrialRole.MAIN: ATTEMPT, TrialRole.PUSH: PUSH}
_COMPANIONS = {
    **{role: f"{name}[0-9][0-9]" for role, name in COPIES.items()},
    TrialRole.EXTRA: f"{EXTRA}*",
    TrialRole.CONTROL: CONTROL,
    TrialRole.AGAIN: f"{AGAIN}[0-9]",
    TrialRole.AGAIN_BASE: AGAIN_BASE,
}
INTERRUPTED = "interrupted"
# Folders with the parts of a run on a cluster, until they are merged.
PARTS = "parts-"


def run_folder(path: Path) -> Path:
    """Find the folder of a run.

    Args:
        path: the folder, the folder above it, or one of its files.

    Raises:
        RecordError: there is no run.
    """
    if path.is_file() and path.name in (RUN_FILE, CASES_FILE):
        path = path.parent
    for folder in (path, path / RUN_FOLDER):
        if (folder / RUN_FILE).is_file():
            return folder
    problem = f"{path} holds no {RUN_FILE}" if path.exists() else f"{path} does not exist"
    raise RecordError(problem, advice="Name a run's folder, such as scoregate-out/run; `scoregate run` writes one.")


def list_companions(folder: Path) -> Iterator[tuple[TrialRole, Path]]:
    """The folders of the runs that were measured next to the run of a folder, and what for."""
    for role, name in _COMPANIONS.items():
        yield from ((role, path) for path in sorted(folder.glob(name)) if not path.is_symlink())


def name_companion(folder: Path, role: TrialRole, number: int) -> Path:
    """The folder, in that of a run, of an earlier attempt or push, or of a further run; numbers are from 1."""
    if role is TrialRole.AGAIN_BASE:
        return folder / AGAIN_BASE
    return folder / (f"{AGAIN}{number}" if role is TrialRole.AGAIN else f"{COPIES[role]}{number:02}")


def open_nofollow(path: str, flags: int, folder: int | None = None) -> int:
    """Open a regular file only; `folder` is the handle of the folder that its path starts at.

    A link could point to a file that only this process may read; a pipe would block.

    Raises:
        OSError: it is not a regular file, or does not exist.
    """
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file")
    return handle


class FileFromStart(io.RawIOBase):
    """A file that is already open, read from its start with a position of its own."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._at = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read the next bytes."""
        data = os.pread(self._fd, len(buffer), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
