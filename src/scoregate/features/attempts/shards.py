"""Attempts of shards: a shard that did not run again has the same trials as before, and these count once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from scoregate.errors import RecordError
from scoregate.features.attempts.keys import SHARD_RUNS, SHARDS, MergedShards, ShardRun
from scoregate.kernel.job.shards.shard_results import number_suites
from scoregate.kernel.judge.archive import amend_run, read_run
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.reuse import REUSED_FROM
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_scope import RunShard


def note_shards(run: Run, shards: Mapping[Path, RunShard], folder: Path, settings: Settings) -> Run:
    """The merged run with the runs of its shards, and how many trials of each suite each of them measured.

    Raises:
        RecordError: a run can't be read, or the merged one can't be written.
    """
    places = {key: index for index, (key, _) in enumerate(number_suites(run.suites))}
    known = defaultdict[int, set[CaseKey]](set)
    parts = list[ShardRun]()
    for path in shards:  # in the order in which they were merged
        shard, trials = read_run(path), [0] * len(run.suites)
        for key, suite in number_suites(shard.suites):
            index, columns = places[key], suite.columns
            new = {columns.key(row) for row in range(len(columns))} - known[index]
            known[index] |= new
            trials[index] = len(new)
        parts.append(ShardRun(shard.id, tuple(trials)))
    noted = replace(run, slots=run.slots.put(SHARD_RUNS, tuple(parts)))
    amend_run(folder, noted)
    return replace(noted, slots=noted.slots.put(SHARDS, MergedShards(folder, settings.policy())))


def list_shard_runs(run: Run) -> frozenset[str]:
    """The ids of the runs of shards that a run was merged from; none for other runs.

    Raises:
        RecordError: the stored data is not valid.
    """
    return frozenset(part.id for part in run.slots.get(SHARD_RUNS) or ())


def add_reused_shards(run: Run, found: Iterable[Run]) -> Run:
    """The merged run with the shards whose results its own shards reused: an attempt that did not finish had them."""
    reused, parts = run.slots.get(REUSED_FROM), run.slots.get(SHARD_RUNS) or ()
    more = list[ShardRun]()
    for each in found:
        if reused is not None and each.id == reused.id:
            with suppress(RecordError):  # its own shards are unknown then
                more += [ShardRun(name, ()) for name in sorted(list_shard_runs(each))]
    return replace(run, slots=run.slots.put(SHARD_RUNS, (*parts, *more))) if more else run


def leave_out_shards(attempt: Run, counted: Collection[str]) -> Run:
    """An earlier attempt without the trials of shards that count already.

    Args:
        attempt: the earlier attempt.
        counted: the ids of the runs of these shards.
    """
    left = [set[CaseKey]() for _ in attempt.suites]
    suites = list(attempt.suites)
    for index, suite in enumerate(attempt.suites):
        start, rows = 0, set[int]()
        for part in attempt.slots.get(SHARD_RUNS) or ():
            end = start + (part.trials[index] if index < len(part.trials) else 0)
            if part.id in counted:
                rows.update(range(start, min(end, len(suite.columns))))
            start = end
        suites[index] = suite.without_rows(rows)
        left[index] = {suite.columns.key(row) for row in rows}
    if not any(left):
        return attempt

    def read() -> Iterator[CaseResult]:
        yield from (case for case in attempt.cases if case.key not in left[case.suite])

    return replace(attempt, suites=tuple(suites), read=read)
