"""A base that is a run on disk."""

from __future__ import annotations

from collections.abc import Iterator
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
        RecordError: there is no run at that path, or none that can be read.
    """
    if settings.baseline_kind is BaselineKind.NONE:
        return Baseline(None)
    if settings.baseline_kind is not BaselineKind.FILE:
        return None
    return await anyio.to_thread.run_sync(baseline_at, root / settings.baseline)


def baseline_at(path: Path) -> Baseline:
    """The run at a path, or, where several folders in it hold runs, those of the newest one's commit together.

    Of several, one that cannot be read spoils no other; the note says why.

    Raises:
        RecordError: there is no run, or none that can be read: what somebody names is never passed over.
    """
    unreadable = list[RecordError]()
    found = sorted(_runs(path, unreadable), key=lambda run: run.finished, reverse=True)
    if not found:
        raise RecordError(f"the base cannot be read: {unreadable[0].message}", advice=unreadable[0].advice)
    newest, *others = found
    pool = tuple(run for run in others if _is_twin(run, newest))
    told = (f"{error.message}: {error.advice}" for error in unreadable)
    return Baseline(newest, ", ".join([describe(newest, len(pool) + 1), *told]), pool)


def _is_twin(run: Run, newest: Run) -> bool:
    """Whether both ran the same commit and nothing else."""
    return run.commit is not None and run.commit == newest.commit and not run.dirty and not newest.dirty


def _runs(path: Path, unreadable: list[RecordError]) -> Iterator[Run]:
    """Every run; what is wrong with those that cannot be read is appended."""
    below = sorted(child for child in path.glob("*/") if _holds_run(child)) if not _holds_run(path) else []
    for folder in below or [run_folder(path)]:
        try:
            yield read_run(folder, strictly=True)
        except RecordError as error:
            unreadable.append(error)


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
