"""A baseline on a developer's machine: the newest complete run in the output folder that did not fall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import anyio.to_thread

from scoregate.errors import RecordError
from scoregate.kernel.job.baseline.file import describe_run
from scoregate.kernel.judge.archive import EARLIER, RUN_FILE, RUN_FOLDER, RunHead, read_head, read_run, run_folder
from scoregate.kernel.judge.archive.rotation import rotate
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.types.runs.number_format import count
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.text import format_local_time

_Found: TypeAlias = tuple[RunHead, Path]
_ELSEWHERE = "`previous` is a baseline for `scoregate run` on a developer's machine only"


async def find_previous_baseline(root: Path, settings: Settings, *, is_usable: bool) -> Baseline | None:
    """The previous run of all suites, or why there is none; None if the settings name another baseline.

    Args:
        root: the folder of the project.
        settings: the settings of the project.
        is_usable: whether the output folder is that of a developer's `scoregate run`. In CI its origin is unknown.
    """
    if settings.baseline_kind is BaselineKind.PREVIOUS and not is_usable:
        return Baseline(None, _ELSEWHERE, unreadable=True)
    if not is_usable or settings.baseline_kind not in (BaselineKind.AUTO, BaselineKind.PREVIOUS):
        return None
    baseline = await anyio.to_thread.run_sync(_find_previous, root, settings)
    if settings.baseline_kind is BaselineKind.PREVIOUS:
        return baseline
    return replace(baseline, implicit=baseline.run is not None)


def _find_previous(root: Path, settings: Settings) -> Baseline:
    if not settings.keep_runs:
        return Baseline(None, "with `keep_runs = 0` there is no previous run")
    out = root / settings.out
    with suppress(OSError):  # the recorder reports it, before it replaces the run
        # The run gets a place of its own before a newer one replaces it.
        rotate(out / RUN_FOLDER, settings.keep_runs)
    heads = sorted(_read_heads(out), key=lambda each: each[0].started, reverse=True)
    for (_, folder), later in _list_choices(heads, settings):
        with suppress(RecordError):
            run = read_run(folder, strictly=True)
            note = describe_run(run).replace("stored run", _name_previous(run, later), 1)
            return Baseline(
                run, note, folder=str(folder.relative_to(root)) if folder.is_relative_to(root) else str(folder)
            )
    return Baseline(None, "there is no previous complete run")


def _list_choices(heads: Sequence[_Found], settings: Settings) -> Iterator[tuple[_Found, int]]:
    """The runs that may be the baseline, the best first, each with the number of newer ones that fell.

    A run that fell is one only if no other is: the same code would not fall again, and mended code would be compared
    with errors. A run with a script that failed is one only if there is no other, and a part only for the same part.
    """
    selection = settings.selection
    same = [each for each in heads if selection.has_paths_only and each[0].scope.selection == selection.description]
    for group in (
        [each for each in heads if each[0].has_all_results],
        [each for each in heads if each[0].is_unselected],
        [each for each in same if each[0].end.complete],
    ):
        fallen = [head.started for head, _ in group if head.has_fallen]
        for found in (*(each for each in group if not each[0].has_fallen), *group):
            yield found, sum(started > found[0].started for started in fallen)


def _name_previous(run: Run, later: int) -> str:
    name = f"the previous run of {format_local_time(run.started)}"
    return f"{name} ({count(later, 'later run')} did not pass the gates on changes)" if later else name


def find_earlier_run(out: Path, run: Path) -> Path | None:
    """The folder of the newest run of all suites in an output folder that is older than a run; None without one.

    Args:
        out: the output folder.
        run: the folder of the run, or the folder above it.

    Raises:
        RecordError: the run can't be read.
    """
    newest = read_head(run_folder(run) / RUN_FILE)
    older = [each for each in _read_heads(out) if each[0].is_unselected and each[0].started < newest.started]
    return max(older, key=lambda each: each[0].started)[1] if older else None


def _read_heads(out: Path) -> Iterator[_Found]:
    """The earlier runs, without those of shards, which lack cases."""
    for folder in out.glob(f"{EARLIER}/[0-9]*/"):
        with suppress(RecordError):
            head = read_head(folder / RUN_FILE)
            if head.scope.shard is None:
                yield head, folder
