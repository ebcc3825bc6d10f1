"""The cases file, held open: it stays readable when its folder is given a newer run."""

from __future__ import annotations

import gzip
import io
import os
import re
import weakref
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from scoregate.ci.archive.lines import MAX_LINE_BYTES, case_of
from scoregate.core.case import CaseResult
from scoregate.core.record import Run

_WRITTEN = re.compile(rb'\{"suite":\d+,')
UNREADABLE = (EOFError, gzip.BadGzipFile, zlib.error)


class CasesFile:
    """The cases of a run, read from disk as often as asked. `skipped` are numbers of lines, from 1, that hold none."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.skipped: set[int] = set()
        weakref.finalize(self, os.close, self._fd)

    def lines(self) -> Iterator[bytes]:
        """Every line; of one that is too long only the start, longer than MAX_LINE_BYTES.

        Raises:
            EOFError, BadGzipFile, zlib.error: here the file is cut off or damaged.
        """
        with io.BufferedReader(_FromStart(self._fd), 1 << 18) as raw, gzip.GzipFile(fileobj=raw) as unpacked:
            text = io.BufferedReader(_Unpacked(unpacked), 1 << 18)
            while line := text.readline(MAX_LINE_BYTES + 2):
                yield line
                while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                    line = text.readline(MAX_LINE_BYTES + 2)

    def cases(self, suite: int | None = None) -> Iterator[CaseResult]:
        """Every case, or those of one suite, as far as the file can be read."""
        wanted = (case_of(line) for number, line in enumerate(self.lines(), 1) if self._may_be_of(suite, number, line))
        try:
            yield from (case for case in wanted if suite in (None, case.suite))
        except UNREADABLE:
            return

    def _may_be_of(self, suite: int | None, number: int, line: bytes) -> bool:
        """Whether a line has to be parsed; those that we wrote tell their suite at a glance."""
        if number in self.skipped:
            return False
        return suite is None or line.startswith(b'{"suite":%d,' % suite) or not _WRITTEN.match(line)

    def reader(self, suite: int | None = None) -> Callable[[], Iterator[CaseResult]]:
        """What a run or a suite reads its cases with."""
        return lambda: self.cases(suite)


def with_cases(run: Run, cases: CasesFile) -> Run:
    """The run, reading its cases from a file."""
    suites = (replace(suite, read=cases.reader(at)) for at, suite in enumerate(run.suites))
    return replace(run, suites=tuple(suites), read=cases.reader())


class _Unpacked(io.RawIOBase):
    """What can be unpacked at once: where the file is cut off, all before that comes, then the error."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._packed.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _FromStart(io.RawIOBase):
    """A file that is already open, read from its start with a position of its own."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = os.pread(self._fd, len(buffer), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
