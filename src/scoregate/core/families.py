"""Many tests at once: how p-values are read together."""

from __future__ import annotations

from collections.abc import Sequence


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """The corrected p of each p: the smallest false-discovery rate at which it would be called.

    Source: Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57:289.
    """
    count, lowest = len(ps), 1.0
    corrected = [1.0] * count
    ascending = sorted(range(count), key=ps.__getitem__)
    for rank, at in reversed(list(enumerate(ascending, start=1))):
        lowest = min(lowest, ps[at] * count / rank)
        corrected[at] = lowest
    return corrected


def correct_by_direction(worse: Sequence[float], better: Sequence[float]) -> list[float]:
    """The corrected two-sided p of each row: twice the smaller of its corrected one-sided ones.

    Each direction is a family of its own at half the level. So rows that really improve are no evidence that another
    row got worse, as they would be in one two-sided family.

    Args:
        worse: the one-sided p of each row for getting worse. better: for getting better, in the same order.
    """
    both = zip(benjamini_hochberg(worse), benjamini_hochberg(better), strict=True)
    return [min(1.0, 2 * min(down, up)) for down, up in both]
