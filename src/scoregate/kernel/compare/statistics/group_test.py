"""The F-test of one-way analysis of variance: whether values are more alike within groups than between them."""

from __future__ import annotations

from collections.abc import Iterable

from scoregate.kernel.compare.statistics.distributions import incomplete_beta
from scoregate.kernel.types.records import record


@record
class GroupTest:
    """How alike values are within groups.

    Attributes:
        p: the probability of at least such a likeness if values are independent of groups; 1 if it is unknown.
        correlation: the intraclass correlation, at most 1; below 0 if values differ more within groups.
        groups: the number of groups.
        n: the number of values.
        design_effect: the factor by which the variance of the mean exceeds that of independent values.
    """

    p: float = 1.0
    correlation: float = 0.0
    groups: int = 0
    n: int = 0
    design_effect: float = 1.0


def test_groups(values: Iterable[tuple[str, float]]) -> GroupTest:
    """Test whether values are alike within groups.

    Args:
        values: each value with its group.

    Source: the F-test needs no normal distribution if groups are many (Box and Andersen 1955); for differences in
    {-1, 0, 1} of which at least 10 aren't 0, `benchmarks/calibration_hints.py` finds at most the level.
    """
    sums: dict[str, tuple[int, float]] = {}
    total = squares = 0.0
    n = 0
    for group, value in values:
        count, known = sums.get(group, (0, 0.0))
        sums[group] = (count + 1, known + value)
        n, total, squares = n + 1, total + value, squares + value * value
    groups = len(sums)
    if groups < 2 or n <= groups:
        return GroupTest(groups=groups, n=n)
    between = sum(known * known / count for count, known in sums.values()) - total * total / n
    within = max(0.0, squares - total * total / n - between)  # rounding may make it negative
    mean_between, mean_within = between / (groups - 1), within / (n - groups)
    if mean_between <= 0:
        return GroupTest(groups=groups, n=n)
    p = incomplete_beta((n - groups) / 2, (groups - 1) / 2, within / (within + between))
    mean_square = sum(count * count for count, _ in sums.values()) / n
    typical = (n - mean_square) / (groups - 1)
    correlation = (mean_between - mean_within) / (mean_between + (typical - 1) * mean_within)
    return GroupTest(p, correlation, groups, n, 1 + (mean_square - 1) * correlation)
