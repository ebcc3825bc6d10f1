"""The earlier runs that the baseline is pooled with, and how far whole runs move, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.run import Run

_MOST_NAMES = 3


@record
class EarlierRunView:
    """An earlier run of the branch whose scores count as repeats of the baseline; `suites` are those it counts for."""

    id: str
    name: str
    commit: str | None
    finished: float
    suites: tuple[str, ...]


def build_earlier_runs(comparison: Comparison) -> Iterator[EarlierRunView]:
    """Build the views of the earlier runs, the newest first."""
    for run in sorted(comparison.earlier_runs, key=lambda each: each.end.finished, reverse=True):
        yield EarlierRunView(
            run.id, run.name, run.code.commit, run.end.finished, tuple(sorted(suite.label for suite in run.suites))
        )


def describe_base_runs(base: Run, pooled: int, earlier: Sequence[EarlierRunView]) -> str:
    """Describe the runs of a baseline: `5 runs over 3 days, unchanged since abc1234`; empty for a single run.

    Args:
        base: the baseline.
        pooled: the number of runs of its commit.
        earlier: the earlier runs.
    """
    if not earlier:
        return f"{pooled} runs of this commit" if pooled > 1 else ""
    times = [base.end.finished, *(each.finished for each in earlier)]
    oldest = min(earlier, key=lambda each: each.finished)
    duration = number_format.age(max(times) - min(times)).removesuffix(" old")
    span = "" if duration == number_format.age(0) else f" over {duration}"
    counted, suites = {suite for each in earlier for suite in each.suites}, len(base.suites)
    part = f" ({len(counted)} of {suites} suites)" if len(counted) < suites else ""
    since = (oldest.commit or oldest.id)[:7]
    return f"{pooled + len(earlier)} runs{span}, unchanged since {since}{part}"


def describe_movement(comparison: Comparison) -> Iterator[str]:
    """A sentence about the scores whose whole runs move more than their cases explain."""
    movements = ((row, row.base_runs.movement) for row in comparison.rows)
    moving = [(row, movement) for row, movement in movements if movement is not None and movement.excess]
    if not moving:
        return
    names = [
        f"{row.suite} · {row.evaluator} by {100 * movement.deviation:.1f} points ({movement.runs} runs)"
        for row, movement in moving[:_MOST_NAMES]
    ]
    more = f" and {len(moving) - _MOST_NAMES} more" if len(moving) > _MOST_NAMES else ""
    yield (
        "Whole runs differ by more than their cases explain, although nothing changed between them:"
        f" {', '.join(names)}{more}. Labels and intervals allow for it."
    )
