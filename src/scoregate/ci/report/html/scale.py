"""From values to places in a drawing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, log10

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight line from [`low`, `high`] to [`start`, `end`], in units of a drawing; what is outside is moved in."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def holds(self, value: float) -> bool:
        """Whether the value lies inside."""
        return self.low <= value <= self.high


def reach(values: Iterable[float]) -> float:
    """The smallest round number that none of `values`, which lie in [-1, 1], exceeds on either side of 0."""
    largest = max((abs(value) for value in values), default=0.0)
    return next((step for step in _STEPS if largest <= step), 1.0)


def decades(low: float, high: float) -> tuple[float, ...]:
    """1, 10, 100, … as far as they lie between two positive numbers; where these are near, 1, 2, 5, 10, … too."""
    parts = (1, 2, 5) if high < 50 * low else (1,)
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    return tuple(at for power in powers for part in parts if low <= (at := part * 10.0**power) <= high)
