"""Numbers in what others say: which are such, and what they come to."""

from __future__ import annotations

from math import isfinite
from typing import TypeGuard


def number(said: object) -> float | None:
    """A number, NaN and infinities among them; None where it is none. A bool is none."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    try:
        return float(said)
    except OverflowError:
        return None


def amount(said: object) -> float | None:
    """A finite number that is not negative, such as a duration or a price; None where it is none."""
    found = number(said)
    return found if found is not None and isfinite(found) and found >= 0 else None


def is_whole(said: object, least: int) -> TypeGuard[int]:
    """Whether it is a whole number of at least `least`. A bool is none."""
    return isinstance(said, int) and not isinstance(said, bool) and said >= least


def is_positive(said: object) -> TypeGuard[float]:
    """Whether it is a number over 0, infinity among them. A bool is none."""
    return isinstance(said, int | float) and not isinstance(said, bool) and said > 0
