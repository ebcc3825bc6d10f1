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
from scoregate.ci.archive.head import dump_head, head_of, uncounted_head
from scoregate.ci.archive.lines import case_line
from scoregate.ci.archive.marker import IN_PROGRESS
from scoregate.core.case import CaseResult
from scoregate.core.record import Run
from scoregate.errors import RecordError


class RunWriter:
    """Takes in cases as they finish, then the run. Until then, a run that the folder already has stays.

    Meanwhile the cases are in a folder of their own below, from which `recover` makes a run if the process is killed:
    all that was flushed is in it.

    Args:
        folder: where the run is to be; made if it is not there.
        keep: how many runs stay that newer ones took the place of; see `put_by`.

    Raises:
        RecordError: the folder cannot be written to.
    """

    def __init__(self, folder: Path, *, keep: int = 0) -> None:
        self._folder, self._keep = folder, keep
        self._crc32 = self._added = self._flushed = 0
        with _told(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._making = folder / f"{IN_PROGRESS}{secrets.token_hex(4)}"
            self._making.mkdir()
            self._file = _opened(self._making / CASES_FILE)
        self._packed = gzip.GzipFile("", "wb", compresslevel=1, fileobj=self._file, mtime=0)
        self._lines = io.BufferedWriter(self._packed, 1 << 18)

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
        self._added += 1

    def flush(self, run: Run | None = None) -> None:
        """Put the cases so far where a kill of this process cannot lose them.

        Args:
            run: what is known of it by now, where that has changed; the suites of all cases that were added.

        Raises:
            RecordError: the disk refused.
        """
        with _told(self._folder):
            if run is not None:
                self._write_head(dump_head(uncounted_head(run)))
            if self._added != self._flushed:
                self._lines.flush()
                self._packed.flush()
                self._flushed = self._added

    def _write_head(self, text: bytes) -> None:
        partial = self._making / f".{RUN_FILE}.partial"
        partial.write_bytes(text)
        partial.replace(self._making / RUN_FILE)

    def finish(self, run: Run) -> Run:
        """Write the rest and put the run in its place.

        Returns:
            The run, its cases read back from disk.

        Raises:
            RecordError: the disk refused.
        """
        with _told(self._folder):
            self._lines.close()
            self._packed.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            run = replace(run, notices=(*run.notices, *self._put_by()))
            self._write_head(dump_head(head_of(run, self._crc32)))
            cases = CasesFile(self._making / CASES_FILE)
            for name in (CASES_FILE, RUN_FILE):
                (self._making / name).replace(self._folder / name)
            for extra in self._folder.glob(f"{EXTRA}*"):
                shutil.rmtree(extra, ignore_errors=True)
            self._file.close()
            self._making.rmdir()
        return with_cases(run, cases)

    def _put_by(self) -> Iterator[str]:
        try:
            put_by(self._folder, self._keep)
        except OSError as error:
            yield f"the run before this one could not be kept: {error.strerror}"

    def close(self) -> None:
        """Give up a run that was not finished. What was flushed of it can be recovered."""
        for each in (self._lines, self._packed, self._file):
            with suppress(OSError, ValueError):
                each.close()
        if not (self._making / RUN_FILE).exists():
            shutil.rmtree(self._making, ignore_errors=True)

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
