"""The consoles that commands print to."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from rich.console import Console

from scoregate.kernel.host.runner import in_ci
from scoregate.kernel.job.github.commands import harmless

_LOG_WIDTH = 120
_NARROWEST = 20


class SafeLog(io.StringIO):
    """The log of a GitHub job; text that the runner would execute as a command is made harmless."""

    def __init__(self, log: TextIO) -> None:
        super().__init__()
        self._log = log

    def write(self, text: str) -> int:
        """Write text with harmless commands."""
        self._log.write(harmless(text))
        return len(text)

    def flush(self) -> None:
        """Flush the log."""
        self._log.flush()


class Terminal(Console):
    """A console that stops writing if its pipe is closed, so that `| head` does not change the exit code."""

    def on_broken_pipe(self) -> None:
        """Write nothing more."""
        self.quiet = True
        discard_output(sys.__stderr__ if self.stderr else sys.__stdout__)


def make_console(*, stderr: bool = False) -> Terminal:
    """Create a console as wide as its window; logs and pipes are COLUMNS or 120 wide."""
    log = sys.stderr if stderr else sys.stdout
    file = SafeLog(log) if os.environ.get("GITHUB_ACTIONS") == "true" else None
    console = Terminal(stderr=stderr, file=file, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.file.isatty():
        columns = os.environ.get("COLUMNS", "")
        # `isdigit` alone accepts characters such as ², which `int` refuses.
        is_number = columns.isascii() and columns.isdigit()
        console.width = max(int(columns), _NARROWEST) if is_number else _LOG_WIDTH
    return console


def is_interactive(console: Console) -> bool:
    """Whether the console is a terminal that can be redrawn. Forced colours alone don't make a log a terminal."""
    return console.file.isatty() and not console.is_dumb_terminal and not in_ci(os.environ)


def discard_output(stream: TextIO | None) -> None:
    """Discard further output to a stream whose pipe is closed."""
    if stream is not None:
        # At its end, Python flushes the stream, and would fail again.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
