"""Significance tests of paired differences: sign flips, within-case permutations, Benjamini-Hochberg."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, cos, erfc, exp, fsum, lcm, pi, sin, sqrt
from typing import TypeAlias

from scoregate.kernel.compare.statistics.distributions import binomial_half_cdf, binomial_half_pmf

MAX_ENUMERATED = 14
MAX_HALVED = 26
MAX_INVERTED = 200
# Five values with the same sign have an exact one-sided p of 3.1 %, which is above half of the level.
FEWEST_CLUSTERS = 6
_MAX_DENOMINATOR = 1_000
_MOST_VALUES = 128
_WORK = 1_000_000
_WORK_OF_SERIES = 100_000
_WORK_OF_DEALS = 200_000
_PERIOD = 1.0625
_NEGLIGIBLE = 1e-12
_CLOSE = 1e-9


def sign_flip_test(differences: Sequence[float]) -> float | None:
    """Two-sided mid-p sign-flip test of a sum of paired differences.

    The mid-p is P(|T*| > |T|) + ½ P(|T*| = |T|), where T is the sum and T* is the sum under random signs. It is exact
    for values on a lattice or of one size, and for up to 26 values. Up to 200 values it comes from the inversion of the
    characteristic function. For differences of ±1 it is McNemar's mid-p. The order of the values and the direction of
    the comparison don't change it.

    Args:
        differences: one value per case or cluster; values below 1e-9 count as zero.

    Returns:
        The p-value, 1 for a sum of zero; None above 200 other values, where the t test is used.

    Source: Fagerland, Lydersen, Laake (2013), BMC Medical Research Methodology 13:91, extended to values. Inversion:
    Feller (1971), An Introduction to Probability Theory and Its Applications, volume 2, chapter XIX.
    """
    values = [value for value in differences if abs(value) > _CLOSE]
    if abs(fsum(values)) <= _CLOSE:
        return 1.0
    steps = _lattice_steps(values)
    if steps is not None and (p := _convolution_p(steps)) is not None:
        return p
    if len(values) <= MAX_HALVED:
        return _enumeration_p(values)
    if max(map(abs, values)) - min(map(abs, values)) < _CLOSE:  # logarithms of one ratio, which no unit divides
        return _convolution_p([1 if value > 0 else -1 for value in values])
    return _inversion_p(values) if len(values) <= MAX_INVERTED else None


def exact_sign_flip_p(differences: Iterable[float]) -> tuple[float, float] | None:
    """The exact one-sided p of a sum as low or lower under random signs, and of a sum as high or higher.

    The mid-p of `sign_flip_test` counts half of the outcomes that are equal. With few values this is more than the
    level allows: five of five values fall by chance in 3.1 % of all runs, and the one-sided mid-p is 1.6 %.

    Args:
        differences: one value per case or cluster; values below 1e-9 count as zero.

    Returns:
        Both p; None above 14 values that are not zero.
    """
    values = [value for value in differences if abs(value) > _CLOSE]
    if len(values) > MAX_ENUMERATED:
        return None
    sums, observed, tolerance = _enumerate_sums(values), fsum(values), _CLOSE * fsum(map(abs, values))
    lower = sum(1 for total in sums if total <= observed + tolerance)
    upper = sum(1 for total in sums if total >= observed - tolerance)
    return lower / len(sums), upper / len(sums)


def _enumeration_p(values: Sequence[float]) -> float:
    """The exact mid-p, from the sums of two halves of the values: 2 · 2^13 sums instead of 2^26.

    Signs are symmetric, so sums of at least |T| are half of the outcomes that count.

    Source: Horowitz, Sahni (1974), Journal of the ACM 21:277, for sums of subsets.
    """
    sizes, observed = sorted(map(abs, values)), abs(fsum(values))
    tolerance = _CLOSE * fsum(sizes)
    left, right = _enumerate_sums(sizes[::2]), sorted(_enumerate_sums(sizes[1::2]))
    above = sum(len(right) - bisect_right(right, observed + tolerance - each) for each in left)
    not_below = sum(len(right) - bisect_left(right, observed - tolerance - each) for each in left)
    return (above + not_below) / 2.0 ** len(sizes)


def _enumerate_sums(values: Iterable[float]) -> list[float]:
    """The sum of the values under every choice of signs."""
    sums = [0.0]
    for value in values:
        sums = [total + sign for total in sums for sign in (value, -value)]
    return sums


def count_changed(differences: Iterable[float]) -> int:
    """The number of values that a sign can change; values below 1e-9 count as zero."""
    return sum(map(_CLOSE.__lt__, map(abs, differences)))


def smallest_p(differences: Iterable[float]) -> float:
    """The smallest two-sided mid-p of `sign_flip_test` for this number of nonzero values: all have the same sign."""
    return 2.0 ** -count_changed(differences)


def _lattice_steps(values: Sequence[float]) -> list[int] | None:
    """The values as integer multiples of a common unit; None without a unit, or with one that is too small."""
    different, distinct = set(values), set[float]()
    for value in different:
        distinct.add(round(abs(value), 12))
        if len(distinct) > _MOST_VALUES:
            return None
    fractions = [Fraction(value).limit_denominator(_MAX_DENOMINATOR) for value in distinct]
    unit = lcm(*(fraction.denominator for fraction in fractions))
    if unit > _MAX_DENOMINATOR * 10:
        return None
    steps = {value: round(value * unit) for value in different}
    is_lattice = all(abs(value * unit - step) < _CLOSE * unit for value, step in steps.items())
    return list(map(steps.__getitem__, values)) if is_lattice else None


def _convolution_p(steps: Sequence[int]) -> float | None:
    """The exact mid-p by convolution: the number of plus signs among values of one size is binomial.

    None if the convolution takes too long.
    """
    groups = Counter(abs(step) for step in steps)
    if len(groups) == 1:
        n, plus = len(steps), sum(1 for step in steps if step > 0)
        fewer = min(plus, n - plus)
        return min(1.0, 2 * binomial_half_cdf(fewer, n) - binomial_half_pmf(fewer, n))  # rounding may exceed 1
    length, work = 1, 0
    for size, count in groups.items():
        length += size * count
        work += length * (count + 1)
    if work > _WORK:
        return None
    chances = [1.0]
    for size, count in groups.items():
        chances = _convolve(chances, size, count)
    total, observed = sum(size * count for size, count in groups.items()), abs(sum(steps))
    # chances[k] is the probability of the sum 2k − total
    beyond = fsum(chance for k, chance in enumerate(chances) if abs(2 * k - total) > observed)
    equal = fsum(chance for k, chance in enumerate(chances) if abs(2 * k - total) == observed)
    return min(1.0, beyond + equal / 2)


def _convolve(chances: list[float], size: int, count: int) -> list[float]:
    """The distribution after adding `count` values of one size with random signs."""
    longer = [0.0] * (len(chances) + size * count)
    for plus in range(count + 1):
        weight, shift = binomial_half_pmf(plus, count), plus * size
        if weight > 1e-18:
            longer[shift : shift + len(chances)] = [
                old + weight * new for old, new in zip(longer[shift:], chances, strict=False)
            ]
    return longer


def _inversion_p(values: Sequence[float]) -> float:
    """The p from the Fourier series of P(|T*| > |T|), over a period P that is longer than any sum.

    p = 1 − t/P − Σ_k 2·sin(kπt/P) / (kπ) · Π_i cos(kπ·x_i/P), with t = |T|. The product is the characteristic function
    of the sum. The series ends after as many negligible terms in a row as there are values. The result is within 1e-4
    of enumeration from 14 values on. From 27 values on, which is where it is used, it is closer.
    """
    sizes, observed = sorted(map(abs, values), reverse=True), abs(fsum(values))
    period = _PERIOD * fsum(sizes)
    p, negligible = 1 - observed / period, 0
    for k in range(1, _WORK_OF_SERIES // len(sizes)):
        product = 1.0
        for size in sizes:
            product *= cos(k * pi / period * size)
            if -_NEGLIGIBLE < product < _NEGLIGIBLE:
                break
        term = 2 * sin(k * pi * observed / period) / (k * pi) * product
        p -= term
        negligible = negligible + 1 if abs(term) < _NEGLIGIBLE else 0
        if negligible > len(sizes):
            break
    # The mid-p of the most extreme outcome is the smallest that is possible.
    return min(1.0, max(p, 2.0 ** -len(sizes), _NEGLIGIBLE))


Trials: TypeAlias = tuple[Sequence[float], Sequence[float]]
"""The values of a case in the run and in the baseline, at least one each."""

_MAX_MONTE_CARLO_CASES = 400
_FEWEST, _MOST = 1_999, 9_999
_TABLE = 256
_SEED = 20_260_105


def within_case_test(cases: Sequence[Trials]) -> tuple[float, float]:
    """Test of the sum of differences of case means, by permuting the trials of each case.

    If nothing changed in any case, the trials of a case can be exchanged between run and baseline, also if one side has
    more of them. This keeps the error rate for unequal numbers of trials, where differences are skewed and random signs
    would not keep it. Up to 400 cases with different values the test draws permutations with a fixed seed. Above, it
    uses the normal distribution with the exact variance and skewness (first term of Edgeworth's expansion).

    Args:
        cases: the trials of each case.

    Returns:
        The one-sided mid-p of a sum as low or lower, and of a sum as high or higher; both are 0.5 if no case has
        different values.

    Source: permutation of trials within blocks: Good (2005), Permutation, Parametric and Bootstrap Tests, chapter 3.
    Moments of a sample without replacement: Sukhatme and Sukhatme (1970), Sampling Theory, chapter 1.
    """
    mixed = [(new, old) for new, old in cases if max(*new, *old) - min(*new, *old) > _CLOSE]
    if not mixed:
        return 0.5, 0.5
    observed = fsum(fsum(new) / len(new) - fsum(old) / len(old) for new, old in mixed)
    return _monte_carlo_p(mixed, observed) if len(mixed) <= _MAX_MONTE_CARLO_CASES else _edgeworth_p(mixed, observed)


def within_cluster_test(blocks: Sequence[Trials]) -> tuple[float, float]:
    """`within_case_test` for the slots of clusters: all cases of a cluster are permuted together.

    The p is exact if the sums have few values: with few clusters, or with scores on a lattice such as pass and fail.

    Args:
        blocks: the sums of slots, see `trial_blocks.sum_blocks`.

    Returns:
        See `within_case_test`.
    """
    mixed = [(new, old) for new, old in blocks if max(*new, *old) - min(*new, *old) > _CLOSE]
    exact = _exact_within_p(mixed) if mixed else None
    return within_case_test(blocks) if exact is None else exact


def _exact_within_p(blocks: Sequence[Trials]) -> tuple[float, float] | None:
    """The exact mid-p, from the number of permutations with each sum; None if there are too many sums.

    The difference of means grows by v·(1/a + 1/b) with each value v that one of a values of the run has. So the sum of
    these steps over the run's values orders permutations as the difference does.
    """
    steps: Sequence[float] = [value * (1 / len(new) + 1 / len(old)) for new, old in blocks for value in (*new, *old)]
    steps = _lattice_steps(steps) or steps
    sums, observed, start, work = {0.0: 1}, 0.0, 0, 0
    for new, old in blocks:
        values = steps[start : start + len(new) + len(old)]
        start, observed = start + len(values), observed + fsum(values[: len(new)])
        deals = _count_deals(values, len(new))
        work += len(sums) * len(deals or ())
        if deals is None or work > _WORK_OF_DEALS:
            return None
        longer: dict[float, int] = {}
        for total, count in sums.items():
            for value, ways in deals.items():
                longer[total + value] = longer.get(total + value, 0) + count * ways
        sums = longer
    tolerance = _CLOSE * fsum(map(abs, steps))
    below = sum(count for total, count in sums.items() if total < observed - tolerance)
    above = sum(count for total, count in sums.items() if total > observed + tolerance)
    equal, ways = sum(sums.values()) - below - above, sum(sums.values())
    return (2 * below + equal) / (2 * ways), (2 * above + equal) / (2 * ways)


def _count_deals(values: Sequence[float], size: int) -> dict[float, int] | None:
    """The number of choices of `size` values with each sum; None if there are too many sums."""
    by_size: list[dict[float, int]] = [{0.0: 1}, *({} for _ in range(size))]
    work = 0
    for value in values:
        for chosen in range(size, 0, -1):
            longer = by_size[chosen]
            for total, count in by_size[chosen - 1].items():
                longer[total + value] = longer.get(total + value, 0) + count
        work += sum(map(len, by_size))
        if work > _WORK_OF_DEALS:
            return None
    return by_size[size]


def sort_trials(cases: Iterable[Trials]) -> list[tuple[list[float], list[float]]]:
    """The cases in the order of their values, each with its trials in order.

    Cases and trials finish in any order. A test that draws random numbers would otherwise give another p for the same
    values.
    """
    return sorted((sorted(new), sorted(old)) for new, old in cases)


def _monte_carlo_p(cases: Sequence[Trials], observed: float) -> tuple[float, float]:
    """Each case has a table of 256 equally likely differences; a random byte selects one.

    Neither the order of the cases nor the direction of the comparison changes the p.
    """
    ordered, reverse = sort_trials(cases), sort_trials((old, new) for new, old in cases)
    if reverse < ordered:
        lower, upper = _draw_p(reverse, -observed)
        return upper, lower
    return _draw_p(ordered, observed)


def _draw_p(cases: Sequence[Trials], observed: float) -> tuple[float, float]:
    source = random.Random(_SEED)
    draws = max(_FEWEST, min(_MOST, _WORK // len(cases)))
    parts = [map(_difference_table(case, source).__getitem__, source.randbytes(draws)) for case in cases]
    sums = list(map(sum, zip(*parts, strict=True)))
    below = sum(1 for total in sums if total < observed - _CLOSE)
    above = sum(1 for total in sums if total > observed + _CLOSE)
    equal = draws - below - above
    # The observed outcome counts as one of those that are drawn.
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
    differences = [fsum(sample) / size - (total - fsum(sample)) / len(old) for sample in samples]
    # if 256 is no multiple of the number of ways, random ones get one more entry
    return differences * (_TABLE // len(differences)) + source.sample(differences, _TABLE % len(differences))


def _edgeworth_p(cases: Sequence[Trials], observed: float) -> tuple[float, float]:
    """From the second and third moment of each case's difference of means over all permutations of its trials."""
    variances, thirds = list[float](), list[float]()
    for new, old in cases:
        values, a, b = [*new, *old], len(new), len(old)
        count, mean = a + b, fsum((*new, *old)) / (a + b)
        second = fsum((value - mean) ** 2 for value in values) / (count - 1)
        third = fsum((value - mean) ** 3 for value in values) / count
        skew = (count - a) * (count - 2 * a) / (a * a * (count - 1) * (count - 2)) * third if count > 2 else 0.0
        variances.append(second * (1 / a + 1 / b))
        thirds.append((count / b) ** 3 * skew)
    variance = fsum(variances)
    z, skewness = observed / sqrt(variance), fsum(thirds) / variance**1.5
    above = erfc(z / sqrt(2)) / 2 + skewness / 6 * (z * z - 1) * exp(-z * z / 2) / sqrt(2 * pi)
    above = min(1.0, max(0.0, above))
    return 1 - above, above


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Correct p-values for the number of tests.

    Args:
        ps: p-values in any order.

    Returns:
        The corrected p of each p, in the same order: the smallest false discovery rate at which it is significant.

    Source: Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57:289.
    """
    count, lowest = len(ps), 1.0
    corrected = [1.0] * count
    ascending = sorted(range(count), key=ps.__getitem__)
    for rank, index in reversed(list(enumerate(ascending, start=1))):
        lowest = min(lowest, ps[index] * count / rank)
        corrected[index] = lowest
    return corrected


def correct_by_direction(worse: Sequence[float], better: Sequence[float]) -> list[float]:
    """Correct two-sided p-values for the number of tests, each direction as its own family at half the level.

    In one two-sided family, rows that improve would make it easier to call another row worse.

    Args:
        worse: the one-sided p of each row for getting worse.
        better: the one-sided p of each row for getting better, in the same order.

    Returns:
        Twice the smaller corrected one-sided p of each row, at most 1.
    """
    corrected = zip(benjamini_hochberg(worse), benjamini_hochberg(better), strict=True)
    return [min(1.0, 2 * min(p_worse, p_better)) for p_worse, p_better in corrected]
