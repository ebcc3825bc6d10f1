"""The leader of several variants, and how far each other one differs from it: simultaneous intervals from pairs."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from scoregate.kernel.compare.estimates import allow_for_unseen, one_sided_p
from scoregate.kernel.compare.pairing import Pairs, Side, case_clusters, pair_sides
from scoregate.kernel.compare.statistics.intervals import Spread, measure_spread
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns


@record
class Lead:
    """The difference of a variant from the leader, the variant with the best mean.

    Attributes:
        delta: the mean difference, in the unit of the values.
        low: the lower end of the interval of the difference.
        high: the upper end.
        is_worse: whether the variant is significantly worse than the leader.
        spread: the differences from the leader; None for the leader itself.
    """

    delta: float = 0.0
    low: float = 0.0
    high: float = 0.0
    is_worse: bool = False
    spread: Spread | None = None


def compare_with_leader(
    sides: Sequence[Side], columns: Columns, *, higher_is_better: bool, alpha: float = 0.05
) -> list[Lead]:
    """Compare each variant with the leader.

    The leader is chosen from the data, so it may be any variant. Each interval and test has the level that a Bonferroni
    correction for all k·(k − 1) / 2 pairs gives. So with probability 1 − α all intervals hold together, whichever
    variant leads, and no variant that is as good as the best is called worse. `benchmarks/calibration_variants.py`
    simulates it, and shows that multiple comparisons with the best (Hsu) find fewer worse variants.

    Args:
        sides: the values of at least two variants, all for the same cases.
        columns: the columns of one of them, with the clusters.
        higher_is_better: whether a higher value is better.
        alpha: the probability that any interval is wrong, in (0, 1).

    Returns:
        The differences, in the order of `sides`.
    """
    totals = [fsum(side.means.values()) * (1 if higher_is_better else -1) for side in sides]
    leader, clusters = totals.index(max(totals)), case_clusters(columns)
    level = correct_level(len(sides), alpha)
    return [
        Lead()
        if index == leader
        else _measure_lead(pair_sides(side, sides[leader], clusters), level, higher_is_better=higher_is_better)
        for index, side in enumerate(sides)
    ]


def correct_level(variants: int, alpha: float) -> float:
    """The level of one pair of variants, of all that could be compared."""
    return alpha / (variants * (variants - 1) / 2)


def _measure_lead(pairs: Pairs, level: float, *, higher_is_better: bool) -> Lead:
    """The difference of scores in [0, 1]. The interval contains 0 unless the test is significant at the level.

    As in `estimates.estimate_difference`, an end that the test doesn't confirm allows for a change by 1 that no case
    shows yet.
    """
    spread, confidence = measure_spread(pairs.clusters), 1 - level
    step = pairs.step if spread.largest or pairs.step else 1.0
    low, high = spread.interval(step, confidence)
    is_significant = not low <= 0 <= high and 2 * min(one_sided_p(pairs)) <= level
    low, high = allow_for_unseen(spread, (low, high), 1.0, is_significant=is_significant, alpha=level)
    if not is_significant:
        low, high = min(low, 0.0), max(high, 0.0)
    is_worse = high < 0 if higher_is_better else low > 0
    return Lead(spread.mean, max(-1.0, low), min(1.0, high), is_worse, spread)
