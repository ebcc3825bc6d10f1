"""Significance tests of paired differences: sign flips, within-case permutations, Benjamini-Hochberg."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, cos, erfc, exp, fsum, lcm, pi, sin, sqrt
from typing import TypeAlias

from scoregate.core.distributions import binomial_half_cdf, binomial_half_pmf

ENUMERATED = 14
INVERTED = 200
_FINEST = 1_000
_MOST_VALUES = 128
_WORK = 1_000_000
_WORK_OF_SERIES = 100_000
_PERIOD = 1.0625
_NEGLIGIBLE = 1e-12
_CLOSE = 1e-9


def sign_flip_test(differences: Sequence[float]) -> float | None:
    """The mid-p of the sum of `differences` (one a case or cluster) under random signs.

    P(|T*| > |T|) + ½ P(|T*| = |T|): exact where the values lie on a lattice or are few; by inversion of the
    characteristic function up to 200 values; None beyond, where the t test serves. For ±1 this is McNemar's mid-p. A
    sum that did not move has p = 1. Neither the order of the values matters nor which side is the base, and less than
    1e-9 is rounding, not a difference.

    Source: Fagerland, Lydersen, Laake (2013), BMC Medical Research Methodology 13:91, extended to values; inversion:
    Feller (1971), An Introduction to Probability Theory and Its Applications, volume 2, chapter XIX.
    """
    values = [value for value in differences if abs(value) > _CLOSE]
    if abs(fsum(values)) <= _CLOSE:
        return 1.0
    steps = _lattice_steps(values)
    if steps is not None and (p := _exact_p(steps)) is not None:
        return p
    if len(values) <= ENUMERATED:
        return _enumerate_p(values)
    return _invert_characteristic(values) if len(values) <= INVERTED else None


def smallest_p(differences: Iterable[float]) -> float:
    """The smallest p that the test can give for this many values that are not zero: all of one sign."""
    return 2.0 ** -sum(1 for value in differences if abs(value) > _CLOSE)


def _lattice_steps(values: Sequence[float]) -> list[int] | None:
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


def _exact_p(steps: Sequence[int]) -> float | None:
    """By convolution: values of one size contribute a binomial number of plus signs."""
    groups = Counter(abs(step) for step in steps)
    if len(groups) == 1:
        return _binomial(sum(1 for step in steps if step > 0), len(steps))
    if _convolution_work(groups) > _WORK:
        return None
    chances = [1.0]
    for size, count in groups.items():
        chances = _convolve(chances, size, count)
    total, seen = sum(size * count for size, count in groups.items()), abs(sum(steps))
    # chances[k] belongs to the sum 2k − total
    beyond = fsum(chance for k, chance in enumerate(chances) if abs(2 * k - total) > seen)
    equal = fsum(chance for k, chance in enumerate(chances) if abs(2 * k - total) == seen)
    return min(1.0, beyond + equal / 2)


def _convolution_work(groups: Counter[int]) -> int:
    length, work = 1, 0
    for size, count in groups.items():
        length += size * count
        work += length * (count + 1)
    return work


def _convolve(chances: list[float], size: int, count: int) -> list[float]:
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


def _enumerate_p(values: Sequence[float]) -> float:
    sums, seen = _all_sums(values), abs(fsum(values))
    slack = _CLOSE * fsum(map(abs, values))
    beyond = sum(1 for total in sums if abs(total) > seen + slack)
    equal = sum(1 for total in sums if abs(abs(total) - seen) <= slack)
    return (beyond + equal / 2) / len(sums)


def _invert_characteristic(values: Sequence[float]) -> float:
    """By the Fourier series of what is asked, |T| > |T seen|, over a period P that is longer than any sum.

    p = 1 − t/P − Σ_k 2·sin(kπt/P) / (kπ) · Π_i cos(kπ·x_i/P), as the product is the characteristic function of the sum.
    It ends where as many terms as there are values came to nothing. Within 1e-4 of enumeration from 14 values on.
    """
    sizes, seen = sorted(map(abs, values), reverse=True), abs(fsum(values))
    period = _PERIOD * fsum(sizes)
    p, negligible = 1 - seen / period, 0
    for k in range(1, _WORK_OF_SERIES // len(sizes)):
        term = 2 * sin(k * pi * seen / period) / (k * pi) * _characteristic_function(sizes, k * pi / period)
        p -= term
        negligible = negligible + 1 if abs(term) < _NEGLIGIBLE else 0
        if negligible > len(sizes):
            break
    return min(1.0, max(p, 2.0 ** -len(sizes), _NEGLIGIBLE))


def _characteristic_function(sizes: Sequence[float], at: float) -> float:
    product = 1.0
    for size in sizes:
        product *= cos(at * size)
        if -_NEGLIGIBLE < product < _NEGLIGIBLE:
            break
    return product


def _all_sums(values: Sequence[float]) -> list[float]:
    """The sum under every choice of signs."""
    sums = [0.0]
    for value in values:
        sums = [total + sign for total in sums for sign in (value, -value)]
    return sums


Trials: TypeAlias = tuple[Sequence[float], Sequence[float]]
"""The values of a case in the run and in the base, at least one each."""

_DRAWN = 400
_FEWEST, _MOST = 1_999, 9_999
_TABLE = 256
_SEED = 20_260_105


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
    return _monte_carlo_p(mixed, seen) if len(mixed) <= _DRAWN else _approximate_p(mixed, seen)


def _range(case: Trials) -> float:
    new, old = case
    return max(*new, *old) - min(*new, *old)


def _difference(new: Sequence[float], old: Sequence[float]) -> float:
    return fsum(new) / len(new) - fsum(old) / len(old)


def _monte_carlo_p(cases: Sequence[Trials], seen: float) -> tuple[float, float]:
    """Each case has a table of 256 differences that are equally likely; a random byte chooses one."""
    source = random.Random(_SEED)
    draws = max(_FEWEST, min(_MOST, _WORK // len(cases)))
    parts = [map(_difference_table(case, source).__getitem__, source.randbytes(draws)) for case in cases]
    sums = list(map(sum, zip(*parts, strict=True)))
    below = sum(1 for total in sums if total < seen - _CLOSE)
    above = sum(1 for total in sums if total > seen + _CLOSE)
    equal = draws - below - above
    return (below + equal / 2 + 0.5) / (draws + 1), (above + equal / 2 + 0.5) / (draws + 1)


def _difference_table(case: Trials, source: random.Random) -> list[float]:
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


def _approximate_p(cases: Sequence[Trials], seen: float) -> tuple[float, float]:
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
