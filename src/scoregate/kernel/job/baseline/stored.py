"""A baseline among the stored runs of a branch: those of the nearest commit, as a pool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from scoregate.errors import GitHubRefused, RecordError
from scoregate.kernel.job.baseline.earlier import StoredRun, add_earlier_runs
from scoregate.kernel.job.baseline.file import describe_run
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run

MOST_ANCESTORS = 300
MOST_POOLED = 5
MOST_TRIES = 3


@record
class NearestCommit:
    """A commit, and a note of its relation to the base."""

    commit: str
    note: str


async def find_stored_baseline(
    stored: Iterable[StoredRun],
    choose: Callable[[list[str]], Awaitable[NearestCommit | None]],
    *,
    place: str,
    branch: str | None,
    most: int,
) -> Baseline:
    """The runs of the nearest commit; if none of them can be read, those of the next one.

    Args:
        stored: the runs, the newest first.
        choose: chooses the nearest of commits; None if there is none.
        place: where the runs are, as messages say it.
        branch: the branch of the runs; None if it is in each run.
        most: the largest number of runs that count, those of other commits included.

    Returns:
        The baseline. Without a run, its note has the problems; it is empty if nothing is stored.
    """
    by_commit: dict[str, list[StoredRun]] = {}
    for each in stored:
        by_commit.setdefault(each.commit, []).append(each)
    problems: list[str] = []
    while len(problems) < MOST_TRIES and (chosen := await choose(list(by_commit))) is not None:
        # Taken out, so that the next try is another commit.
        runs, errors = await _read_runs(by_commit.pop(chosen.commit)[:MOST_POOLED])
        if errors:
            problems.append(f"a run of {chosen.commit[:7]} {place} could not be read: {errors[0]}")
        if runs:
            baseline = make_pooled_baseline(runs, "; ".join((chosen.note, *problems)), branch=branch)
            return await add_earlier_runs(baseline, (each for left in by_commit.values() for each in left), most)
    return Baseline(None, "; ".join(problems), unreadable=bool(problems))


async def _read_runs(stored: Sequence[StoredRun]) -> tuple[list[Run], list[str]]:
    runs, problems = [], []
    for each in stored:
        try:
            run = await each.read()
        except (GitHubRefused, RecordError) as error:
            problems.append(error.message)
            continue
        if run.scope.selection:
            problems.append(f"only a part of its cases ran ({run.scope.selection:.200})")
        else:
            runs.append(run)
    return runs, problems


def make_pooled_baseline(runs: list[Run], note: str, *, branch: str | None) -> Baseline:
    """The newest run as the baseline, the others of its commit in its pool.

    Args:
        runs: the runs of one commit.
        note: the relation of the commit to the base.
        branch: the branch of the runs; None if it is in each run.
    """
    newest, *others = sorted(runs, key=lambda run: run.end.finished, reverse=True)
    words = describe_run(newest).removeprefix("stored run").removeprefix(", ")
    newest = replace(newest, code=replace(newest.code, branch=branch or newest.code.branch))
    return Baseline(newest, ", ".join(filter(None, (note, words))), tuple(others))
