"""Judges that answer with a number on a scale."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scoregate.core.scale import Scale
from scoregate.errors import MetricError
from scoregate.judging import rate
from scoregate.judging.answers import on_scale
from scoregate.metrics.bar import Bar, ThresholdOperator, bar_of, scale_of
from scoregate.metrics.grade import Grade
from scoregate.metrics.prompted import PromptJudge

if TYPE_CHECKING:
    from scoregate.models import Model


@dataclass(frozen=True, kw_only=True)
class ScaledJudge(PromptJudge, abc.ABC):
    """Grades by a number.

    Args:
        min_score, max_score: the scale, both included; both or neither, 0 to 1 if not given.
        threshold: the score to compare with, on that scale; the middle of it if not given.
        threshold_operator: how: `=`, `<`, `>`, `<=`, `>=` or `!=`.
    """

    min_score: float | None = None
    max_score: float | None = None
    threshold: float | None = None
    threshold_operator: ThresholdOperator | str = ThresholdOperator.GREATER_THAN_OR_EQUAL

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            scale = scale_of(self.min_score, self.max_score)
            threshold = self._middle(scale) if self.threshold is None else self.threshold
            bar = bar_of(scale, threshold, self.threshold_operator)
        except (TypeError, ValueError) as error:
            raise MetricError(f"{self.name!r:.60}: {error}") from None
        self._set(min_score=scale.low, max_score=scale.high, threshold=bar.threshold, threshold_operator=bar.operator)

    def _middle(self, scale: Scale) -> float:
        return scale.low + (scale.high - scale.low) / 2

    @property
    def bar(self) -> Bar:
        """The threshold in its scale."""
        low, high, threshold = (float(x or 0) for x in (self.min_score, self.max_score, self.threshold))
        return Bar(Scale(low, high), threshold, ThresholdOperator(self.threshold_operator))

    @property
    def higher_is_better(self) -> bool:
        """As `Metric.higher_is_better`."""
        return self.bar.operator.upwards

    def parameters(self) -> Mapping[str, Any]:
        """As `Metric.parameters`."""
        names = ("min_score", "max_score", "threshold", "threshold_operator")
        return {name: getattr(self, name) for name in names}

    def answers(self) -> str:
        """As `Judge.answers`."""
        return on_scale(self.bar.scale.low, self.bar.scale.high)

    async def asked(self, model: Model, prompt: str, turns: int) -> Grade:
        """As `Judge.asked`."""
        bar = self.bar
        told = await rate(model, prompt, low=bar.scale.low, high=bar.scale.high, turns=turns)
        score, threshold = bar.score(told.value)
        more = {"scale": [bar.scale.low, bar.scale.high], "passes_at": f"{bar.operator} {bar.threshold:g}"}
        named = {"relevant_turns": list(told.turns)} if turns else {}
        return Grade(told.value, told.reason, score, threshold, prompt, {**more, **named})
