"""The same quantities computed in the simplest way, as references."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import sqrt


def mid_p(differences: Sequence[Fraction]) -> Fraction:
    """The mid-p of the sum under random signs by enumeration, in fractions; 1 if nothing changed."""
    if not (seen := abs(sum(differences, Fraction()))):
        return Fraction(1)
    sums = [
        abs(sum((sign * d for sign, d in zip(signs, differences, strict=True)), Fraction()))
        for signs in product((1, -1), repeat=len(differences))
    ]
    beyond, equal = sum(total > seen for total in sums), sum(total == seen for total in sums)
    return Fraction(2 * beyond + equal, 2 * len(sums))


def clustered_error(differences: Sequence[float], clusters: Sequence[str]) -> float:
    """The standard error of the mean of clustered differences, by its definition."""
    n, names = len(differences), sorted(set(clusters))
    mean = sum(differences) / n
    sums = [sum(d - mean for d, c in zip(differences, clusters, strict=True) if c == name) for name in names]
    return sqrt(len(names) / (len(names) - 1) * sum(total**2 for total in sums)) / n


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Each p divided by the share of p-values that are not larger, made monotone."""
    return [min(1.0, *(q * len(ps) / sum(other <= q for other in ps) for q in ps if q >= p)) for p in ps]
