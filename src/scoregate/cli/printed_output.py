"""What scripts print: limited in the terminal, complete in a file of the output folder if it is long."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scoregate.kernel.job.publish.files import write_atomically
from scoregate.kernel.run.launch import LaunchEvent, Printed
from scoregate.kernel.run.observers import Observer, Recording

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


def list_output_files(out: Path) -> list[str]:
    """The names of the files with outputs in a folder."""
    return sorted(path.name for path in out.glob(f"{_PREFIX}*{_SUFFIX}"))
