"""How far whole runs move without any change, and how much this widens the comparison with their pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot, isfinite, sqrt
from statistics import stdev

from scoregate.kernel.compare.statistics.distributions import normal_quantile, t_quantile, t_two_sided
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.history import evaluator_digest
from scoregate.kernel.types.runs.past_runs import MOST_RUNS
from scoregate.kernel.types.runs.run import Run, SuiteResult

FEWEST_RUNS = 5
# The share of suites that are widened although only their cases vary. Half would cost a fifth of the power that the
# pool gains, a tenth would leave 8 % of false labels if runs do move (`benchmarks/calibration_pool.py`).
_LEVEL = 0.25


@record
class RunMovement:
    """How far the mean scores of whole runs are apart although nothing that they depend on changed.

    Attributes:
        deviation: the standard deviation of the means.
        excess: the part of it that the variation of single cases doesn't explain; 0 if it explains all.
        runs: the number of runs.
        pooled: the number of runs in the baseline.
    """

    deviation: float
    excess: float
    runs: int
    pooled: int = 1

    def widen_error(self, error: float) -> float:
        """The standard error of a change, with the movement of the run and of each run of the baseline."""
        return hypot(error, self.excess * sqrt(1 + 1 / self.pooled))

    def one_sided_p(self, change: float, error: float) -> tuple[float, float]:
        """The one-sided p of a change as low or lower, and as high or higher, by Student's t with k − 1 degrees."""
        p = t_two_sided(change / self.widen_error(error), self.runs - 1)
        return (p / 2, 1 - p / 2) if change < 0 else (1 - p / 2, p / 2)

    def half_width(self, error: float) -> float:
        """Half the width of the 95 % interval of a change."""
        return t_quantile(0.975, self.runs - 1) * self.widen_error(error)

    def detectable(self, error: float) -> float:
        """The smallest change that is found with a power of 80 %."""
        return (t_quantile(0.975, self.runs - 1) + t_quantile(0.8, self.runs - 1)) * self.widen_error(error)


def measure_movement(
    means: Sequence[float], error: float, *, trials: float, base_trials: float, pooled: int
) -> RunMovement | None:
    """Measure how far the means of runs are apart, and whether their cases explain it.

    Cases explain it unless the variance of the means is in the upper quarter of what independent trials would give
    (the χ² distribution with k − 1 degrees of freedom).

    Args:
        means: the mean score of each run; nothing changed between them.
        error: the standard error of the change between the run and the baseline, from single cases.
        trials: the mean number of trials of a case in the run.
        base_trials: the same over all runs of the baseline.
        pooled: the number of runs in the baseline.

    Returns:
        The movement; None with fewer than five runs.
    """
    if len(means) < FEWEST_RUNS or not isfinite(error) or base_trials <= 0:
        return None
    runs, deviation = len(means), stdev(means)
    # Stored answers that several runs share are one trial, so they are as good as one run.
    pooled = max(1, min(pooled, round(base_trials)))
    explained = error**2 * pooled / (1 + base_trials / trials)
    is_explained = deviation**2 <= explained * _chi_square_quantile(1 - _LEVEL, runs - 1) / (runs - 1)
    excess = 0.0 if is_explained else sqrt(max(0.0, deviation**2 - explained))
    return RunMovement(deviation, excess, runs, pooled)


def _chi_square_quantile(p: float, df: int) -> float:
    """The quantile of the χ² distribution, within 0.3 % from 4 degrees of freedom on.

    Source: Wilson and Hilferty (1931), Proceedings of the National Academy of Sciences 17:684.
    """
    spread = 2 / (9 * df)
    return df * float(1 - spread + normal_quantile(p) * sqrt(spread)) ** 3


def collect_run_means(base: Run, suite: SuiteResult, states: Mapping[str, str]) -> dict[str, list[float]]:
    """The mean scores of up to 20 runs between which nothing changed, by evaluator; the newest is the baseline.

    Args:
        base: the baseline, whose history has the means of earlier runs.
        suite: one of its suites.
        states: `digest_states` of the baseline.
    """
    state = states.get(suite.script or "")
    past = base.history.suite_history(suite.label)
    if not state or not past.states:
        return {}
    same = [index for index, each in enumerate(past.states) if each == state and base.history.runs[index].id != base.id]
    means = {}
    for name, info in suite.evaluators.items():
        column, made_by = past.scores.get(name, ()), evaluator_digest(info)
        scores = [column[index] for index in same if column]
        known = [each.mean for each in scores if each is not None and each.made_by == made_by]
        own = suite.mean(name) if suite.evidence.counts_all(Use.HISTORY) else None
        means[name] = [*known, *([] if own is None else [own])][-MOST_RUNS:]
    return means
