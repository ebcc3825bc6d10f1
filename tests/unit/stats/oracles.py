"""The same quantities in the plainest way, to hold the quick ones to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import sqrt


def mid_p(differences: Sequence[Fraction]) -> Fraction:
    """The mid-p of the sum under random signs: every choice of signs looked at, in fractions; 1 where nothing moved."""
    if not (seen := abs(sum(differences, Fraction()))):
        return Fraction(1)
    sums = [
        abs(sum((sign * d for sign, d in zip(signs, differences, strict=True)), Fraction()))
        for signs in product((1, -1), repeat=len(differences))
    ]
    beyond, equal = sum(total > seen for total in sums), sum(total == seen for total in sums)
    return Fraction(2 * beyond + equal, 2 * len(sums))


def clustered_error(differences: Sequence[float], clusters: Sequence[str]) -> float:
    """The standard error of the mean of differences that come in clusters, by its definition."""
    n, names = len(differences), sorted(set(clusters))
    mean = sum(differences) / n
    sums = [sum(d - mean for d, c in zip(differences, clusters, strict=True) if c == name) for name in names]
    return sqrt(len(names) / (len(names) - 1) * sum(total**2 for total in sums)) / n


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Each p by the share of those that are not larger, never above one that a larger p was given."""
    return [min(1.0, *(q * len(ps) / sum(other <= q for other in ps) for q in ps if q >= p)) for p in ps]
