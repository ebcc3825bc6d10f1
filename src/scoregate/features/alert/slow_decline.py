"""Scores that sink slowly although nothing changes: the newest runs of a branch against the older ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.statistics.distributions import t_two_sided
from scoregate.kernel.types.amounts import reaches
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import known_values
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.history import evaluator_digest
from scoregate.kernel.types.runs.past_runs import MOST_RUNS, Score, SuiteHistory
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.suite_states import digest_states

NEWEST = 5
FEWEST_OLDER = 5
LEVEL = 0.001
"""The probability of a false alarm of a run, over all its scores."""
# A run with fewer of the scores has other cases in its mean.
_LEAST_SHARE = 0.95


@record
class SlowDecline:
    """A score whose newest runs are lower than the older ones (higher, if a lower score is better).

    Attributes:
        suite: the label of the suite.
        evaluator: the id of the evaluator.
        before: the mean of the older runs, in [0, 1].
        now: the mean of the newest runs.
        older: the number of older runs.
    """

    suite: str
    evaluator: str
    before: float
    now: float
    older: int


def find_slow_declines(comparison: Comparison, *, min_effect: float) -> Iterator[SlowDecline]:
    """Find the scores that sank slowly, over up to 20 runs of which the last one is the newest.

    Each run is compared with the one before, and ten small drops are found by none of these comparisons. The newest
    five runs together show them. Only runs count between which nothing changed: those of the run's commit, and with
    `affected` those of other commits that changed nothing which the suite depends on.

    Args:
        comparison: the comparison of the newest run, whose history has the earlier runs.
        min_effect: smaller declines are ignored, in [0, 1].

    Yields:
        The scores that declined. All scores of a run share the level, so false alarms stay rare however many there are.
        `benchmarks/calibration_slow.py` simulates it.
    """
    run, found = comparison.run, []
    if not run.end.complete or run.scope.selection:
        return
    states, suites = digest_states(run), {suite.label: suite for suite in run.suites}
    for row in comparison.rows:
        suite = suites.get(row.suite)
        if suite is None or row.is_accepted or not _is_measured(suite) or row.evaluator not in suite.evaluators:
            continue
        means = _list_means(run, suite, row.evaluator, states.get(suite.script or "", ""))
        if len(means) >= FEWEST_OLDER + NEWEST:
            found.append((row, means))
    for row, means in found:
        falls = means if row.higher_is_better else [-mean for mean in means]
        before, now = _split_mean(means)
        if reaches(abs(now - before), min_effect) and decline_p(falls) <= LEVEL / len(found):
            yield SlowDecline(row.suite, row.evaluator, before, now, len(means) - NEWEST)


def decline_p(means: Sequence[float]) -> float:
    """The one-sided p of the newest five means being as low or lower, by Student's t.

    The standard deviation comes from the differences of successive runs, as in a control chart: a slow decline hardly
    widens it, and whole runs that move by themselves do. It has about three quarters of the degrees of freedom of the
    usual one.

    Args:
        means: the mean score of each run, the oldest first; more than five.

    Returns:
        The p; 1 if all means are equal.

    Source: von Neumann, Kent, Bellinson and Hart (1941), Annals of Mathematical Statistics 12:153 (mean square
    successive difference).
    """
    n, (before, now) = len(means), _split_mean(means)
    squares = sum((later - earlier) ** 2 for earlier, later in pairwise(means))
    if now >= before:
        return 1.0
    error = sqrt(squares / (2 * (n - 1)) * (1 / NEWEST + 1 / (n - NEWEST)))
    return t_two_sided((now - before) / error, 0.75 * (n - 1)) / 2


def _split_mean(means: Sequence[float]) -> tuple[float, float]:
    """The mean of the older runs and of the newest ones."""
    older = means[:-NEWEST]
    return sum(older) / len(older), sum(means[-NEWEST:]) / NEWEST


def _is_measured(suite: SuiteResult) -> bool:
    """Whether the suite ran as a whole, and no answer was read from a cache: those are no new evidence."""
    is_measured = suite.evidence.counts_all(Use.HISTORY) and not (suite.part or suite.columns.cached)
    return suite.complete and is_measured and not suite.errors


def _list_means(run: Run, suite: SuiteResult, evaluator: str, state: str) -> list[float]:
    """The means of runs in which nothing changed, the oldest first; the last one is the run's own. Empty without it.

    Nothing changed in runs of the run's commit. In other runs it is known if both recorded what the suite depends on.
    """
    past, own = run.history.suite_history(suite.label), suite.mean(evaluator)
    column, made_by = past.scores.get(evaluator, ()), evaluator_digest(suite.evaluators[evaluator])
    if own is None or not column or run.code.dirty:
        return []
    points = [
        point
        for index, point in enumerate(column)
        if point is not None and point.made_by == made_by and _is_unchanged(run, past, index, state)
    ]
    points.append(Score(own, len(known_values(suite.columns.scores.get(evaluator, ()))), made_by))
    fewest = _LEAST_SHARE * max(point.n for point in points)
    means = [point.mean for point in points if point.n >= fewest]
    return means[-MOST_RUNS:] if points[-1].n >= fewest else []


def _is_unchanged(run: Run, past: SuiteHistory, index: int, state: str) -> bool:
    """Whether an earlier run is whole, and measured the same as the run."""
    earlier = run.history.runs[index]
    if not earlier.complete or earlier.dirty or earlier.id == run.id:
        return False
    is_same_state = bool(state and past.states) and past.states[index] == state
    return is_same_state or (run.code.commit is not None and earlier.commit == run.code.commit)
