"""Merge the drift controls of shards into the one that one machine would have measured."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scoregate.errors import RecordError
from scoregate.features.drift.control import NO_CASES, describe_control
from scoregate.kernel.job.shards.shard_results import ReadShard, ShardFolder, read_shard, write_shards
from scoregate.kernel.judge.archive import CONTROL, RUN_FILE, RunWriter, amend_run, read_head
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.model_calls import merge_calls
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_scope import RunShard


def merge_controls(run: Run, shards: Mapping[Path, RunShard], folder: Path, *, is_required: bool) -> Run:
    """The merged run with the drift controls of its shards, or with a notice why nothing is corrected.

    Nothing is corrected if the control of one shard is missing: it may have failed because of what it measures.

    Args:
        run: the merged run.
        shards: its shards, by their folders.
        folder: the folder of the merged run.
        is_required: whether the settings ask for a control.

    Raises:
        RecordError: it can't be written.
    """
    with_control = {path: shard for path, shard in shards.items() if (path / CONTROL / RUN_FILE).is_file()}
    if not (is_required or with_control or any(each.no_control for each in shards.values())):
        return run
    problem = _find_problem(list(shards.values()), {each.number for each in with_control.values()})
    if problem:
        return _with_notice(run, f"The drift control is not complete, so nothing is corrected: {problem}.", folder)
    try:
        controls = [_read_control(path, shard) for path, shard in with_control.items()]
    except RecordError as error:
        notice = f"The drift control can't be read, so nothing is corrected: {error.message.rstrip('.')}."
        return _with_notice(run, notice, folder)
    if len({each.run.code.commit for each in controls}) > 1:
        notice = "The drift controls of the shards are of different commits, so nothing is corrected."
        return _with_notice(run, notice, folder)
    control = _write_control(controls, folder / CONTROL)
    number = sum(suite.columns.case_count for suite in control.suites)
    return _with_notice(run.add_companion(TrialRole.CONTROL, control), describe_control(control, number), folder)


def _find_problem(shards: Sequence[RunShard], with_control: Collection[int]) -> str:
    """Why the controls don't count; empty if they do. A shard may have no case to measure."""
    measured = [each for each in shards if each.no_control != NO_CASES]
    if without := [each for each in measured if each.no_control]:
        more = number_format.count(len(without) - 1, "other shard")
        also = f"; {more} also {'has' if len(without) == 2 else 'have'} none" if len(without) > 1 else ""
        return f"in shard {without[0].number}, {without[0].no_control}{also}"
    if len(shards) < shards[0].of:
        return "a shard is missing"
    if lost := [each.number for each in measured if each.number not in with_control]:
        return f"the folder {CONTROL} of shard {lost[0]} is missing"
    return "" if with_control else NO_CASES


def _read_control(folder: Path, shard: RunShard) -> ReadShard:
    """The control of a shard, as the run of a shard."""
    path = folder / CONTROL
    return read_shard(ShardFolder(path, read_head(path / RUN_FILE), shard))


def _write_control(controls: Sequence[ReadShard], folder: Path) -> Run:
    with RunWriter(folder) as writer:
        suites = tuple(write_shards(controls, writer).results(of_parts=False))
        runs = [each.run for each in controls]
        control = replace(
            runs[0],
            id=uuid.uuid4().hex,
            started=min(run.started for run in runs),
            end=replace(runs[0].end, finished=max(run.end.finished for run in runs)),
            suites=suites,
            scripts=tuple(script for run in runs for script in run.scripts),
            model_calls=merge_calls(calls for run in runs for calls in run.model_calls),
        )
        return writer.finish(control)


def _with_notice(run: Run, notice: str, folder: Path) -> Run:
    run = run.add_notices(notice)
    amend_run(folder, run)
    return run
