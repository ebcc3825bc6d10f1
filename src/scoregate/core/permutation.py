"""The within-case permutation test: how often would trials dealt anew to base and run move the sum as far?"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, erfc, exp, fsum, pi, sqrt
from typing import TypeAlias

Trials: TypeAlias = tuple[Sequence[float], Sequence[float]]
"""The values of a case in the run and in the base, at least one each."""

_DRAWN = 400
_FEWEST, _MOST, _WORK = 1_999, 9_999, 1_000_000
_TABLE = 256
_SEED = 20_260_105
_CLOSE = 1e-9


def within_case_test(cases: Sequence[Trials]) -> tuple[float, float]:
    """How likely a sum of differences of case means as low, and as high, is when nothing changed in any case.

    Under that hypothesis the trials of a case can change places between run and base, however many each side has. That
    holds the level where sides were repeated unequally, so that differences are skewed and random signs would not.
    By draws with a fixed seed where up to 400 cases have different values, else by the normal distribution with the
    exact variance and skewness (Edgeworth's first term).

    Args:
        cases: the trials of each case.

    Returns:
        The mid-p of a sum as low or lower, and of one as high or higher. Both are 0.5 where no case has two values.

    Source: permutation of trials within blocks: Good (2005), Permutation, Parametric and Bootstrap Tests, chapter 3;
    moments of a sample without replacement: Sukhatme and Sukhatme (1970), Sampling Theory, chapter 1.
    """
    mixed = [case for case in cases if _range(case) > _CLOSE]
    if not mixed:
        return 0.5, 0.5
    seen = fsum(_difference(*case) for case in mixed)
    return _drawn(mixed, seen) if len(mixed) <= _DRAWN else _approximated(mixed, seen)


def _range(case: Trials) -> float:
    new, old = case
    return max(*new, *old) - min(*new, *old)


def _difference(new: Sequence[float], old: Sequence[float]) -> float:
    return fsum(new) / len(new) - fsum(old) / len(old)


def _drawn(cases: Sequence[Trials], seen: float) -> tuple[float, float]:
    """Each case has a table of 256 differences that are equally likely; a random byte chooses one."""
    source = random.Random(_SEED)
    draws = max(_FEWEST, min(_MOST, _WORK // len(cases)))
    parts = [map(_table(case, source).__getitem__, source.randbytes(draws)) for case in cases]
    sums = list(map(sum, zip(*parts, strict=True)))
    below = sum(1 for total in sums if total < seen - _CLOSE)
    above = sum(1 for total in sums if total > seen + _CLOSE)
    equal = draws - below - above
    return (below + equal / 2 + 0.5) / (draws + 1), (above + equal / 2 + 0.5) / (draws + 1)


def _table(case: Trials, source: random.Random) -> list[float]:
    new, old = case
    values, size = [*new, *old], len(new)
    total = fsum(values)
    ways = comb(len(values), size)
    if ways > _TABLE:
        samples: Iterator[Sequence[float]] = (source.sample(values, size) for _ in range(_TABLE))
    else:
        samples = combinations(values, size)
    found = [fsum(sample) / size - (total - fsum(sample)) / len(old) for sample in samples]
    # where the ways do not divide 256, which of them come once more is left to chance
    return found * (_TABLE // len(found)) + source.sample(found, _TABLE % len(found))


def _approximated(cases: Sequence[Trials], seen: float) -> tuple[float, float]:
    moments = [_moments(case) for case in cases]
    variance, third = fsum(second for second, _ in moments), fsum(third for _, third in moments)
    z, skewness = seen / sqrt(variance), third / variance**1.5
    above = erfc(z / sqrt(2)) / 2 + skewness / 6 * (z * z - 1) * exp(-z * z / 2) / sqrt(2 * pi)
    above = min(1.0, max(0.0, above))
    return 1 - above, above


def _moments(case: Trials) -> tuple[float, float]:
    """The second and third moment of the difference over all ways to deal the trials."""
    new, old = case
    values, a, b = [*new, *old], len(new), len(old)
    count, mean = a + b, fsum((*new, *old)) / (a + b)
    second = fsum((value - mean) ** 2 for value in values) / (count - 1)
    third = fsum((value - mean) ** 3 for value in values) / count
    factor = count / b
    skew = (count - a) * (count - 2 * a) / (a * a * (count - 1) * (count - 2)) * third if count > 2 else 0.0
    return second * (1 / a + 1 / b), factor**3 * skew
