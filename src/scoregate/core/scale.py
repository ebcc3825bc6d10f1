"""Numbers of anybody's range as parts of it: what is compared lies in [0, 1], what is shown is its own value."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from scoregate.core.evaluation import Threshold


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of numbers, both ends included.

    Raises:
        ValueError: `high` is not greater than `low`, or the width is not finite.
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low < self.high or not isfinite(self.high - self.low):
            raise ValueError(f"a scale goes from a number up to a greater one, not from {self.low!r} to {self.high!r}")

    def part(self, value: float) -> float:
        """Where a value lies: 0 at the low end, 1 at the high end, beyond these outside."""
        return (value - self.low) / (self.high - self.low)

    def threshold(self, own: Threshold) -> Threshold:
        """What holds for parts where `own` holds for values."""
        bounds = {name: getattr(own, name) for name in Threshold.__slots__}
        return Threshold(**{name: self.part(bound) for name, bound in bounds.items() if bound is not None})
