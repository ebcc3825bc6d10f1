"""A base that is a run on disk."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from scoregate.ci.archive import CASES_FILE, read_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.record import Run


async def read_baseline(root: Path, settings: Settings) -> Baseline | None:
    """The base as far as the settings name one that is there; None where it is to be run first.

    Args:
        root: what the path in the settings is relative to.

    Raises:
        RecordError: there is no run at that path, or one that cannot be read.
    """
    if settings.baseline_kind is BaselineKind.RERUN:
        return None
    if settings.baseline_kind is BaselineKind.NONE:
        return Baseline(None, "no base was asked for")
    run = await anyio.to_thread.run_sync(read_run, root / settings.baseline)
    return Baseline(run, describe(run))


def describe(run: Run) -> str:
    """What a reader should know of a stored run besides its name and age, such as `stored run, incomplete`."""
    words = ["stored run"]
    words += ["with uncommitted changes"] if run.dirty else []
    words += ["incomplete"] if not run.complete else []
    words += [notice for notice in run.notices if notice.startswith(CASES_FILE)]
    return ", ".join(words)
