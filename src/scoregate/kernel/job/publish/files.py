"""Reports as files, written atomically; reports of an earlier run are deleted first."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scoregate.errors import UsageError
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget, Render, describe_error
from scoregate.kernel.types.runs.cases import CaseResult

if TYPE_CHECKING:
    from scoregate.kernel.report.view import ReportView

# The slowest report of a run is at most three blocks behind the fastest one (measured). Cases may be large: 1,000 with
# trajectories of 100 steps take 50 MB.
_BLOCK, _MOST_BLOCKS = 250, 4


class SharedCases:
    """Reads the cases of a run for several readers, each of which starts at the first case.

    The last 1,000 cases stay in memory. A reader that is further behind reads the cases again.

    Args:
        read: reads all cases.
    """

    def __init__(self, read: Callable[[], Iterator[CaseResult]]) -> None:
        self._read = read
        self._source: Iterator[CaseResult] | None = None
        self._recent: deque[list[CaseResult]] = deque(maxlen=_MOST_BLOCKS)
        self._parsed = 0  # blocks, all of them full but the last one
        self._failed = False

    def blocks(self) -> Iterator[list[CaseResult]]:
        """All cases, some hundred together."""
        number = 0
        while not self._failed and number >= self._parsed - len(self._recent):
            if number == self._parsed and not self._parse_block():
                return
            yield self._recent[number - self._parsed]
            number += 1
        again = islice(self._read(), number * _BLOCK, None)
        while block := list(islice(again, _BLOCK)):
            yield block

    def _parse_block(self) -> bool:
        """Parse the next cases; False if there are none."""
        if self._source is None:
            self._source = self._read()
        try:
            block = list(islice(self._source, _BLOCK))
        except BaseException:
            self._failed = True  # to another reader, this would look like the end of the cases
            raise
        if block:
            self._recent.append(block)
            self._parsed += 1
        return bool(block)


@dataclass(slots=True)
class CasesReader:
    """Reads shared cases for one report; `position` is the number of cases that it has read."""

    shared: SharedCases
    position: int = 0

    def read(self) -> Iterator[CaseResult]:
        """Every case, from the first one."""
        for block in self.shared.blocks():
            self.position += len(block)
            yield from block


async def publish_files(view: ReportView, target: PublishTarget) -> Delivery:
    """Write every report as a file; a failed one is a warning, and the others are written.

    The reports are written by turns, so that the cases of the run are parsed once for all of them.
    """
    remove_files(target.out, target.files)
    cases = SharedCases(view.trials.read)
    unfinished = [_start_report(view, target, name, CasesReader(cases)) for name in target.files]
    delivery = Delivery()
    while unfinished:
        # The one that is behind goes on, so that the cases that it needs are still in memory.
        report = min(unfinished, key=lambda each: each.cases.position)
        try:
            next(report.steps)
            continue
        except StopIteration:
            pass
        except OSError as error:
            delivery += Delivery(warnings=(f"cannot write {report.path}: {error.strerror}",))
        except Exception as error:  # an error in one report must not stop the others
            delivery += Delivery(warnings=(f"cannot create {report.path}: {describe_error(error)}",))
        unfinished.remove(report)
    return delivery


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Delete reports of an earlier run, so that none is mistaken for a report of this run.

    Raises:
        UsageError: a file can't be deleted.
    """
    for name in names:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot delete {folder / name} of an earlier run: {error.strerror}",
                advice="Delete it, or choose another folder with --out.",
            ) from None


@dataclass(slots=True)
class _UnfinishedReport:
    """A report that is being written: each of its steps writes a chunk."""

    path: Path
    cases: CasesReader
    steps: Iterator[None]


def _start_report(view: ReportView, target: PublishTarget, name: str, cases: CasesReader) -> _UnfinishedReport:
    path, own_view = target.out / name, replace(view, trials=replace(view.trials, read=cases.read))
    return _UnfinishedReport(path, cases, _write_report(own_view, target, path, target.files[name]))


def _write_report(view: ReportView, target: PublishTarget, path: Path, render: Render) -> Iterator[None]:
    with _open_atomically(path) as file:
        for chunk in target.redact_chunks(render(view)):
            file.write(chunk)
            yield


def write_atomically(path: Path, chunks: Iterable[str]) -> None:
    """Write text so that readers see the old file or the new one, never a part.

    Raises:
        OSError: the file can't be written.
    """
    with _open_atomically(path) as file:
        file.writelines(chunks)


@contextmanager
def _open_atomically(path: Path) -> Iterator[IO[str]]:
    """A file that takes the place of `path` at the end of the block, unless that raises."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # A rename is atomic on one disk only.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123
            yield file
        umask = os.umask(0)  # it can't be read without setting it
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)  # mkstemp lets no other user read it
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
