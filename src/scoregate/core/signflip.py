"""The two-sided mid-p sign-flip test: how often would random signs move the sum as far as it moved?"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import fsum, lcm

from scoregate.core.distributions import binomial_half_cdf, binomial_half_pmf

ENUMERATED = 14
DRAWN = 200
DRAWS = 9_999
_SEED = 20_260_101
_FINEST = 1_000
_MOST_VALUES = 128
_WORK = 1_000_000
_CLOSE = 1e-9


def sign_flip(differences: Sequence[float]) -> float | None:
    """The mid-p of the sum of `differences` (one a case or cluster) under random signs.

    P(|T*| > |T|) + ½ P(|T*| = |T|): exact where the values lie on a lattice or are few; by 9,999 draws with a fixed
    seed up to 200 values; None beyond, where the t test serves. For ±1 this is McNemar's mid-p. A sum that did not
    move has p = 1. Neither the order of the values matters nor which side is the base, and less than 1e-9 is
    rounding, not a difference.

    Source: Fagerland, Lydersen, Laake (2013), BMC Medical Research Methodology 13:91, extended to values.
    """
    values = [value for value in differences if abs(value) > _CLOSE]
    if abs(fsum(values)) <= _CLOSE:
        return 1.0
    steps = _steps(values)
    if steps is not None and (p := _exact(steps)) is not None:
        return p
    if len(values) <= ENUMERATED:
        return _enumerated(values)
    return _drawn(values) if len(values) <= DRAWN else None


def smallest_p(differences: Iterable[float]) -> float:
    """The smallest p that the test can give for this many values that are not zero: all of one sign."""
    return 2.0 ** -sum(1 for value in differences if abs(value) > _CLOSE)


def _steps(values: Sequence[float]) -> list[int] | None:
    """The values as whole multiples of one step; None where there is no such step that is not too fine."""
    distinct = {round(abs(value), 12) for value in values}
    if len(distinct) > _MOST_VALUES:
        return None
    fractions = [Fraction(value).limit_denominator(_FINEST) for value in distinct]
    unit = lcm(*(fraction.denominator for fraction in fractions))
    if unit > _FINEST * 10:
        return None
    steps = [round(value * unit) for value in values]
    return steps if all(abs(v * unit - s) < _CLOSE * unit for v, s in zip(values, steps, strict=True)) else None


def _exact(steps: Sequence[int]) -> float | None:
    """By convolution: values of one size contribute a binomial number of plus signs."""
    groups = Counter(abs(step) for step in steps)
    if len(groups) == 1:
        return _binomial(sum(1 for step in steps if step > 0), len(steps))
    if _work(groups) > _WORK:
        return None
    chances = [1.0]
    for size, count in groups.items():
        chances = _convolved(chances, size, count)
    total, seen = sum(size * count for size, count in groups.items()), abs(sum(steps))
    # chances[k] belongs to the sum 2k − total
    beyond = fsum(chance for k, chance in enumerate(chances) if abs(2 * k - total) > seen)
    equal = fsum(chance for k, chance in enumerate(chances) if abs(2 * k - total) == seen)
    return min(1.0, beyond + equal / 2)


def _work(groups: Counter[int]) -> int:
    length, work = 1, 0
    for size, count in groups.items():
        length += size * count
        work += length * (count + 1)
    return work


def _convolved(chances: list[float], size: int, count: int) -> list[float]:
    longer = [0.0] * (len(chances) + size * count)
    for plus in range(count + 1):
        weight, shift = binomial_half_pmf(plus, count), plus * size
        if weight > 1e-18:
            longer[shift : shift + len(chances)] = [
                old + weight * new for old, new in zip(longer[shift:], chances, strict=False)
            ]
    return longer


def _binomial(plus: int, n: int) -> float:
    fewer = min(plus, n - plus)
    return min(1.0, 2 * binomial_half_cdf(fewer, n) - binomial_half_pmf(fewer, n))


def _enumerated(values: Sequence[float]) -> float:
    sums, seen = _sums(values), abs(fsum(values))
    slack = _CLOSE * fsum(map(abs, values))
    beyond = sum(1 for total in sums if abs(total) > seen + slack)
    equal = sum(1 for total in sums if abs(abs(total) - seen) <= slack)
    return (beyond + equal / 2) / len(sums)


def _drawn(values: Sequence[float]) -> float:
    """Signs come eight at a time: for each byte a table of the sums that its bits can give."""
    sizes = sorted(map(abs, values))
    tables = [_sums(sizes[at : at + 8]) for at in range(0, len(sizes), 8)]
    tables[-1] *= 256 // len(tables[-1])
    source = random.Random(_SEED)
    parts = [map(table.__getitem__, source.randbytes(DRAWS)) for table in tables]
    seen = abs(fsum(values)) * (1 - _CLOSE)
    reached = sum(map(seen.__le__, map(abs, map(sum, zip(*parts, strict=True)))))
    return (1 + reached) / (DRAWS + 1)


def _sums(values: Sequence[float]) -> list[float]:
    """The sum under every choice of signs."""
    sums = [0.0]
    for value in values:
        sums = [total + sign for total in sums for sign in (value, -value)]
    return sums
