"""Ratios of a run to its baseline: of totals, and of the 95th percentiles; with a test for each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import ceil, exp, inf, log

from scoregate.core.comparison.estimates import one_sided_p
from scoregate.core.comparison.pairing import Side, case_clusters, pair_means, pair_sides
from scoregate.core.records import record
from scoregate.core.runs.case_columns import Columns, percentiles
from scoregate.core.statistics.intervals import measure_spread
from scoregate.core.statistics.significance import Trials, sort_trials

_SEED = 20_260_106
_MOST, _FEWEST, _WORK = 999, 199, 10_000_000
_SHARE = 0.95


@record
class Ratio:
    """A ratio run / baseline over the cases of both, as natural logarithms.

    Attributes:
        value: the logarithm of the ratio.
        n: the number of pairs.
        low: the lower end of the 95 % interval; None without an interval.
        high: the upper end of the 95 % interval; None without an interval.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None

    @property
    def times(self) -> float:
        """The ratio itself, not its logarithm."""
        return exp(self.value)


def compute_total_ratio(new: Side, baseline: Side) -> Ratio | None:
    """The ratio of the totals over all cases, such as the change in cost.

    The interval of log(mean(x) / mean(y)) follows from the delta method: the difference of a case is
    x / mean(x) − y / mean(y), and `Spread.interval` gives the interval of the mean difference.

    Args:
        new: the amounts of the run.
        baseline: the amounts of the baseline.

    Returns:
        The ratio; None if no case is in both, or if a total is zero.
    """
    mean, base_mean, n = shared_means(new, baseline)
    if not mean or not base_mean:
        return None
    relative = [
        (new.means[case] / mean - amount / base_mean, 1) for case, amount in baseline.means.items() if case in new.means
    ]
    low, high = measure_spread(relative).interval()
    value = log(mean / base_mean)
    return Ratio(value, n) if low == -inf else Ratio(value, n, value + low, value + high)


def shared_means(new: Side, baseline: Side) -> tuple[float | None, float | None, int]:
    """The means of both sides over the cases of both, and the number of these cases."""
    shared, means, base_means = pair_means(new.means, baseline.means)
    n = len(shared)
    return (sum(means) / n, sum(base_means) / n, n) if n else (None, None, 0)


def total_test(new: Side, baseline: Side, columns: Columns) -> float:
    """Test the ratio of totals by swapping run and baseline within pairs.

    Swapping a pair is the same as changing the sign of its difference, so the sign-flip test applies.

    Args:
        new: the amounts of the run.
        baseline: the amounts of the baseline.
        columns: the columns of the run, with the clusters.

    Returns:
        The one-sided p of a ratio as large or larger.
    """
    return one_sided_p(pair_sides(new, baseline, case_clusters(columns)))[1]


def compute_p95_ratio(new: Side, baseline: Side) -> Ratio | None:
    """The ratio of the 95th percentiles over the trials of the cases of both; None if no case is in both."""
    cases = _paired_trials(new, baseline)
    return Ratio(_log_ratio(cases), len(cases)) if cases else None


def p95_test(new: Side, baseline: Side) -> float:
    """Test the ratio of 95th percentiles by random permutations with a fixed seed.

    If each case has as many trials on both sides, a permutation swaps run and baseline within pairs. Otherwise it
    shuffles the trials of each case; each side keeps its number of trials.

    Args:
        new: the amounts of the run.
        baseline: the amounts of the baseline.

    Returns:
        The one-sided p of a ratio as large or larger.
    """
    cases = sort_trials(_paired_trials(new, baseline))
    draws = max(_FEWEST, min(_MOST, _WORK // sum(len(trials) + len(base_trials) for trials, base_trials in cases)))
    swap = all(len(trials) == len(base_trials) for trials, base_trials in cases)
    ratios = _swapped_ratios(cases, draws) if swap else _permuted_ratios(cases, draws)
    observed = _log_ratio(cases)
    return (1 + sum(ratio >= observed - 1e-9 for ratio in ratios)) / (draws + 1)


def _paired_trials(new: Side, baseline: Side) -> Sequence[Trials]:
    shared = [case for case in new.means if case in baseline.means]
    values, base_values = new.values(shared), baseline.values(shared)
    return [(values[case], base_values[case]) for case in shared]


def _log_ratio(cases: Sequence[Trials]) -> float:
    (p95,) = percentiles((value for new, _ in cases for value in new), _SHARE)
    (base_p95,) = percentiles((value for _, baseline in cases for value in baseline), _SHARE)
    return log((p95 or 0.0) / (base_p95 or 0.0))


def _swapped_ratios(cases: Sequence[Trials], draws: int) -> Iterator[float]:
    """Per draw, goes down from the largest value until each side has passed its largest 5 %."""
    ranked = sorted(
        ((value, case, side) for case, both in enumerate(cases) for side in (0, 1) for value in both[side]),
        reverse=True,
    )
    count = len(ranked) // 2
    rank = count - ceil(_SHARE * count) + 1
    source = random.Random(_SEED)
    for _ in range(draws):
        swaps = source.randbytes(len(cases))
        p95 = [0.0, 0.0]
        remaining = [rank, rank]
        for value, case, side in ranked:
            swapped_side = side ^ (swaps[case] & 1)
            remaining[swapped_side] -= 1
            if remaining[swapped_side] == 0:
                p95[swapped_side] = value
                if remaining[1 - swapped_side] <= 0:
                    break
        yield log(p95[0] / p95[1])


def _permuted_ratios(cases: Sequence[Trials], draws: int) -> Iterator[float]:
    source = random.Random(_SEED)
    for _ in range(draws):
        permuted = []
        for new, baseline in cases:
            values = [*new, *baseline]
            source.shuffle(values)
            permuted.append((values[: len(new)], values[len(new) :]))
        yield _log_ratio(permuted)
