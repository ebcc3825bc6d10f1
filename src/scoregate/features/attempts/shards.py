"""Attempts of shards: a shard that did not run again has the same trials as before, and these count once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from scoregate.features.attempts.keys import SHARD_RUNS, SHARDS, MergedShards
from scoregate.kernel.job.shards.shard_results import number_suites
from scoregate.kernel.judge.archive import RUN_FILE, amend_run, read_head, read_run
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_scope import RunShard


def note_shards(run: Run, shards: Mapping[Path, RunShard], folder: Path, settings: Settings) -> Run:
    """The merged run with the ids of the runs of its shards, which the next attempt reads.

    Raises:
        RecordError: it can't be written.
    """
    ids = {read_head(path / RUN_FILE).id: path for path in shards}
    noted = replace(run, slots=run.slots.put(SHARD_RUNS, tuple(ids)))
    amend_run(folder, noted)
    return replace(noted, slots=noted.slots.put(SHARDS, MergedShards(ids, folder, settings.policy())))


def leave_out_shards(attempt: Run, shards: Mapping[str, Path]) -> Run | None:
    """An earlier attempt without the trials of shards that did not run again; None if none is left.

    Args:
        attempt: the earlier attempt.
        shards: the folders of the runs of shards that count now, by the ids of the runs.

    Raises:
        RecordError: the run of a shard can't be read.
    """
    then = attempt.slots.get(SHARD_RUNS)
    same = shards.keys() & (then or ())
    if not same:
        return attempt
    known = [*_list_cases(read_run(shards[each]) for each in sorted(same))]
    suites, left = list(attempt.suites), dict[int, set[str]]()
    for index, (key, suite) in enumerate(number_suites(attempt.suites)):
        left[index] = {case for of, cases in known if of == key for case in cases}
        rows = [row for row, case in enumerate(suite.columns.hashes) if case not in left[index]]
        suites[index] = suite.with_columns(suite.columns.select(rows))
    if not any(len(suite.columns) for suite in suites):
        return None

    def read() -> Iterator[CaseResult]:
        yield from (case for case in attempt.cases if case.key.hash not in left[case.suite])

    return replace(attempt, suites=tuple(suites), read=read)


def _list_cases(runs: Iterable[Run]) -> Iterator[tuple[object, set[str]]]:
    for run in runs:
        for key, suite in number_suites(run.suites):
            yield key, set(suite.columns.hashes)
