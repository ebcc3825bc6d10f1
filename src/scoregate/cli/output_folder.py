"""The output folder of a command: locked for one run at a time, without files that scoregate did not write."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scoregate.errors import UsageError
from scoregate.kernel.host.runner import in_ci
from scoregate.kernel.job.publish.files import remove_files, write_atomically
from scoregate.kernel.judge.archive import REPORT_FILE, RUN_FILE, RUN_FOLDER
from scoregate.kernel.judge.archive.lock import lock_folder
from scoregate.kernel.run.launch import LaunchEvent, Printed
from scoregate.kernel.run.recording import Observer, Recording

if TYPE_CHECKING:
    from rich.text import Text

_SHOWN = 256 * 1024  # characters of one script
_KEPT = 256 * 1024 * 1024
_LONGEST_NAME = 100
_PREFIX, _SUFFIX = "output-", ".log"
_LEFT_OUT = f"… the rest is left out: more than {_KEPT:,} characters\n"


@dataclass(slots=True)
class _Output:
    """What one script printed so far: the first part in memory, and all of it in a file once it is long."""

    name: str
    size: int = 0
    lines: list[str] = field(default_factory=list)
    file: IO[str] | None = None


@dataclass(slots=True)
class PrintedOutput:
    """An observer that passes events on, but only the first lines that a script prints.

    Args:
        observe: gets the events.
        print_line: prints where the other lines are.
        folder: a folder for files while scripts run, which suites can't reach.
        out: the output folder, as it is shown.
    """

    observe: Observer
    print_line: Callable[[Text], None]
    folder: Path
    out: str
    _outputs: dict[str, _Output] = field(default_factory=dict)

    def __call__(self, event: LaunchEvent, recording: Recording) -> None:
        """Pass an event on, unless it is a line above the limit."""
        if isinstance(event, Printed) and not self._is_shown(event):
            return
        self.observe(event, recording)

    def save(self, out: Path) -> None:
        """Write the files of long outputs to a folder. If the disk is full, they are missing."""
        for output in self._outputs.values():
            if output.file is not None:
                with suppress(OSError), output.file as file:
                    file.seek(0)
                    write_atomically(out / output.name, iter(partial(file.read, 1 << 20), ""))

    def _is_shown(self, event: Printed) -> bool:
        output = self._outputs.get(event.script)
        if output is None:
            output = self._outputs[event.script] = _Output(self._new_name(event.script))
        output.size += len(event.line) + 1
        if output.size <= _SHOWN:
            output.lines.append(event.line)
            return True
        with suppress(OSError):
            self._write(output, event.line)
        return False

    def _write(self, output: _Output, line: str) -> None:
        if output.file is None:
            from rich.text import Text

            self.print_line(Text(f"… the complete output is in {self.out}/{output.name} at the end", style="yellow"))
            output.file = (self.folder / output.name).open("w+", encoding="utf-8", errors="replace", newline="\n")
            output.file.writelines(f"{each}\n" for each in output.lines)
            output.lines = []
        if output.size <= _KEPT:
            output.file.write(f"{line}\n")
        elif output.size - len(line) - 1 <= _KEPT:
            output.file.write(_LEFT_OUT)  # once: only one line crosses the limit

    def _new_name(self, script: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", script)[:_LONGEST_NAME]
        taken = {each.name for each in self._outputs.values()}
        numbers = ("", *(f"-{index}" for index in range(2, len(taken) + 3)))
        names = (f"{_PREFIX}{plain}{number}{_SUFFIX}" for number in numbers)
        return next(name for name in names if name not in taken)


@contextmanager
def limit_output(
    observe: Observer, print_line: Callable[[Text], None], *, folder: Path, out: Path, shown_out: str
) -> Iterator[PrintedOutput]:
    """Limit what an observer gets of the output of scripts; at the end, long outputs are written to `out`."""
    printed = PrintedOutput(observe, print_line, folder, shown_out)
    try:
        yield printed
    finally:
        printed.save(out)


def _list_output_files(out: Path) -> list[str]:
    """The names of the files with outputs in a folder."""
    return sorted(path.name for path in out.glob(f"{_PREFIX}*{_SUFFIX}"))


_ADVICE = "Choose a folder for reports only with --out, such as scoregate-out."
_RUN_RECORD = f"{RUN_FOLDER}/{RUN_FILE}"
_RESULT = "result.json"
_REPORTS = ("junit.xml", "comment.md", _RESULT, REPORT_FILE)
_SUITES = (".py", ".testset.toml")
_MOST_FILES = 1_000
_BEGINNING = b'{\n  "schema_version"'


@contextmanager
def lock_output(out: Path, root: Path) -> Iterator[None]:
    """Lock the output folder until the block ends, and delete the reports of an earlier run.

    A folder that is created here gets a `.gitignore`, except in CI. It is removed if nothing was written.

    Raises:
        UsageError: another process writes to the folder, or reports can't go there.
    """
    check_output(out, root)
    created = not out.exists()
    try:
        with lock_folder(out):
            # Outside of CI the page of an earlier run stays until a newer one replaces it.
            kept = set() if in_ci(os.environ) else {REPORT_FILE}
            remove_files(out, {*_REPORTS, *_list_output_files(out)} - kept)
            yield
    finally:
        if created:
            with suppress(OSError):  # it is not empty
                out.rmdir()
            with suppress(OSError):
                if out.exists() and not in_ci(os.environ):
                    (out / ".gitignore").write_text("*\n", encoding="utf-8")


def check_output(out: Path, root: Path) -> None:
    """Check that reports can go to a folder, before anything is run or written.

    Raises:
        UsageError: the folder holds the project, the working directory, suites, or reports that scoregate did not
            write.
    """
    if any(folder.resolve().is_relative_to(out.resolve()) for folder in (root, Path.cwd())):
        raise UsageError(
            f"cannot write reports to {out.resolve()}: it holds the project or the working directory", advice=_ADVICE
        )
    names = (*_REPORTS, _RUN_RECORD)
    if (existing := [name for name in names if (out / name).exists()]) and not _is_output_folder(out):
        raise UsageError(
            f"cannot write reports to {out.resolve()}: this would replace {', '.join(existing)}, "
            "which scoregate did not write",
            advice=f"{_ADVICE} Or delete these files if you don't need them.",
        )
    if (suite := _find_suite(out)) and not _is_output_folder(out):
        raise UsageError(f"cannot write reports to {out.resolve()}: it holds suites, such as {suite}", advice=_ADVICE)


def _find_suite(out: Path) -> str:
    """A file in the folder that may be a suite; empty if there is none."""
    with suppress(OSError):
        names = sorted(path.name for path in islice(out.iterdir(), _MOST_FILES))
        return next((name for name in names if name.endswith(_SUITES)), "")
    return ""


def _is_output_folder(out: Path) -> bool:
    """Whether scoregate wrote reports there before, by the first bytes of its files; the rest may be damaged."""
    for name in (_RUN_RECORD, _RESULT):
        with suppress(OSError), (out / name).open("rb") as file:
            if file.read(len(_BEGINNING)) == _BEGINNING:
                return True
    return False
