"""Numbers compared with limits. Every rule compares with these functions, so that no rule can be wrong by a last digit.

0.85 − 0.9 is a drop of more than 0.05 in floats, and 0.29 · 100 is less than 29.
"""

from __future__ import annotations

_DIGITS = 12


def round_off(value: float) -> float:
    """A number without the last digits, in which sums of floats differ: to twelve decimals and twelve digits."""
    return float(f"{round(value, _DIGITS):.{_DIGITS}g}")


def exceeds(value: float, limit: float) -> bool:
    """Whether a value is above a limit."""
    return round_off(value) > round_off(limit)


def reaches(value: float, limit: float) -> bool:
    """Whether a value is a limit or above it."""
    return round_off(value) >= round_off(limit)


def exceeds_share(number: float, total: float, share: float) -> bool:
    """Whether a number is more than a share of a total; False without a total.

    Args:
        number: a part of the total.
        total: at least 0.
        share: the largest share that is allowed, in [0, 1].
    """
    return bool(total) and exceeds(number / total, share)
