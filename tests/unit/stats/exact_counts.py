"""The number of outcomes with each sum, in whole numbers: exact where an enumeration would take too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction


def exact_mid_p(steps: Sequence[int]) -> float:
    """The two-sided mid-p of a sum of whole numbers under random signs."""
    total, seen = sum(map(abs, steps)), abs(sum(steps))
    beyond = equal = 0
    for plus, count in enumerate(count_subset_sums(steps)):
        distance = abs(2 * plus - total)
        beyond += count * (distance > seen)
        equal += count * (distance == seen)
    return float(Fraction(2 * beyond + equal, 2 ** (len(steps) + 1)))


def count_subset_sums(steps: Sequence[int]) -> Iterator[int]:
    """For each sum from 0 on, the subsets that have it: the coefficients of Π (1 + x^|step|), in one whole number."""
    width = len(steps) // 8 + 1
    product = 1
    for step in steps:
        product += product << 8 * width * abs(step)
    digits = product.to_bytes((sum(map(abs, steps)) + 1) * width, "little")
    return (int.from_bytes(digits[at : at + width], "little") for at in range(0, len(digits), width))
