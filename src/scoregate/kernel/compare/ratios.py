"""Ratios of a run to its baseline: of totals, and of the 95th percentiles; with a test for each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from math import ceil, erfc, exp, inf, log, sqrt
from statistics import fmean, stdev
from typing import TypeAlias

from scoregate.kernel.compare.estimates import one_sided_p
from scoregate.kernel.compare.pairing import Pairs, Side, case_clusters, pair_means, sum_clusters
from scoregate.kernel.compare.statistics.intervals import measure_spread
from scoregate.kernel.compare.statistics.significance import (
    FEWEST_CLUSTERS,
    Trials,
    count_changed,
    exact_sign_flip_p,
    sort_trials,
)
from scoregate.kernel.compare.trial_blocks import Slots, group_cases, list_blocks
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns, percentiles

_SEED = 20_260_106
_MOST, _FEWEST, _WORK = 39_999, 199, 40_000_000
_ENOUGH, _CLOSE = 100, 1e-9
_SHARE = 0.95
# With fewer cases the mid-p would be below the level more often than it allows.
_FEW = 10

_SlotValues: TypeAlias = list[list[float]]


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


def compute_total_ratio(new: Side, baseline: Side, columns: Columns) -> Ratio | None:
    """The ratio of the totals over all cases, such as the change in cost.

    The interval of log(mean(x) / mean(y)) follows from the delta method: the difference of a case is
    x / mean(x) − y / mean(y), and `Spread.interval` gives the interval of the mean difference.

    Args:
        new: the amounts of the run.
        baseline: the amounts of the baseline.
        columns: the columns of the run, with the clusters.

    Returns:
        The ratio; None if no case is in both, or if a total is zero.
    """
    mean, base_mean, n = shared_means(new, baseline)
    if not mean or not base_mean:
        return None
    shared, means, base_means = pair_means(new.means, baseline.means)
    relative = [here / mean - there / base_mean for here, there in zip(means, base_means, strict=True)]
    low, high = measure_spread(tuple(sum_clusters(shared, relative, case_clusters(columns)))).interval()
    value = log(mean / base_mean)
    return Ratio(value, n) if low == -inf else Ratio(value, n, value + low, value + high)


def shared_means(new: Side, baseline: Side) -> tuple[float | None, float | None, int]:
    """The means of both sides over the cases of both, and the number of these cases."""
    shared, means, base_means = pair_means(new.means, baseline.means)
    n = len(shared)
    return (sum(means) / n, sum(base_means) / n, n) if n else (None, None, 0)


def total_test(pairs: Pairs) -> float:
    """Test the ratio of totals by swapping run and baseline within pairs.

    Swapping a pair is the same as changing the sign of its difference, so the sign-flip test applies.

    Args:
        pairs: the amounts of the cases of both.

    Returns:
        The one-sided p of a ratio as large or larger; 1 if fewer than six clusters differ.
    """
    if count_changed(pairs.sums) < FEWEST_CLUSTERS:
        return 1.0
    exact = exact_sign_flip_p(pairs.sums) if len(pairs.clusters) < _FEW else None
    return max(one_sided_p(pairs)[1], 0.0 if exact is None else exact[1])


def compute_p95_ratio(new: Side, baseline: Side) -> Ratio | None:
    """The ratio of the 95th percentiles over the trials of the cases of both; None if no case is in both."""
    trials = _paired_trials(new, baseline)
    return Ratio(_log_ratio([_join_cases(trials.values())]), len(trials)) if trials else None


def p95_test(new: Side, baseline: Side, columns: Columns) -> float:
    """Test the ratio of 95th percentiles by random permutations with a fixed seed.

    If each case has as many trials on both sides, a permutation swaps run and baseline within clusters. Otherwise it
    shuffles the slots of each cluster, see `trial_blocks.Block`; each side keeps its number of trials.

    Args:
        new: the amounts of the run.
        baseline: the amounts of the baseline.
        columns: the columns of the run, with the clusters.

    Returns:
        The one-sided p of a ratio as large or larger; 1 if fewer than six clusters differ.
    """
    trials = _paired_trials(new, baseline)
    clusters = [[trials[case] for case in members] for members in group_cases(trials, case_clusters(columns))]
    joined = sort_trials(map(_join_cases, clusters))
    if sum(map(_can_differ, joined)) < FEWEST_CLUSTERS:
        return 1.0
    most = max(_FEWEST, min(_MOST, _WORK // sum(len(values) + len(base_values) for values, base_values in joined)))
    can_swap = all(len(slots) == len(base_slots) for slots, base_slots in trials.values())
    ratios = _swapped_ratios(joined) if can_swap else _permuted_ratios(_sort_blocks(clusters))
    return _count_larger(islice(ratios, most), _log_ratio(joined), most)


def _count_larger(ratios: Iterable[float], observed: float, most: int) -> float:
    """The p of a ratio from random ones, of which only as many are drawn as it takes.

    Drawing ends after 100 ratios that are as large, so that a p which can't be significant takes few draws. A small one
    takes many, since a limit for each of 20 suites asks for a p of .00025. Where time allows only a few draws there are
    so many trials that the ratio is close to normal, and a p below 1 / draws is read from that distribution.

    Source: Besag and Clifford (1991), Biometrika 78:301.
    """
    larger, drawn = 0, list[float]()
    for ratio in ratios:
        drawn.append(ratio)
        larger += ratio >= observed - _CLOSE
        if larger == _ENOUGH:
            return larger / len(drawn)
    p = (1 + larger) / (len(drawn) + 1)
    deviation = stdev(drawn)
    if larger or most == _MOST or not deviation:
        return p
    return min(p, erfc((observed - fmean(drawn)) / deviation / sqrt(2)) / 2)


def _paired_trials(new: Side, baseline: Side) -> dict[str, tuple[Slots, Slots]]:
    shared = [case for case in new.means if case in baseline.means]
    values, base_values = new.values(shared), baseline.values(shared)
    return {case: (values[case], base_values[case]) for case in shared}


def _join_cases(cases: Iterable[tuple[Slots, Slots]]) -> Trials:
    new, baseline = zip(*cases, strict=True)
    return [value for slots in new for value in slots.values()], [
        value for slots in baseline for value in slots.values()
    ]


def _can_differ(cluster: Trials) -> bool:
    new, baseline = cluster
    return new != baseline and len({*new, *baseline}) > 1


def _log_ratio(cases: Sequence[Trials]) -> float:
    (p95,) = percentiles((value for new, _ in cases for value in new), _SHARE)
    (base_p95,) = percentiles((value for _, baseline in cases for value in baseline), _SHARE)
    return log((p95 or 0.0) / (base_p95 or 0.0))


def _swapped_ratios(clusters: Sequence[Trials]) -> Iterator[float]:
    """Per draw, goes down from the largest value until each side has passed its largest 5 %."""
    ranked = sorted(
        ((value, cluster, side) for cluster, both in enumerate(clusters) for side in (0, 1) for value in both[side]),
        reverse=True,
    )
    count = len(ranked) // 2
    rank = count - ceil(_SHARE * count) + 1
    source = random.Random(_SEED)
    while True:
        swaps = source.randbytes(len(clusters))
        p95 = [0.0, 0.0]
        remaining = [rank, rank]
        for value, cluster, side in ranked:
            swapped_side = side ^ (swaps[cluster] & 1)
            remaining[swapped_side] -= 1
            if remaining[swapped_side] == 0:
                p95[swapped_side] = value
                if remaining[1 - swapped_side] <= 0:
                    break
        yield log(p95[0] / p95[1])


def _sort_blocks(clusters: Iterable[Sequence[tuple[Slots, Slots]]]) -> list[tuple[_SlotValues, _SlotValues]]:
    """The values of each slot of all blocks, in an order that doesn't depend on the one in which trials finished."""
    blocks = (block for cases in clusters for block in list_blocks(cases))
    return sorted((sorted(map(sorted, block.new)), sorted(map(sorted, block.baseline))) for block in blocks)


def _permuted_ratios(blocks: Sequence[tuple[_SlotValues, _SlotValues]]) -> Iterator[float]:
    source = random.Random(_SEED)
    while True:
        permuted = []
        for new, baseline in blocks:
            slots = [*new, *baseline]
            source.shuffle(slots)
            sides = slots[: len(new)], slots[len(new) :]
            permuted.append((list(chain.from_iterable(sides[0])), list(chain.from_iterable(sides[1]))))
        yield _log_ratio(permuted)
