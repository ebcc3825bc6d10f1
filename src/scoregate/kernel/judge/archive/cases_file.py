"""The cases file, held open: it stays readable when a newer run replaces it."""

from __future__ import annotations

import gzip
import io
import os
import re
import weakref
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from scoregate.kernel.judge.archive.cases import MAX_LINE_BYTES, parse_cases, parse_inputs
from scoregate.kernel.judge.archive.folder import FileFromStart
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.selection import CaseInput

_OWN_LINE = re.compile(rb'\{"suite":\d+,')
_CHUNK = 1 << 18
UNREADABLE = (EOFError, gzip.BadGzipFile, zlib.error)


class Lines(NamedTuple):
    """Some lines of a cases file, without their ends: the number of the first one, from 1, and all bytes together."""

    first: int
    lines: list[bytes]
    data: bytes


class CasesFile:
    """The cases of a run, read from disk every time.

    Args:
        fd: the descriptor of the file, which is closed with the object.
        skipped: the numbers of lines, from 1, without a case.
        suites: the number of the run's suites.
    """

    def __init__(self, fd: int, skipped: Iterable[int] = (), suites: int = 0) -> None:
        self.fd, self.skipped, self.suites = fd, set(skipped), suites
        weakref.finalize(self, os.close, fd)  # once no run reads from it any more

    @classmethod
    def open(cls, path: Path) -> CasesFile:
        """Open a file.

        Raises:
            OSError: it can't be opened.
        """
        return cls(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def lines(self) -> Iterator[Lines]:
        """Yield all lines, some hundred together. A line that is too long is cut, but still above MAX_LINE_BYTES.

        Raises:
            EOFError, BadGzipFile, zlib.error: the file is cut off or damaged at this point.
        """
        first, parts, size = 1, list[bytes](), 0
        with io.BufferedReader(FileFromStart(self.fd), _CHUNK) as raw, gzip.GzipFile(fileobj=raw) as unpacked:
            while chunk := unpacked.read1(_CHUNK):
                if size <= MAX_LINE_BYTES or b"\n" in chunk:
                    parts.append(chunk)
                    size += len(chunk)
                if (end := chunk.rfind(b"\n") + 1) == 0:
                    continue
                parts[-1] = chunk[:end]
                data = b"".join(parts)
                *lines, _ = data.split(b"\n")
                yield Lines(first, lines, data)
                first += len(lines)
                parts, size = [chunk[end:]], len(chunk) - end
            if data := b"".join(parts):
                yield Lines(first, [data], data)

    def cases(self, suite: int | None = None) -> Iterator[CaseResult]:
        """Every case, or those of one suite, as far as the file can be read."""
        prefix = None if suite is None else b'{"suite":%d,' % suite  # scoregate writes the suite first in a line
        for lines in self.valid_lines():
            if prefix is not None:
                lines = [line for line in lines if line.startswith(prefix) or not _OWN_LINE.match(line)]  # noqa: PLW2901
            for case in parse_cases(lines):
                # Reading the run reports lines without a case, unless its columns come from their own file.
                if type(case) is CaseResult and case.suite < self.suites and (suite is None or case.suite == suite):
                    yield case

    def inputs(self) -> Iterator[CaseInput]:
        """The input of every case, as far as the file can be read. This takes half the time of `cases`."""
        for lines in self.valid_lines():
            for case in parse_inputs(lines):
                if case.suite < self.suites:
                    yield case

    def valid_lines(self) -> Iterator[list[bytes]]:
        """Some lines after the other, without those that were found to have no case."""
        with suppress(*UNREADABLE):
            for first, lines, _ in self.lines():
                if self.skipped:
                    yield [line for number, line in enumerate(lines, first) if number not in self.skipped]
                else:
                    yield lines


@record
class CasesReader:
    """Reads the cases of a file each time it is called: of the run, or of one suite."""

    file: CasesFile
    suite: int | None = None

    def __call__(self) -> Iterator[CaseResult]:
        """The cases."""
        return self.file.cases(self.suite)


def with_cases(run: Run, cases: CasesFile) -> Run:
    """The run with its cases read from a file."""
    cases.suites = len(run.suites)
    suites = (
        replace(suite, trials=replace(suite.trials, read=CasesReader(cases, index)))
        for index, suite in enumerate(run.suites)
    )
    return replace(run, suites=tuple(suites), read=CasesReader(cases), read_inputs=cases.inputs)
