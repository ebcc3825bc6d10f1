"""Where the store of a project is, and which one is meant where nobody says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from scoregate.store.directory import DirectoryStore
from scoregate.store.protocol import Store

FOLDER = ".scoregate"
_CHOSEN: ContextVar[Store | None] = ContextVar("scoregate_store", default=None)


def open_store(root: Path | str | None = None) -> Store:
    """The store of a project; nothing is read or written yet.

    Args:
        root: the project's top folder. If not given: `SCOREGATE_ROOT`, which suites get from their host; else, around
            the working directory, the top of the git work tree or the nearest folder that has a store; else that
            directory.
    """
    return DirectoryStore(Path(root or os.environ.get("SCOREGATE_ROOT") or _top(Path.cwd())) / FOLDER)


def current_store() -> Store:
    """The store that `use_store` named, else the one that `open_store` finds."""
    chosen = _CHOSEN.get()
    return open_store() if chosen is None else chosen


@contextmanager
def use_store(store: Store | Path | str) -> Iterator[Store]:
    """Keep entities and metrics elsewhere as long as the block lasts; threads and tasks that run already do not.

    Args:
        store: a project's top folder, or a store.
    """
    token = _CHOSEN.set(open_store(store) if isinstance(store, Path | str) else store)
    try:
        yield current_store()
    finally:
        _CHOSEN.reset(token)


def _top(start: Path) -> Path:
    marks = (folder / mark for mark in (".git", FOLDER) for folder in (start, *start.parents))
    return next((path.parent for path in marks if path.exists()), start)
