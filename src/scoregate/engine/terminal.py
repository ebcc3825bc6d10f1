"""Words for whoever ran something by hand, with nothing in them that steers a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def print_text(text: str) -> None:
    """Print it; what the terminal's encoding lacks becomes a question mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


def one_line(text: str, limit: int) -> str:
    """The characters of `text` that can be seen, on one line: at most `limit`, the last a `…` where there were more."""
    folded = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return folded if len(folded) <= limit else f"{folded[: limit - 1]}…"


_LONGEST = 60


@contextmanager
def show_progress(name: str, total: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    """What is called when one more of `total` is done; it may be called in any thread."""
    if not shown or not sys.stderr.isatty() or (progress := _import_rich()) is None:
        yield lambda: None
        return
    with progress:
        task = progress.add_task(one_line(name, _LONGEST).replace("[", "("), total=total)
        yield lambda: progress.advance(task)


def _import_rich() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    return Progress(console=Console(stderr=True), transient=True)
