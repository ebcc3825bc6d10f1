"""Thresholds in a metric's own scale, by any operator."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import inf, nextafter

from scoregate.core.evaluation import Threshold, checked_number
from scoregate.core.scale import Scale
from scoregate.metrics.grade import MET


class ThresholdOperator(StrEnum):
    """How a score is held against its threshold."""

    EQUAL = "="
    LESS_THAN = "<"
    GREATER_THAN = ">"
    LESS_THAN_OR_EQUAL = "<="
    GREATER_THAN_OR_EQUAL = ">="
    NOT_EQUAL = "!="

    @property
    def upwards(self) -> bool:
        """Whether more is better; a number that is to be met exactly, or missed, has no direction: then passing is."""
        return self not in (ThresholdOperator.LESS_THAN, ThresholdOperator.LESS_THAN_OR_EQUAL)


_HOLDS: dict[ThresholdOperator, Callable[[float, float], bool]] = {
    ThresholdOperator.EQUAL: operator.eq,
    ThresholdOperator.LESS_THAN: operator.lt,
    ThresholdOperator.GREATER_THAN: operator.gt,
    ThresholdOperator.LESS_THAN_OR_EQUAL: operator.le,
    ThresholdOperator.GREATER_THAN_OR_EQUAL: operator.ge,
    ThresholdOperator.NOT_EQUAL: operator.ne,
}
_BOUNDS = {
    ThresholdOperator.LESS_THAN: "lt",
    ThresholdOperator.GREATER_THAN: "gt",
    ThresholdOperator.LESS_THAN_OR_EQUAL: "lte",
    ThresholdOperator.GREATER_THAN_OR_EQUAL: "gte",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A threshold in a scale: what a value there is worth, and whether it passes."""

    scale: Scale
    threshold: float
    operator: ThresholdOperator

    def passes(self, value: float) -> bool:
        """In the scale itself."""
        return _HOLDS[self.operator](value, self.threshold)

    def score(self, value: float) -> tuple[float, Threshold]:
        """A value as a part of the scale and where parts pass; by `=` and `!=`, whether it passes, as 1 or 0."""
        if (name := _BOUNDS.get(self.operator)) is None:
            return float(self.passes(value)), MET
        part, bound = self.scale.part(value), self.scale.part(self.threshold)
        threshold = Threshold(**{name: bound})
        if threshold.holds(part) is self.passes(value):
            return part, threshold
        # Two values so near to each other that they are the same part.
        return part, Threshold(**{name: nextafter(bound, inf if value < self.threshold else -inf)})


def scale_of(low: float | None, high: float | None) -> Scale:
    """The scale with these ends, 0 to 1 if there are none.

    Raises:
        TypeError: an end is no number. ValueError: there is one only, or they make no scale.
    """
    if (low is None) != (high is None):
        raise ValueError("min_score and max_score are given both or not at all")
    if low is None or high is None:
        return Scale()
    return Scale(checked_number(low, "min_score"), checked_number(high, "max_score"))


def bar_of(scale: Scale, threshold: float, by: ThresholdOperator | str) -> Bar:
    """The threshold in this scale.

    Raises:
        TypeError: it is no number. ValueError: it is not on the scale, or there is no such operator.
    """
    number = checked_number(threshold, "threshold")
    if not scale.low <= number <= scale.high:
        raise ValueError(f"threshold must lie from {scale.low:g} to {scale.high:g}, not at {number:g}")
    return Bar(scale, number, ThresholdOperator(by))
