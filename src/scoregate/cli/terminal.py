"""The terminal that we write to."""

from __future__ import annotations

import shutil

from rich.console import Console

_LOG_WIDTH = 120


def terminal(*, stderr: bool = False) -> Console:
    """A console that fits its window; logs and pipes get a fixed width, so that tables do not break."""
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = max(_LOG_WIDTH, shutil.get_terminal_size((_LOG_WIDTH, 24)).columns)
    return console
