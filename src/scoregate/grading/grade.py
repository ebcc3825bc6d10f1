"""A grade: what a grader gives one subject, with the threshold where it passes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, nextafter
from typing import Any, TypeAlias

from scoregate.kernel.types.evaluation import Assertion, Evaluation, Label, Scale, Threshold, require_number

PASS_AT_ONE = Threshold(gte=1)
Value: TypeAlias = float | str | None


@dataclass(frozen=True, slots=True)
class Grade:
    """What a grader gives one subject.

    Attributes:
        value: a number of the grader's own scale, or a category.
        reason: why.
        score: the value in [0, 1]; None if the value has none.
        threshold: where such a score passes; None if pass and fail are undefined.
        prompt: the question to a model.
        details: what the record keeps besides.
        assertions: the criteria that were checked one by one.
        source: which grader this is, as the record shows it first.
        has_label: whether a value without a score is recorded as a label.
    """

    value: Value
    reason: str = ""
    score: float | None = None
    threshold: Threshold | None = None
    prompt: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    assertions: Sequence[Assertion] | None = None
    source: Mapping[str, Any] = field(default_factory=dict)
    has_label: bool = False

    @property
    def passed(self) -> bool | None:
        """Whether it passes; None if that is undefined."""
        return None if self.threshold is None or self.score is None else self.threshold.holds(self.score)

    def metadata(self) -> dict[str, Any]:
        """What the record keeps besides the score."""
        prompt = {"prompt": self.prompt} if self.prompt else {}
        return {**self.source, "value": self.value, "reason": self.reason, **self.details, **prompt}

    def evaluation(self) -> Evaluation | Label | None:
        """The same for the engine; None if there is nothing to record."""
        if self.score is not None:
            return Evaluation(self.score, self.threshold, self.metadata(), self.assertions)
        return Label(str(self.value), metadata=self.metadata()) if self.has_label else None


def pass_fail_grade(
    value: Value, *, passed: bool, reason: str = "", prompt: str = "", details: Mapping[str, Any] | None = None
) -> Grade:
    """A grade that is a pass (1) or a fail (0) and nothing between."""
    return Grade(value, reason, float(passed), PASS_AT_ONE, prompt, details or {})


class ThresholdOperator(StrEnum):
    """How a score is compared with its threshold."""

    EQUAL = "="
    LESS_THAN = "<"
    GREATER_THAN = ">"
    LESS_THAN_OR_EQUAL = "<="
    GREATER_THAN_OR_EQUAL = ">="
    NOT_EQUAL = "!="

    @property
    def upwards(self) -> bool:
        """Whether more is better. With `=` and `!=` the score is whether it passes, so more is better too."""
        return self not in (ThresholdOperator.LESS_THAN, ThresholdOperator.LESS_THAN_OR_EQUAL)


_COMPARISONS: dict[ThresholdOperator, Callable[[float, float], bool]] = {
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
class ScoreThreshold:
    """A threshold in a scale of its own. Fingerprints contain the names of the fields."""

    scale: Scale
    threshold: float
    operator: ThresholdOperator

    def passes(self, value: float) -> bool:
        """Whether a value of the scale passes."""
        return _COMPARISONS[self.operator](value, self.threshold)

    def score(self, value: float) -> tuple[float, Threshold]:
        """A value as a score in [0, 1] and the threshold for it; with `=` and `!=` the score is 1 or 0."""
        if (name := _BOUNDS.get(self.operator)) is None:
            return float(self.passes(value)), PASS_AT_ONE
        part, bound = self.scale.part(value), self.scale.part(self.threshold)
        threshold = Threshold(**{name: bound})
        if threshold.holds(part) is self.passes(value):
            return part, threshold
        # The value and the threshold are so close that both have the same score.
        return part, Threshold(**{name: nextafter(bound, inf if value < self.threshold else -inf)})


def make_scale(low: float | None, high: float | None) -> Scale:
    """The scale with these ends; 0 to 1 without any.

    Raises:
        TypeError: an end is not a number.
        ValueError: only one end is given, or they make no scale.
    """
    if (low is None) != (high is None):
        raise ValueError("min_score and max_score are given both or not at all")
    if low is None or high is None:
        return Scale()
    return Scale(require_number(low, "min_score"), require_number(high, "max_score"))


def make_threshold(scale: Scale, threshold: float, by: ThresholdOperator | str) -> ScoreThreshold:
    """A threshold in this scale.

    Raises:
        TypeError: it is not a number.
        ValueError: it is not on the scale, or there is no such operator.
    """
    number = require_number(threshold, "threshold")
    if not scale.low <= number <= scale.high:
        raise ValueError(f"threshold must lie from {scale.low:g} to {scale.high:g}, not at {number:g}")
    return ScoreThreshold(scale, number, ThresholdOperator(by))
