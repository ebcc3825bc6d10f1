"""Earlier runs whose scores agree with those of all newer runs: a provider may have moved since they were measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from scoregate.kernel.compare.pairing import case_clusters, pair_sides, score_side
from scoregate.kernel.compare.statistics.intervals import measure_spread
from scoregate.kernel.types.runs.run import SuiteResult

# The two-sided p from which an older run agrees with the newer ones. With .2, two of three runs from before a step of
# 3 to 5 points would still be pooled at 200 cases (`benchmarks/calibration_pool.py`).
_AGREES = 0.5


def select_agreeing(baseline: Sequence[SuiteResult], earlier: Iterable[SuiteResult | None]) -> list[SuiteResult | None]:
    """The suite in earlier runs, each with only the evaluators whose scores agree with all newer runs.

    Records can prove that a project didn't change, and not that its provider didn't. So an evaluator is followed
    backwards as long as the paired t test of the next older run against all newer ones has p ≥ 0.5. From the first run
    that differs, older ones don't count.

    Args:
        baseline: the suite in the runs of the baseline.
        earlier: the suite in earlier runs, the newest first; None for runs without it.

    Returns:
        The suite in each earlier run; None if it lacks the suite or no evaluator agrees.
    """
    newer, followed, agreeing = list(baseline), set(baseline[0].evaluators), list[SuiteResult | None]()
    for suite in earlier:
        if suite is None:
            agreeing.append(None)
            continue
        followed -= {name for name in followed.intersection(suite.evaluators) if not _agrees(suite, newer, name)}
        infos = {name: info for name, info in suite.evaluators.items() if name in followed}
        counted = replace(suite, evaluators=infos) if infos else None
        newer += [] if counted is None else [counted]
        agreeing.append(counted)
    return agreeing


def suites_with_evaluator(baseline: Sequence[SuiteResult], evaluator: str) -> list[SuiteResult]:
    """The suite in the newest run of the baseline, and in those other runs whose scores of an evaluator count.

    Args:
        baseline: the suite in the runs of the baseline, the newest first; may be empty.
        evaluator: the id of the evaluator.
    """
    return [*baseline[:1], *(suite for suite in baseline[1:] if evaluator in suite.evaluators)]


def _agrees(older: SuiteResult, newer: Sequence[SuiteResult], evaluator: str) -> bool:
    known = [suite.columns for suite in suites_with_evaluator(newer, evaluator)]
    pairs = pair_sides(
        score_side([older.columns], evaluator), score_side(known, evaluator), case_clusters(newer[0].columns)
    )
    return bool(pairs.n) and measure_spread(pairs.clusters).t_test() >= _AGREES
