"""Merge the runs of a matrix into one, in a job that runs after them."""

from __future__ import annotations

import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from scoregate import __version__
from scoregate.errors import RecordError, UsageError
from scoregate.kernel.job.shards.merged_info import check_slots, join_names, merge_code, merge_conditions, merge_ends
from scoregate.kernel.judge.archive import RUN_FOLDER, RunWriter, latest_run, read_run
from scoregate.kernel.judge.archive.folder import COPIES, name_companion
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.confirmations import CONFIRMATIONS, confirmations_of
from scoregate.kernel.types.runs.dependencies import RunDependencies, merge_matrix_dependencies
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run, Script
from scoregate.kernel.types.runs.run_scope import RunScope
from scoregate.kernel.types.slots import NO_SLOTS


@record
class MatrixRun:
    """The run of one job of a matrix, with the name of its folder."""

    name: str
    run: Run


def read_matrix_runs(paths: Iterable[Path], *, expected: int | None) -> tuple[MatrixRun, ...]:
    """Read the runs in folders.

    Args:
        paths: the paths of the folders.
        expected: the number of runs. With it, a run that can't be read counts as missing.

    Raises:
        RecordError: a folder holds no run.
        UsageError: there are no runs, two have one name or are the same run, or they are of several commits.
    """
    runs: list[MatrixRun] = []
    for path in paths:
        folder = path.resolve()
        try:
            run = read_run(latest_run(path))
            check_slots(run.slots)
        except RecordError:
            if expected is None:
                raise
            continue
        runs.append(MatrixRun(folder.parent.name if folder.name == RUN_FOLDER else folder.name, run))
    if not runs and expected is None:
        raise UsageError("there are no runs to merge", advice="Name their folders: scoregate merge legs/*")
    if twice := [name for name, number in Counter(each.name for each in runs).items() if number > 1]:
        raise UsageError(f"two runs are in folders called {twice[0]}", advice="Give each folder a different name.")
    folders = defaultdict(list)
    for each in runs:
        folders[each.run.id].append(each.name)
    if same := next((names for names in folders.values() if len(names) > 1), None):
        raise UsageError(
            f"{' and '.join(same)} hold the same run",
            advice="Name each run once. Don't replace a run that is missing by a copy of another one.",
        )
    if len(commits := sorted({each.run.code.commit or "none" for each in runs})) > 1:
        raise UsageError(f"the runs are of several commits: {', '.join(each[:7] for each in commits)}")
    return tuple(runs)


def merge_matrix_runs(
    runs: Sequence[MatrixRun], folder: Path, settings: Settings, *, expected: int | None = None
) -> Run:
    """Write the runs of a matrix as one run.

    A suite that is in several runs gets the name of its run. The extra trials of adaptive repeats are not merged.

    Args:
        runs: the runs of the matrix.
        folder: the folder of the merged run.
        settings: the settings of the project.
        expected: the number of runs; a missing one makes the merged run unmeasurable.

    Raises:
        RecordError: it can't be written.
    """
    labels = Counter(suite.label for each in runs for suite in each.run.suites)
    merged = _write(runs, folder, settings, labels=labels, expected=expected)
    return _add_companions(merged, runs, folder, settings, labels, (*COPIES, TrialRole.AGAIN, TrialRole.AGAIN_BASE))


def _add_companions(
    merged: Run,
    runs: Sequence[MatrixRun],
    folder: Path,
    settings: Settings,
    labels: Mapping[str, int],
    roles: Sequence[TrialRole],
) -> Run:
    """The merged run with the companions of its legs in these roles, and what these were measured again with."""
    for role in roles:
        others = [each.run.companions_of(role) for each in runs]
        for number in range(max(map(len, others), default=0)):
            # A job that was not run again has fewer attempts than others, and few legs are measured again.
            pairs = zip(runs, others, strict=True)
            part = [MatrixRun(each.name, known[number]) for each, known in pairs if known[number:]]
            if role is TrialRole.AGAIN_BASE and len({each.run.code.commit for each in part}) > 1:
                continue  # no base has all of their trials
            place = name_companion(folder, role, number + 1)
            run = _write(part, place, settings, labels=labels, whole=merged)
            run = _add_companions(run, part, place, settings, labels, (TrialRole.AGAIN,))
            merged = merged.add_companion(role, run)
    return merged


def _write(
    runs: Sequence[MatrixRun],
    folder: Path,
    settings: Settings,
    *,
    labels: Mapping[str, int],
    expected: int | None = None,
    whole: Run | None = None,
) -> Run:
    """Write runs as one; `whole` is the merged run if they are earlier runs of some of its legs."""
    starts = [0, *accumulate(len(each.run.suites) for each in runs)]
    with RunWriter(folder) as writer:
        for each, start in zip(runs, starts, strict=False):
            writer.add_media_of(each.run)
            for case in each.run.cases:
                writer.add(replace(case, suite=case.suite + start))
        merged = _merge(runs, settings, labels=labels, expected=expected)
        # Some legs have another digest of settings than all of them. Each leg kept only runs with its own settings.
        return writer.finish(merged if whole is None else replace(merged, conditions=whole.conditions))


def _merge(matrix: Sequence[MatrixRun], settings: Settings, *, labels: Mapping[str, int], expected: int | None) -> Run:
    runs = [each.run for each in matrix]
    scripts, suites, confirmations = [], [], []
    for each in matrix:
        scripts += [replace(script, name=f"{each.name}: {script.name}") for script in each.run.scripts]
        for suite in each.run.suites:
            name = None if suite.script is None else f"{each.name}: {suite.script}"
            suites.append(replace(suite, label=_label(suite.label, each, labels), script=name))
        confirmations += [replace(c, suite=_label(c.suite, each, labels)) for c in confirmations_of(each.run)]
    for number in range(1, (expected or 0) - len(matrix) + 1):
        error = ErrorInfo("MissingLeg", "its run is missing", advice="Look at its job: it did not upload a run.")
        scripts.append(Script(f"missing run {number}", error=error))
    return Run(
        id=uuid.uuid4().hex,
        started=min((run.started for run in runs), default=time.time()),
        end=merge_ends(runs),
        code=merge_code(runs, settings.message),
        scope=RunScope(
            join_names(run.scope.filters for run in runs),
            join_names(run.scope.file_filters for run in runs),
            skipped=join_names(run.scope.skipped for run in runs),
            left_out=join_names(run.scope.left_out for run in runs),
            narrowed=settings.narrowed,
            selection="; ".join(dict.fromkeys(run.scope.selection for run in runs if run.scope.selection)),
        ),
        suites=tuple(suites),
        scripts=tuple(scripts),
        notices=tuple(notice for each in matrix for notice in _notices(each)),
        policy=(settings.proposed or settings).policy().to_record(),
        slots=NO_SLOTS.put(CONFIRMATIONS, tuple(confirmations) or None),
        model_calls=tuple(
            replace(calls, suite=f"{each.name}: {calls.suite}") for each in matrix for calls in each.run.model_calls
        ),
        conditions=merge_conditions([(each.name, each.run) for each in matrix]),
        dependencies=_merge_dependencies(matrix),
    )


def _merge_dependencies(matrix: Sequence[MatrixRun]) -> RunDependencies:
    """What the scripts of all runs depend on; nothing if another version of scoregate made one of them."""
    is_same_version = all(each.run.code.version == __version__ for each in matrix)
    runs = [(each.name, each.run.dependencies) for each in matrix]
    return merge_matrix_dependencies(runs) if is_same_version else RunDependencies()


def _label(label: str, matrix_run: MatrixRun, labels: Mapping[str, int]) -> str:
    return f"{label} ({matrix_run.name})" if labels[label] > 1 else label


def _notices(matrix_run: MatrixRun) -> Iterator[str]:
    yield from (f"{matrix_run.name}: {notice}" for notice in matrix_run.run.notices)
    if not matrix_run.run.end.complete:
        yield f"{matrix_run.name}: this run never finished"
