"""A baseline that is a run on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

import anyio.to_thread

from scoregate.errors import RecordError
from scoregate.kernel.host import git
from scoregate.kernel.job.baseline.earlier import has_past, select_usable
from scoregate.kernel.judge.archive import BASE_FOLDER, CASES_FILE, EARLIER, RUN_FILE, read_head, read_run, run_folder
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.types.runs.run import Run


async def find_file_baseline(root: Path, settings: Settings) -> Baseline | None:
    """The run that the settings name; None if they name none.

    Args:
        root: the path in the settings is relative to it.
        settings: the settings of the project.

    Raises:
        RecordError: there is no run at that path, or none that can be read.
    """
    if settings.baseline_kind is BaselineKind.NONE:
        return Baseline(None)
    if settings.baseline_kind is not BaselineKind.FILE:
        return None
    if not (root / settings.baseline).exists() and (advice := await _advise(root, settings.baseline)):
        origin = settings.origin("baseline")
        raise RecordError(f"baseline = {settings.baseline!r} ({origin}): there is no such folder", advice=advice)
    baseline = await anyio.to_thread.run_sync(read_baseline, root / settings.baseline, settings.base_runs)
    return replace(baseline, folder=settings.baseline)


async def _advise(root: Path, name: str) -> str:
    """What else the name of a folder that doesn't exist may mean; empty if nothing."""
    if near := get_close_matches(name, [kind for kind in BaselineKind if kind is not BaselineKind.FILE], 1):
        return f"Did you mean {str(near[0])!r}?"
    if not name.startswith("-") and await git.resolve_commit(root, name):
        return f"It is a commit. To run its suites in this run and compare with them: rerun:{name}."
    return ""


def read_baseline(path: Path, most: int = 1) -> Baseline:
    """The run at a path, or if several folders in it hold runs, the runs of the newest one's commit.

    Of several runs, the ones that can't be read are listed in the note.

    Args:
        path: the folder of the run, or of several.
        most: the largest number of runs that count, with those of other commits of the branch; 1 for no other commits.

    Raises:
        RecordError: there is no run, or none that can be read. A baseline that is named is never skipped.
    """
    unreadable = list[RecordError]()
    runs = sorted(_read_runs(path, unreadable), key=lambda run: run.end.finished, reverse=True)
    if not runs:
        raise RecordError(f"the baseline can't be read: {unreadable[0].message}", advice=unreadable[0].advice)
    newest, *others = runs
    pool: tuple[Run, ...] = ()
    if newest.code.commit is not None and not newest.code.dirty:
        pool = tuple(run for run in others if run.code.commit == newest.code.commit and not run.code.dirty)
    problems = (f"{error.message}: {error.advice}" for error in unreadable)
    baseline = Baseline(newest, ", ".join([describe_run(newest), *problems]), pool)
    return (
        replace(baseline, earlier=tuple(_select_earlier(baseline, others, most)))
        if has_past(baseline, most)
        else baseline
    )


def _select_earlier(baseline: Baseline, others: Iterable[Run], most: int) -> Iterator[Run]:
    newest, missing = baseline.run, most - 1 - len(baseline.pool)
    same_branch = (run for run in others if newest is not None and run.code.branch == newest.code.branch)
    chosen = (
        select_usable(run, newest)
        for run in same_branch
        if newest is not None and run.code.commit != newest.code.commit
    )
    return islice((run for run in chosen if run is not None), max(0, missing))


def find_compared_baseline(run: Run, folder: Path, root: Path) -> Baseline | None:
    """The baseline that a finished run was compared with; None if it is not on disk any more.

    It is looked up in its own folder, next to the run (a base that was run with it) and in the earlier runs. Only a
    run with the same id is that baseline.

    Args:
        run: the finished run.
        folder: the folder of the run.
        root: the project; the baseline's folder may be relative to it.
    """
    known = run.compared_with
    if known is None or not known.id:
        return None
    parent = folder.parent
    places = [root / known.folder] if known.folder else []
    for place in (*places, parent / BASE_FOLDER, *sorted(parent.glob(f"{EARLIER}/*/"))):
        with suppress(RecordError):
            # A head is read in milliseconds, a run may take seconds.
            if any(read_head(each / RUN_FILE).id == known.id for each in _run_folders(place)):
                baseline = read_baseline(place)
                if baseline.run is not None and baseline.run.id == known.id:
                    return replace(baseline, folder=str(place), implicit=known.implicit)
    return None


def _run_folders(path: Path) -> list[Path]:
    """The folder that holds the run, or all of several folders below it that hold one."""
    below = sorted(child for child in path.glob("*/") if _holds_run(child)) if not _holds_run(path) else []
    return [run_folder(each) for each in below] or [run_folder(path)]


def _read_runs(path: Path, unreadable: list[RecordError]) -> Iterator[Run]:
    """Every run; the errors of runs that can't be read are appended."""
    for folder in _run_folders(path):
        try:
            _refuse_shard(folder)
            yield read_run(folder, strictly=True)
        except RecordError as error:
            unreadable.append(error)


def _refuse_shard(folder: Path) -> None:
    """A shard lacks cases, which would count as added since the baseline and be compared with nothing.

    Raises:
        RecordError: the run is one.
    """
    if (shard := read_head(folder / RUN_FILE).scope.shard) is not None:
        raise RecordError(
            f"{folder} is shard {shard.number} of {shard.of}, which has only a part of the cases",
            advice="Name the run that `scoregate merge` makes of all shards.",
        )


def _holds_run(path: Path) -> bool:
    try:
        run_folder(path)
    except RecordError:
        return False
    return True


def describe_run(run: Run) -> str:
    """Describe a stored run without its name and age, for example `stored run, incomplete`."""
    words = ["stored run"]
    words += ["with uncommitted changes"] if run.code.dirty else []
    words += ["incomplete"] if not run.end.complete else []
    words += [f"a part of the cases ({run.scope.selection:.200})"] if run.scope.selection else []
    words += [notice for notice in run.notices if notice.startswith(CASES_FILE)]
    return ", ".join(words)
