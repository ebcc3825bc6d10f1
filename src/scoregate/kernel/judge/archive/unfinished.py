"""Runs whose process was killed: the last run of a folder, whether it finished or not, and its recovery."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from scoregate.errors import RecordError, RunUnfinished
from scoregate.kernel.judge.archive.folder import CASES_FILE, INTERRUPTED, PARTS, RUN_FILE, RUN_FOLDER
from scoregate.kernel.judge.archive.lock import find_killed_holder, remove_left_lock
from scoregate.kernel.judge.archive.marker import (
    IN_PROGRESS,
    MARKER_FILE,
    find_unfinished,
    is_being_written,
    read_marker,
)
from scoregate.kernel.judge.archive.reader import CUT_SHORT, read_run
from scoregate.kernel.judge.archive.rotation import archived_name
from scoregate.kernel.judge.archive.run_json import RunHead, amend_run, read_head
from scoregate.kernel.judge.archive.writer import RunWriter
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import format_local_time

_MOST_INTERRUPTED = 20


@record
class RecoveredRun:
    """A run that was recovered: its folder, the number of its cases, and a notice."""

    folder: Path
    cases: int
    notice: str


def latest_run(path: Path) -> Path:
    """Find the folder of the last run. This is a killed run if no later run has finished.

    Args:
        path: a run's folder, the folder above it, or one of its files.

    Raises:
        RunUnfinished: a run is in progress, or the last one was killed before it had any results.
    """
    folder, out = path.parent if path.is_file() else path, None
    if (folder / RUN_FOLDER).is_dir():
        folder, out = folder / RUN_FOLDER, folder
    elif folder.resolve().name == RUN_FOLDER:
        out = folder.parent
    marker = read_marker(folder)
    if (marker is not None and marker.alive) or any(map(is_being_written, folder.glob(f"{IN_PROGRESS}*/"))):
        process = f" (process {marker.pid})" if marker is not None else ""
        raise RunUnfinished(f"a run is in progress in {folder}{process}", advice="Wait until it has ended.")
    if unfinished := list(find_unfinished(folder)):
        latest = max(unfinished, key=_start_time)
        if not (latest / CASES_FILE).is_file():
            raise RunUnfinished(
                f"the last run in {folder} was stopped while its record was put in place",
                advice="Recover it: scoregate report --recover",
            )
        return latest
    if any(folder.glob(f"{PARTS}*/")):
        raise RunUnfinished(
            f"the last run in {folder} was stopped before the results of its parts were merged",
            advice="Recover it: scoregate report --recover",
        )
    finished = _start_time(folder)
    killed = None if out is None else find_killed_holder(out)
    if any(each is not None and each.started > finished for each in (marker, killed)):
        raise RunUnfinished(
            f"the last run in {folder} didn't finish: it was stopped before it had measured anything",
            advice="Run it again. Earlier runs are in the folders below `earlier`.",
        )
    interrupted = (out / INTERRUPTED).glob("*/") if out is not None else ()
    later = [each for each in interrupted if not each.is_symlink() and _start_time(each) > finished]
    return max(later, key=_start_time, default=path)


def _start_time(folder: Path) -> float:
    head = _head(folder)
    return 0.0 if head is None else head.started


def _head(folder: Path) -> RunHead | None:
    with suppress(RecordError):
        return read_head(folder / RUN_FILE)
    return None


def recover(out: Path) -> list[RecoveredRun]:
    """Recover the runs that killed processes left in a folder of reports; finished runs stay as they are.

    Raises:
        RecordError: one can't be written.
    """
    recovered = [
        _recover_run(unfinished, out) for folder in sorted(out.glob("*/")) for unfinished in find_unfinished(folder)
    ]
    marker, folder = read_marker(out / RUN_FOLDER), out / RUN_FOLDER
    if marker is not None and not marker.alive:
        head = _head(folder)
        if head is not None and marker.started <= head.started:
            amend_run(folder, read_run(folder))
            recovered.append(RecoveredRun(folder, head.cases, f"the last run is incomplete: {CUT_SHORT}"))
        (folder / MARKER_FILE).unlink(missing_ok=True)
    remove_left_lock(out)
    return [each for each in recovered if each is not None]


def remove_oldest(out: Path) -> None:
    """Remove all but the last recovered runs of a folder of reports."""
    for old in sorted((out / INTERRUPTED).glob("*/"))[:-_MOST_INTERRUPTED]:
        shutil.rmtree(old, ignore_errors=True)


def _recover_run(unfinished: Path, out: Path) -> RecoveredRun | None:
    """Recover the run in a folder; None if it only had to be moved, or is empty."""
    if not (unfinished / CASES_FILE).is_file():  # the process was killed after it moved the cases file, before run.json
        (unfinished / RUN_FILE).replace(unfinished.parent / RUN_FILE)
        shutil.rmtree(unfinished)
        return None
    run = read_run(unfinished)
    last = (unfinished / CASES_FILE).stat().st_mtime
    target = out / INTERRUPTED / archived_name(read_head(unfinished / RUN_FILE))
    cases = sum(len(suite.columns) for suite in run.suites)
    killed = f"scoregate was killed at about {format_local_time(last)}"
    notice = f"{killed}: {cases:,} cases that had finished by then were recovered"
    if run.suites:
        shutil.rmtree(target, ignore_errors=True)  # from a recovery that was killed itself
        with RunWriter(target) as writer:
            writer.add_media_of(run)
            for case in run.cases:
                writer.add(case)
            end = replace(run.end, finished=max(last, run.started))
            writer.finish(replace(run, end=end, notices=(*run.notices, notice)))
        remove_oldest(out)
    shutil.rmtree(unfinished, ignore_errors=True)
    return RecoveredRun(target, cases, f"{notice} in {target}") if run.suites else None
