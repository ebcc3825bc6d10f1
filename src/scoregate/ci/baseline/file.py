"""A base that is a run on disk."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from scoregate.ci.archive import CASES_FILE, read_run, run_folder
from scoregate.ci.baseline import Baseline
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.record import Run
from scoregate.errors import RecordError


async def file_baseline(root: Path, settings: Settings) -> Baseline | None:
    """The run that the settings name; None where they name none.

    Args:
        root: what the path in the settings is relative to.

    Raises:
        RecordError: there is no run at that path, or one that cannot be read.
    """
    if settings.baseline_kind is BaselineKind.NONE:
        return Baseline(None, "no base was asked for")
    if settings.baseline_kind is not BaselineKind.FILE:
        return None
    return await anyio.to_thread.run_sync(baseline_at, root / settings.baseline)


def baseline_at(path: Path) -> Baseline:
    """The run at a path, or, where several folders in it hold runs, those of the newest one's commit together.

    Raises:
        RecordError: there is no run, or one that cannot be read.
    """
    newest, *others = sorted(_runs(path), key=lambda run: run.finished, reverse=True)
    pool = tuple(run for run in others if run.commit is not None and run.commit == newest.commit)
    return Baseline(newest, describe(newest, len(pool) + 1), pool)


def _runs(path: Path) -> list[Run]:
    below = sorted(child for child in path.glob("*/") if _holds_run(child)) if not _holds_run(path) else []
    return [read_run(child) for child in below] or [read_run(path)]


def _holds_run(path: Path) -> bool:
    try:
        run_folder(path)
    except RecordError:
        return False
    return True


def describe(run: Run, runs: int = 1) -> str:
    """What a reader should know of a stored run besides its name and age, such as `stored run, incomplete`.

    Args:
        run: the newest. runs: how many are pooled.
    """
    words = ["stored run"] if runs == 1 else [f"{runs} stored runs pooled"]
    words += ["with uncommitted changes"] if run.dirty else []
    words += ["incomplete"] if not run.complete else []
    words += [notice for notice in run.notices if notice.startswith(CASES_FILE)]
    return ", ".join(words)
