"""Attempts of shards: a shard that did not run again has the same trials as before, and these count once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from scoregate.errors import RecordError
from scoregate.kernel.job.shards.merged_info import SHARD_RUNS, ShardRun
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.reuse import REUSED_FROM
from scoregate.kernel.types.runs.run import Run


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
