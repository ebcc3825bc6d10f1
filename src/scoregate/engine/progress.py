"""A bar that shows how far a run has got, to somebody at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scoregate.engine.printing import one_line

_LONGEST = 60


@contextmanager
def bar(name: str, total: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    """What is called when one more of `total` is done; it may be called in any thread."""
    if not shown or not sys.stderr.isatty() or (progress := _rich()) is None:
        yield lambda: None
        return
    with progress:
        task = progress.add_task(one_line(name, _LONGEST).replace("[", "("), total=total)
        yield lambda: progress.advance(task)


def _rich() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    return Progress(console=Console(stderr=True), transient=True)
