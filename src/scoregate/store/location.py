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
        root: the project's top folder. If not given: `SCOREGATE_ROOT`, else the nearest folder around the working
            directory that has a store or is the top of a git work tree, else the working directory.
    """
    return DirectoryStore(Path(root or os.environ.get("SCOREGATE_ROOT") or _nearest(Path.cwd())) / FOLDER)


def _nearest(start: Path) -> Path:
    around = (folder for folder in (start, *start.parents) if (folder / FOLDER).is_dir() or (folder / ".git").exists())
    return next(around, start)
