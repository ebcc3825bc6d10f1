"""Numbers in what others say: each is one, or nothing."""

from __future__ import annotations

from math import isfinite


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
