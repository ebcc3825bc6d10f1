"""The terminal that we write to."""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TextIO

from rich.console import Console

from scoregate.ci.github.commands import harmless

_LOG_WIDTH = 120


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


def terminal(*, stderr: bool = False) -> Console:
    """A console that fits its window; logs and pipes get a fixed width, so that tables do not break."""
    file = Harmless(sys.stderr if stderr else sys.stdout) if os.environ.get("GITHUB_ACTIONS") == "true" else None
    console = Console(stderr=stderr, file=file, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = max(_LOG_WIDTH, shutil.get_terminal_size((_LOG_WIDTH, 24)).columns)
    return console
