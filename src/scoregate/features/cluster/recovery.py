"""Recover a run on a cluster whose host was killed: the parts that had arrived are merged."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from scoregate.errors import ScoregateError
from scoregate.kernel.job.shards.merge_shards import find_shards, merge_shards
from scoregate.kernel.judge.archive import IN_PROGRESS, INTERRUPTED, PARTS, RUN_FOLDER, RecoveredRun, amend_run
from scoregate.kernel.judge.archive.folder import CASES_FILE
from scoregate.kernel.judge.archive.marker import is_being_written, read_marker
from scoregate.kernel.judge.archive.rotation import archived_name
from scoregate.kernel.judge.archive.unfinished import remove_oldest
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.sharding.partition import MISSING_SHARD
from scoregate.kernel.types.text import format_local_time

# What a merged run says of its shards, which are parts here.
OF_SHARDS = re.compile(r"shard [0-9]+: |merged from [0-9]+ of ")


def recover_parts(out: Path, settings: Settings) -> list[RecoveredRun]:
    """Merge the parts that a killed process left in a folder of reports. Those of a run in progress stay as they are.

    Args:
        out: the folder of reports.
        settings: the settings of the project.

    Raises:
        RecordError: the merged run can't be written.
    """
    recovered: list[RecoveredRun] = []
    marker = read_marker(out / RUN_FOLDER)
    if marker is not None and marker.alive:
        return recovered
    for folder in sorted((out / RUN_FOLDER).glob(f"{PARTS}*/")):
        if folder.is_symlink() or any(map(is_being_written, folder.glob(f"*/{IN_PROGRESS}*/"))):
            continue
        merged = _merge(folder, out, settings)
        if merged is not None:
            recovered.append(merged)
        shutil.rmtree(folder, ignore_errors=True)
    return recovered


def _merge(folder: Path, out: Path, settings: Settings) -> RecoveredRun | None:
    """The merged run; None if no result had arrived."""
    attempts = [path for path in sorted(folder.glob("*/")) if not path.is_symlink()]
    try:
        shards = find_shards(attempts)
    except ScoregateError:  # these are not the parts of one run
        return None
    if not shards:
        return None
    last = max(_read_time(shard.path / CASES_FILE) for shard in shards)
    target = out / INTERRUPTED / archived_name(shards[0].head)
    shutil.rmtree(target, ignore_errors=True)  # from a recovery that was killed itself
    run = merge_shards(shards, target, settings)
    cases = sum(len(suite.columns) for suite in run.suites)
    killed = f"scoregate was killed at about {format_local_time(last)}"
    notice = f"{killed}: {cases:,} cases that had arrived by then were recovered"
    if not cases:
        shutil.rmtree(target, ignore_errors=True)
        return None
    kept = tuple(each for each in run.notices if not OF_SHARDS.match(each))
    scripts = tuple(each for each in run.scripts if each.error is None or each.error.type != MISSING_SHARD)
    end = replace(run.end, complete=False, finished=max(last, run.started))
    amend_run(target, replace(run, end=end, scripts=scripts, notices=(*kept, notice)))
    remove_oldest(out)
    return RecoveredRun(target, cases, f"{notice} in {target}")


def _read_time(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
