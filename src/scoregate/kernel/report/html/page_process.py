"""A second process that makes the pages of a large baseline while this one makes those of the run.

It reads a `PageJob` from stdin. It writes the elements of the pages and then the filled `SidePages` to stdout, all
pickled. Both streams are files, so neither process waits for the other. The job contains the secrets to redact, so it
is in memory only.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from tempfile import TemporaryFile
from typing import IO

from scoregate.kernel.judge.archive.cases_file import CasesFile, CasesReader
from scoregate.kernel.report.html.side_pages import SidePages
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult

# The start of a process takes as long as the pages of this many trials (measured).
_LEAST_TRIALS = 20_000


@record
class PageJob:
    """What the process needs: the pages to fill, and the arguments of the `CasesFile` with the trials.

    The process inherits the descriptor of the file.
    """

    pages: SidePages
    fd: int
    skipped: frozenset[int]
    suites: int


class PageProcess:
    """A process that makes pages, and what it has written."""

    def __init__(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        self._process, self._output = process, output

    def wait(self) -> bool:
        """Wait until the pages are made; False if the process failed, for example without memory."""
        return self._process.wait() == 0

    def read_output(self) -> Iterator[str | SidePages]:
        """Yield the elements of the pages, then the filled `SidePages`."""
        self._output.seek(0)
        output: str | SidePages = ""
        while isinstance(output, str):
            output = pickle.load(self._output)
            yield output


@contextmanager
def start_page_process(pages: SidePages, read: Callable[[], Iterable[CaseResult]]) -> Iterator[PageProcess | None]:
    """Start a process for the pages of a baseline, and stop it at the end of the block.

    Yields:
        The process; None if it can't be started or would not save time: for a small baseline, with one processor, or if
        the cases are not read directly from a file.
    """
    is_large = pages.index.listed >= _LEAST_TRIALS and (os.cpu_count() or 1) > 1
    if not (is_large and isinstance(read, CasesReader) and read.suite is None and hasattr(os, "memfd_create")):
        yield None
        return
    job = PageJob(pages, read.file.fd, frozenset(read.file.skipped), read.file.suites)
    with os.fdopen(os.memfd_create("job"), "w+b") as source, TemporaryFile() as output:
        pickle.dump(job, source)
        source.seek(0)
        try:
            process = _start_process(source, output, job.fd)
        except OSError:
            yield None
            return
        with process:
            try:
                yield PageProcess(process, output)
            finally:
                process.kill()


def _start_process(source: IO[bytes], output: IO[bytes], fd: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
    return subprocess.Popen(command, stdin=source, stdout=output, stderr=subprocess.DEVNULL, pass_fds=(fd,))


def main() -> None:
    """Make the pages of the job."""
    job: PageJob = pickle.load(sys.stdin.buffer)
    cases = CasesFile(job.fd, job.skipped, job.suites).cases()
    for element in job.pages.write(cases):
        pickle.dump(element, sys.stdout.buffer)
    pickle.dump(replace(job.pages, redact=str), sys.stdout.buffer)
