"""Tests of groups: whether many small rows fell together, and whether values are alike within groups."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import fsum
from operator import add

from scoregate.kernel.compare.statistics.distributions import incomplete_beta
from scoregate.kernel.types.records import record

_SEED = 20_261_128
_DRAWS = 9_999
# Up to this number of cases that differ, every choice of signs is tried: 2^14 is about as many as are drawn above it.
_MOST_ENUMERATED = 14
_BITS = 8
_CLOSE = 1e-9


def joint_fall_test(rows: Sequence[Mapping[Hashable, float]]) -> float:
    """Test whether rows fell, all together or some of them far, by flipping the signs of whole cases.

    Two statistics are computed: the sum of all differences, and the sum over rows of the squares of their standardised
    falls, Σ_r min(0, Σ_i d_ri)² / Σ_i d_ri². The first one finds many rows that fall a little, the second one a few
    rows that collapse. The test takes the smaller of their mid-p and compares it with what it is under random signs. So
    choosing between them costs no error rate, and equal outcomes count in full.

    Args:
        rows: the differences of each row by case (or cluster), negative for a fall. A case that is in several rows has
            one sign in all of them, since its scores depend on the same output.

    Returns:
        The one-sided p of a fall as clear or clearer; 1 if no case differs. Above 14 cases that differ it is estimated
        with 9,999 draws of a fixed seed.

    Source: Westfall and Young (1993), Resampling-Based Multiple Testing, for the smaller of two p-values; Pesarin
    (2001), Multivariate Permutation Tests, for combining dependent rows.
    """
    changed = [{case: value for case, value in row.items() if abs(value) > _CLOSE} for row in rows]
    changed = [row for row in changed if row]
    cases = _order_cases(changed)
    if not cases:
        return 1.0
    selectors = _choose_signs(len(cases))
    place = {case: index for index, case in enumerate(cases)}
    sums = [_flip_row(row, place, selectors) for row in changed]
    observed = [fsum(row.values()) for row in changed]
    variances = [fsum(value * value for value in row.values()) for row in changed]
    count = len(selectors[0])
    totals, falls = [0.0] * count, [0.0] * count
    for flipped, variance in zip(sums, variances, strict=True):
        totals = list(map(add, totals, flipped))
        falls = [old - min(0.0, value) * abs(value) / variance for old, value in zip(falls, flipped, strict=True)]
    # The observed outcome is one of the possible ones, which keeps the test exact with drawn signs too.
    is_drawn = len(cases) > _MOST_ENUMERATED
    total, fall = fsum(observed), fsum(min(0.0, s) ** 2 / v for s, v in zip(observed, variances, strict=True))
    if is_drawn:
        totals.append(total)
        falls.append(fall)
    by_total, by_fall = _MidP([-value for value in totals]), _MidP(falls)
    smaller = _MidP([-min(by_total.of(-one), by_fall.of(other)) for one, other in zip(totals, falls, strict=True)])
    return smaller.of(-min(by_total.of(-total), by_fall.of(fall)), equal_count=0.5 if is_drawn else 1.0)


def _order_cases(rows: Sequence[Mapping[Hashable, float]]) -> list[Hashable]:
    """The cases in an order that depends on their values alone: cases finish in any order, and draws are seeded."""
    values: dict[Hashable, list[float]] = {}
    for index, row in enumerate(rows):
        for case, value in row.items():
            values.setdefault(case, []).extend((index, value))
    return sorted(values, key=values.__getitem__)


def _choose_signs(cases: int) -> list[Sequence[int]]:
    """For each eight cases a byte for each outcome, whose bits are the signs; all outcomes if there are few cases."""
    blocks = -(-cases // _BITS)
    if cases <= _MOST_ENUMERATED:
        outcomes = range(2**cases)
        return [[outcome >> _BITS * block & 255 for outcome in outcomes] for block in range(blocks)]
    source = random.Random(_SEED)
    return [source.randbytes(_DRAWS) for _ in range(blocks)]


def _flip_row(
    row: Mapping[Hashable, float], place: Mapping[Hashable, int], selectors: Sequence[Sequence[int]]
) -> list[float]:
    """The sum of a row for each outcome. The sum of eight cases comes from a table with an entry for each byte."""
    blocks: dict[int, list[tuple[int, float]]] = {}
    for case, value in row.items():
        blocks.setdefault(place[case] // _BITS, []).append((place[case] % _BITS, value))
    sums = [0.0] * len(selectors[0])
    for block, members in sorted(blocks.items()):
        table = [fsum(value if byte >> bit & 1 else -value for bit, value in members) for byte in range(2**_BITS)]
        sums = list(map(add, sums, map(table.__getitem__, selectors[block])))
    return sums


class _MidP:
    """The mid-p of a value among outcomes: the share of those above it, and half of those equal to it."""

    def __init__(self, outcomes: Sequence[float]) -> None:
        self._sorted = sorted(outcomes)

    def of(self, value: float, equal_count: float = 0.5) -> float:
        above = len(self._sorted) - bisect_right(self._sorted, value + _CLOSE)
        equal = len(self._sorted) - above - bisect_left(self._sorted, value - _CLOSE)
        return (above + equal * equal_count) / len(self._sorted)


@record
class GroupTest:
    """How alike values are within groups.

    Attributes:
        groups: the number of groups.
        n: the number of values.
        p: the probability of at least such a likeness if values are independent of groups; 1 if it is unknown.
        correlation: the intraclass correlation, at most 1; below 0 if values differ more within groups.
        design_effect: the factor by which the variance of the mean exceeds that of independent values.
    """

    groups: int
    n: int
    p: float = 1.0
    correlation: float = 0.0
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
        return GroupTest(groups, n)
    between = sum(known * known / count for count, known in sums.values()) - total * total / n
    within = max(0.0, squares - total * total / n - between)  # rounding may make it negative
    mean_between, mean_within = between / (groups - 1), within / (n - groups)
    if mean_between <= 0:
        return GroupTest(groups, n)
    p = incomplete_beta((n - groups) / 2, (groups - 1) / 2, within / (within + between))
    mean_square = sum(count * count for count, _ in sums.values()) / n
    typical = (n - mean_square) / (groups - 1)
    correlation = (mean_between - mean_within) / (mean_between + (typical - 1) * mean_within)
    return GroupTest(groups, n, p, correlation, 1 + (mean_square - 1) * correlation)
