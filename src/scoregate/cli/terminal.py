"""The terminal that we write to."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from rich.console import Console

from scoregate.ci.github.commands import harmless
from scoregate.ci.identity import in_ci

_LOG_WIDTH = 120
_NARROWEST = 20


class Harmless(io.StringIO):
    """A job's log, into which nothing that we show can write a command."""

    def __init__(self, log: TextIO) -> None:
        super().__init__()
        self._log = log

    def write(self, text: str) -> int:
        """Write it, with what the runner would take for commands broken."""
        self._log.write(harmless(text))
        return len(text)

    def flush(self) -> None:
        """Pass on what waits."""
        self._log.flush()


class Terminal(Console):
    """A console that falls silent when its reader leaves, so that `| head` changes no verdict."""

    def on_broken_pipe(self) -> None:
        """Say nothing more."""
        self.quiet = True
        hush(sys.__stderr__ if self.stderr else sys.__stdout__)


def terminal(*, stderr: bool = False) -> Terminal:
    """A console that fits its window; logs and pipes are as wide as COLUMNS says, or 120."""
    log = sys.stderr if stderr else sys.stdout
    file = Harmless(log) if os.environ.get("GITHUB_ACTIONS") == "true" else None
    console = Terminal(stderr=stderr, file=file, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.file.isatty():
        console.width = _log_width()
    return console


def is_watched(console: Console) -> bool:
    """Whether somebody looks at a screen, on which something can move; colours may be forced into any log."""
    return console.file.isatty() and not console.is_dumb_terminal and not in_ci(os.environ)


def hush(stream: TextIO | None) -> None:
    """Let what is still written there go nowhere, as its reader has left."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _log_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    return max(int(columns), _NARROWEST) if columns.isascii() and columns.isdigit() else _LOG_WIDTH
