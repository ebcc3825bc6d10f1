"""Where the store of a project is."""

from __future__ import annotations

import os
from pathlib import Path

from scoregate.store.directory import DirectoryStore
from scoregate.store.protocol import Store

FOLDER = ".scoregate"


def open_store(root: Path | str | None = None) -> Store:
    """The store of a project; nothing is read or written yet.

    Args:
        root: the project's top folder. If not given: `SCOREGATE_ROOT`, which suites get from their host; else, around
            the working directory, the top of the git work tree or the nearest folder that has a store; else that
            directory.
    """
    return DirectoryStore(Path(root or os.environ.get("SCOREGATE_ROOT") or _top(Path.cwd())) / FOLDER)


def _top(start: Path) -> Path:
    marks = (folder / mark for mark in (".git", FOLDER) for folder in (start, *start.parents))
    return next((path.parent for path in marks if path.exists()), start)
