"""Many tests at once: how p-values are read together."""

from __future__ import annotations

from collections.abc import Sequence


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """The q-value of each p: the smallest false-discovery rate at which it would be called.

    Source: Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57:289.
    """
    count, lowest = len(ps), 1.0
    qs = [1.0] * count
    for rank, at in reversed(list(enumerate(_ascending(ps), start=1))):
        lowest = min(lowest, ps[at] * count / rank)
        qs[at] = lowest
    return qs


def holm(ps: Sequence[float]) -> list[float]:
    """Each p adjusted so that the chance of any false call among them stays bounded.

    Source: Holm (1979), Scandinavian Journal of Statistics 6:65.
    """
    count, highest = len(ps), 0.0
    adjusted = [1.0] * count
    for rank, at in enumerate(_ascending(ps)):
        highest = max(highest, min(1.0, ps[at] * (count - rank)))
        adjusted[at] = highest
    return adjusted


def _ascending(ps: Sequence[float]) -> list[int]:
    return sorted(range(len(ps)), key=ps.__getitem__)
