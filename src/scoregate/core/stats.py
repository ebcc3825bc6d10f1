"""Tests on paired differences, on the standard library alone."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def sign_test(better: int, worse: int) -> float:
    """Two-sided mid-p of the sign test; for binary scores this is McNemar's mid-p.

    Args:
        better: pairs whose score rose. worse: pairs whose score fell. Ties are left out.

    Source: Fagerland, Lydersen, Laake (2013), BMC Medical Research Methodology 13:91.
    """
    n, k = better + worse, min(better, worse)
    if n == 0:
        return 1.0
    below = sum(comb(n, i) for i in range(k)) if k else 0
    return float(min(Fraction(1), Fraction(2 * below + comb(n, k), 2**n)))
