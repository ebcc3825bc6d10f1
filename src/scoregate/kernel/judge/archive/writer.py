"""Write a run while it happens; readers see all of it or nothing."""

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
from typing import IO, Any

from pydantic_core import from_json, to_json

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive.cases import MAX_LINE_BYTES, dump_case
from scoregate.kernel.judge.archive.cases_file import CasesFile, CasesReader, with_cases
from scoregate.kernel.judge.archive.columns_file import remove_columns, write_columns
from scoregate.kernel.judge.archive.folder import CASES_FILE, COLUMNS_FILE, RUN_FILE, list_companions
from scoregate.kernel.judge.archive.marker import IN_PROGRESS
from scoregate.kernel.judge.archive.media import MEDIA_FOLDER, MediaFolder, MediaWriter
from scoregate.kernel.judge.archive.rotation import rotate
from scoregate.kernel.judge.archive.run_json import dump_head, make_head, make_unfinished_head
from scoregate.kernel.types.media import MediaFile
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run


class RunWriter:
    """Writes cases as they finish, then the run. Until then, the earlier run in the folder stays.

    Meanwhile the cases are in a folder of their own below it. If the process is killed, `recover` makes a run of the
    cases that were flushed.

    Args:
        folder: the folder of the run; it is created if it is missing.
        keep: how many earlier runs are kept; see `rotate`.

    Raises:
        RecordError: the folder can't be written to.
    """

    def __init__(self, folder: Path, *, keep: int = 0) -> None:
        self._folder, self._keep = folder, keep
        self._crc32 = self._added = self._flushed = 0
        self._is_readable = True
        self._traces: dict[tuple[int, str, int], bytes] = {}
        with _report_disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._partial = folder / f"{IN_PROGRESS}{secrets.token_hex(4)}"
            self._partial.mkdir()
            self._file = _open_locked(self._partial / CASES_FILE)
        self._media = MediaWriter(self._partial)
        self._packed = gzip.GzipFile("", "wb", compresslevel=1, fileobj=self._file, mtime=0)
        self._lines = io.BufferedWriter(self._packed, 1 << 18)

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self._folder

    def add(self, case: CaseResult) -> None:
        """Write a finished trial.

        Raises:
            RecordError: the disk is full, or can't be written to.
        """
        self.add_line(dump_case(case) + b"\n")

    def add_line(self, line: bytes) -> None:
        """Write the line of a finished trial, with its line end.

        Raises:
            RecordError: the disk is full, or can't be written to.
        """
        self._crc32 = zlib.crc32(line, self._crc32)
        self._media.note_line(line)
        self._is_readable = self._is_readable and len(line) <= MAX_LINE_BYTES
        try:
            self._lines.write(line)
        except OSError as error:
            raise _make_disk_error(self._folder, error) from error
        self._added += 1

    def add_cases_of(self, run: Run) -> None:
        """Copy all trials of another run with as many suites, and their images and audio.

        Lines of a file are copied as they are, and not parsed.

        Raises:
            RecordError: the disk is full, or can't be written to.
        """
        self.add_media_of(run)
        if isinstance(run.read, CasesReader) and run.read.suite is None:
            for lines in run.read.file.valid_lines():
                for line in lines:
                    self.add_line(line + b"\n")
            return
        for case in run.cases:
            self.add(case)

    def add_media(self, file: MediaFile) -> None:
        """Write an image or audio. At the end it is kept if a case refers to it.

        Raises:
            RecordError: the disk is full, or can't be written to.
        """
        with _report_disk_errors(self._folder):
            self._media.add(file)

    def add_media_of(self, run: Run) -> None:
        """Copy images and audio that cases refer to from another run, if they are missing at the end."""
        self._media.add_source(run.read_media)

    def add_trace(self, suite: int, case: str, repeat: int, trace: Any) -> None:
        """Add the trajectory of a trial, which may be written already: it is added when the run is finished.

        Args:
            suite: the index of the suite.
            case: the hash of the case.
            repeat: the number of the trial.
            trace: the trajectory as plain data. One that the trial has itself counts.
        """
        self._traces[suite, case, repeat] = zlib.compress(to_json(trace), 1)

    def flush(self, run: Run | None = None) -> None:
        """Write the cases so far to disk, so that a kill of this process can't lose them.

        Args:
            run: the run so far, with the suites of all cases that were added; None if it has not changed.

        Raises:
            RecordError: the disk is full, or can't be written to.
        """
        with _report_disk_errors(self._folder):
            if run is not None:
                self._write_head(dump_head(make_unfinished_head(run)))
            if self._added != self._flushed:
                self._lines.flush()
                self._packed.flush()
                self._flushed = self._added

    def _write_head(self, text: bytes) -> None:
        partial = self._partial / f".{RUN_FILE}.partial"
        partial.write_bytes(text)
        partial.replace(self._partial / RUN_FILE)

    def finish(self, run: Run, *, with_columns: bool = False) -> Run:
        """Write the rest and put the run in its place.

        Args:
            run: the run.
            with_columns: whether its columns are exactly those of the cases that were added, so that they are written,
                too, if there are many.

        Returns:
            The run, its cases read back from disk.

        Raises:
            RecordError: the disk is full, or can't be written to.
        """
        with _report_disk_errors(self._folder):
            self._lines.close()
            self._packed.close()
            if self._traces:
                self._write_traces()
            self._file.flush()
            os.fsync(self._file.fileno())  # else a power cut could leave an empty file under the final name
            self._media.add_source(MediaFolder(self._folder / MEDIA_FOLDER).read)  # of the run that is replaced
            if notice := self._media.finish():
                run = run.add_notices(notice)
            try:
                rotate(self._folder, self._keep)
            except OSError as error:
                notice = f"the run before this one could not be kept: {error.strerror}"
                run = run.add_notices(notice)
            self._write_head(dump_head(make_head(run, self._crc32)))
            cases = CasesFile.open(self._partial / CASES_FILE)
            remove_columns(self._folder)  # they must never be read with the new cases
            if with_columns and self._is_readable:
                write_columns(self._partial, [suite.columns for suite in run.suites], self._crc32)
            # run.json moves last: by it, recovery sees whether a kill came in between.
            for name in (CASES_FILE, COLUMNS_FILE, RUN_FILE):
                if (self._partial / name).exists():
                    (self._partial / name).replace(self._folder / name)
            media = self._media.replace_folder(self._folder)
            for _, companion in list_companions(self._folder):
                shutil.rmtree(companion, ignore_errors=True)
            self._file.close()
            self._partial.rmdir()
        return replace(with_cases(run, cases), read_media=media.read)

    def _write_traces(self) -> None:
        """Write the cases again, with their trajectories."""
        path, partial = self._partial / CASES_FILE, self._partial / f".{CASES_FILE}.partial"
        self._file.flush()
        crc32 = 0
        with gzip.open(path) as lines, _open_locked(partial) as file:
            with gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed:
                for line in lines:
                    written = self._add_trace_to(line)
                    crc32 = zlib.crc32(written, crc32)
                    packed.write(written)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        self._crc32 = crc32

    def _add_trace_to(self, line: bytes) -> bytes:
        case = from_json(line)
        packed = self._traces.get((case["suite"], case["hash"], case.get("repeat", 0)))
        if packed is None or case.get("trace") is not None:
            return line
        longer = to_json({**case, "trace": from_json(zlib.decompress(packed))}, inf_nan_mode="null") + b"\n"
        return longer if len(longer) <= MAX_LINE_BYTES else line

    def close(self) -> None:
        """Stop writing. A run that is not finished can be recovered from what was flushed."""
        for each in (self._lines, self._packed, self._file):
            with suppress(OSError, ValueError):
                each.close()
        if not (self._partial / RUN_FILE).exists():  # nothing was flushed, so nothing can be recovered
            shutil.rmtree(self._partial, ignore_errors=True)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


@contextmanager
def _report_disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _make_disk_error(folder, error) from error


def _make_disk_error(folder: Path, error: OSError) -> RecordError:
    message = f"the run can't be written to {folder}: {error.strerror}"
    return RecordError(message, advice="Name another folder with --out.")


def _open_locked(path: Path) -> IO[bytes]:
    """Create a file that is locked as long as its writer runs."""
    file = path.open("xb")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file
