"""Finds the store of a project, and keeps the store that the current context uses."""

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
    """The store of a project. Nothing is read or written yet.

    Args:
        root: the top folder of the project. The default is the environment variable `SCOREGATE_ROOT`, which the host
            sets for suites. Without it: the top of the git work tree around the working directory, else the nearest
            folder around it that has a store, else the working directory.
    """
    root = root or os.environ.get("SCOREGATE_ROOT")
    if not root:
        start = Path.cwd()
        # The top of the repository counts before a nearer folder with a store.
        marks = (folder / mark for mark in (".git", FOLDER) for folder in (start, *start.parents))
        root = next((path.parent for path in marks if path.exists()), start)
    return DirectoryStore(Path(root) / FOLDER)


def current_store() -> Store:
    """The store of `use_store`, else the one that `open_store` finds."""
    chosen = _CHOSEN.get()
    return open_store() if chosen is None else chosen


@contextmanager
def use_store(store: Store | Path | str) -> Iterator[Store]:
    """Use another store for entities and metrics inside the block. Threads and tasks that already run do not see it.

    Args:
        store: a store, or the top folder of a project.
    """
    token = _CHOSEN.set(open_store(store) if isinstance(store, Path | str) else store)
    try:
        yield current_store()
    finally:
        _CHOSEN.reset(token)
