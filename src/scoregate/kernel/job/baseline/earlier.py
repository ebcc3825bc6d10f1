"""Earlier runs of the base's branch as further evidence, where their records prove that nothing changed in between."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, TypeAlias

from scoregate.errors import GitHubRefused, RecordError
from scoregate.kernel.compare.earlier_runs import select_unchanged
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.suite_states import digest_states
from scoregate.kernel.types.slots import Slot


class StoredRun(NamedTuple):
    """A run of the branch: its commit, and what reads it."""

    commit: str
    read: Callable[[], Awaitable[Run]]


class EarlierRun(NamedTuple):
    """A run of the branch: its commit, when it was stored, and what reads it."""

    commit: str
    finished: datetime
    read: Callable[[], Awaitable[Run]]


ListRuns: TypeAlias = Callable[[], AsyncGenerator[EarlierRun]]
BRANCH_RUNS: Slot[ListRuns] = Slot("branch runs")
"""Lists the earlier runs of the job's branch, the newest first, if a feature has them."""


async def add_earlier_runs(baseline: Baseline, stored: Iterable[StoredRun], most: int) -> Baseline:
    """The baseline with earlier runs of its branch. They are read one by one, and only what counts is kept.

    Runs are read only if the base recorded what its suites depend on, and never those that its history shows to
    differ. One that can't be read is left out: the baseline is complete without it.

    Args:
        baseline: the baseline.
        stored: further runs of the branch, the newest first.
        most: the largest number of runs that count, with those of the baseline; 1 for no other commits.
    """
    base = baseline.run
    if base is None or not has_past(baseline, most):
        return baseline
    missing, different = most - 1 - len(baseline.pool), _find_different(base)
    left, earlier_runs, known = 2 * missing, list[Run](), {base.id, *(run.id for run in baseline.pool)}
    for each in stored:
        if len(earlier_runs) >= missing or not left:
            break
        if each.commit in different or each.commit == base.code.commit:
            continue
        left -= 1
        try:
            run = await each.read()
        except (GitHubRefused, RecordError):
            continue
        chosen = select_usable(run, base) if run.code.commit == each.commit and run.id not in known else None
        if chosen is not None:
            known.add(run.id)
            earlier_runs.append(replace(chosen, code=replace(chosen.code, branch=base.code.branch)))
    return replace(baseline, earlier=tuple(earlier_runs))


def has_past(baseline: Baseline, most: int) -> bool:
    """Whether the past of a baseline is evidence: the settings want it, and its run recorded what it depends on."""
    return most > 1 and baseline.run is not None and bool(digest_states(baseline.run))


def select_usable(run: Run, base: Run) -> Run | None:
    """The suites of an earlier run that count; None if there are none, or if it is not whole."""
    is_whole = run.end.complete and not (run.scope.selection or run.code.dirty or run.end.stopped or run.scope.shard)
    return select_unchanged(run, base) if is_whole else None


def _find_different(base: Run) -> set[str]:
    """The commits whose runs have no suite in the state of the base, as far as its history knows."""
    states = digest_states(base)
    columns = [
        (states.get(suite.script or ""), base.history.suite_history(suite.label).states) for suite in base.suites
    ]
    return {
        past.commit
        for index, past in enumerate(base.history.runs)
        if past.commit is not None
        and columns
        and not any(column and column[index] == state for state, column in columns)
    }
