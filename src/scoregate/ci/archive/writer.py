"""Write a run as it happens; readers see the whole of it or nothing."""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO

from scoregate.ci.archive.cases import CasesFile, with_cases
from scoregate.ci.archive.earlier import put_by
from scoregate.ci.archive.folder import CASES_FILE, EXTRA, RUN_FILE
from scoregate.ci.archive.head import dump_head, head_of
from scoregate.ci.archive.lines import case_line
from scoregate.core.case import CaseResult
from scoregate.core.record import Run
from scoregate.errors import RecordError


class RunWriter:
    """Takes in cases as they finish, then the run. Until then, a run that the folder already has stays.

    Args:
        folder: where the run is to be; made if it is not there. What a crashed writer left in it is deleted.
        keep: how many runs stay that newer ones took the place of; see `put_by`.

    Raises:
        RecordError: the folder cannot be written to.
    """

    def __init__(self, folder: Path, *, keep: int = 0) -> None:
        self._folder, self._keep = folder, keep
        self._crc32 = 0
        with _told(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _clean(folder)
            token = secrets.token_hex(4)
            self._cases, self._head = (folder / f".{name}-{token}.partial" for name in (CASES_FILE, RUN_FILE))
            self._file = _opened(self._cases)
        packed = gzip.GzipFile("", "wb", compresslevel=1, fileobj=self._file, mtime=0)
        self._lines = io.BufferedWriter(packed, 1 << 18)

    @property
    def folder(self) -> Path:
        """Where the run is to be."""
        return self._folder

    def add(self, case: CaseResult) -> None:
        """Write a finished trial.

        Raises:
            RecordError: the disk refused.
        """
        line = case_line(case) + b"\n"
        self._crc32 = zlib.crc32(line, self._crc32)
        with _told(self._folder):
            self._lines.write(line)

    def finish(self, run: Run) -> Run:
        """Write the rest and put the run in its place.

        Returns:
            The run, its cases read back from disk.

        Raises:
            RecordError: the disk refused.
        """
        with _told(self._folder):
            self._lines.close()
            self._lines.raw.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            run = replace(run, notices=(*run.notices, *self._put_by()))
            with self._head.open("xb") as head:
                head.write(dump_head(head_of(run, self._crc32)))
            cases = CasesFile(self._cases)
            self._cases.replace(self._folder / CASES_FILE)
            self._head.replace(self._folder / RUN_FILE)
            for extra in self._folder.glob(f"{EXTRA}*"):
                shutil.rmtree(extra, ignore_errors=True)
            self._file.close()
        return with_cases(run, cases)

    def _put_by(self) -> Iterator[str]:
        try:
            put_by(self._folder, self._keep)
        except OSError as error:
            yield f"the run before this one could not be kept: {error.strerror}"

    def close(self) -> None:
        """Give up what was not finished."""
        for each in (self._lines, self._lines.raw, self._file):
            with suppress(OSError, ValueError):
                each.close()
        for path in (self._cases, self._head):
            path.unlink(missing_ok=True)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordError(
            f"the run cannot be written to {folder}: {error.strerror}", advice="Name another folder with --out."
        ) from error


def _opened(path: Path) -> IO[bytes]:
    """Open it anew, locked for as long as its writer lives."""
    file = path.open("xb")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def _clean(folder: Path) -> None:
    """Delete what crashed writers left; a writer that lives holds a lock."""
    for path in folder.glob(".*.partial"):
        with suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
