"""A folder for what is of no use after the command, outside the project."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scoregate.ci.identity import in_container


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder for as long as the block lasts: in the runner's, which in our container others may not enter."""
    runner = os.environ.get("RUNNER_TEMP", "")
    place = runner if Path(runner).is_dir() and not in_container(os.environ) else None
    with tempfile.TemporaryDirectory(prefix="scoregate-", dir=place or None, ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()
