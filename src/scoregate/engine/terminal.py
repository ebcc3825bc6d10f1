"""Terminal output for people: plain text without control characters, and progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


def print_text(text: str) -> None:
    """Print a text; characters that the terminal's encoding lacks become question marks."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


def one_line(text: str, limit: int) -> str:
    """The printable characters of a text on one line, truncated to `limit` characters with a final `…`."""
    line = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


_MAX_NAME_LENGTH = 60


@contextmanager
def show_progress(name: str, total: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    """Show a progress bar while the block runs, if rich is installed.

    Args:
        name: the name next to the bar.
        total: the number of steps.
        shown: whether to show the bar; it is never shown if stderr is no terminal.

    Yields:
        A function to call after every step, from any thread.
    """
    progress: Any = None
    if shown and sys.stderr.isatty():
        with suppress(ImportError):
            from rich.console import Console
            from rich.progress import Progress

            progress = Progress(console=Console(stderr=True), transient=True)
    if progress is None:
        yield lambda: None
        return
    with progress:
        task = progress.add_task(one_line(name, _MAX_NAME_LENGTH).replace("[", "("), total=total)
        yield lambda: progress.advance(task)
