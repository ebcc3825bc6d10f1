"""What a metric says of one subject, as itself, as users get it, and as the engine takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from scoregate.core.evaluation import Assertion, Evaluation, Threshold

MET = Threshold(gte=1)
Value: TypeAlias = float | str | None


@dataclass(frozen=True, slots=True)
class MetricResult:
    """What `evaluate` returns.

    `score` is a number in the metric's own scale or a category; None where there is an error. `details` say how it came
    about: `score`, `score_type`, `name`, `prompt`, `reason`, `is_successful`, the metric's own parameters, and after a
    failure `error`, `exception_type` and `exception_details`.
    """

    score: Value
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Grade:
    """What a metric found.

    `value` is its own: a number of its scale or a category. `score` is that in [0, 1], None where it stands for no
    number; `threshold` is where such a score passes. `prompt` is what a model was asked; `more` is what else is told.
    """

    value: Value
    reason: str = ""
    score: float | None = None
    threshold: Threshold | None = None
    prompt: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    assertions: Sequence[Assertion] | None = None

    @property
    def passed(self) -> bool | None:
        """Whether it passes; None where nothing says when it does."""
        return None if self.threshold is None or self.score is None else self.threshold.holds(self.score)

    def criteria(self) -> Mapping[str, Any]:
        """What was checked one by one, as a result's details have it."""
        if self.assertions is None:
            return {}
        told = [{"criterion": each.criterion, "met": each.passed, **(each.metadata or {})} for each in self.assertions]
        return {"criteria_evaluations": told, "all_criteria_met": all(each.passed for each in self.assertions)}

    def evaluation(self) -> Evaluation | None:
        """As the engine has it, its own value in the metadata; None for a label without a score."""
        if self.score is None:
            return None
        asked = {"prompt": self.prompt} if self.prompt else {}
        metadata = {"value": self.value, "reason": self.reason, **self.more, **asked}
        return Evaluation(self.score, self.threshold, metadata, self.assertions)


def verdict(
    value: Value, *, passed: bool, reason: str = "", prompt: str = "", more: Mapping[str, Any] | None = None
) -> Grade:
    """A grade that is a pass or a fail and nothing between: 1 or 0."""
    return Grade(value, reason, float(passed), MET, prompt, more or {})
