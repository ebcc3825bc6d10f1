"""The settings of evaluators: how their scores are read and compared."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Self

from pydantic import AfterValidator, model_validator

from scoregate.kernel.types.declarations.fields import Number, Rate, Table
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.runs.policy import EvaluatorCriteria
from scoregate.kernel.types.runs.score_rules import describe_wrong_bound


class ThresholdSettings(Table):
    """The range in which a score passes; every bound that is set must hold."""

    lt: Number | None = None
    """The score is lower."""
    lte: Number | None = None
    """The score is lower or equal."""
    gt: Number | None = None
    """The score is higher."""
    gte: Number | None = None
    """The score is higher or equal."""

    @model_validator(mode="after")
    def _check_bound(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must have a bound, as in { gte = 0.5 }")
        return self


def _check_scale(scale: tuple[float, float]) -> tuple[float, float]:
    low, high = scale
    if not low < high or not isfinite(high - low):
        raise ValueError("must be the lowest and the highest score, as in [0, 500]")
    return scale


Bounds = Annotated[tuple[Number, Number], AfterValidator(_check_scale)]


class EvaluatorSettings(Table):
    """How the scores of some evaluators are read and compared; effects and margins are in [0, 1].

    `scale`, `threshold` and `ignore` are applied when a run is recorded, to imported results and to all suites. They
    win over what a suite or a file states.
    """

    scale: Bounds | None = None
    """The lowest and the highest score, such as `[0, 500]`, of an evaluator that counts or gives stars. Its scores are
    mapped from there to [0, 1]. A verdict, `true` or `false`, is on no scale.
    """
    threshold: ThresholdSettings | None = None
    """The range in which a score passes, on its own scale, such as `{ gte = 300 }`; instead of the suite's. That of a
    wildcard replaces no threshold of a verdict.
    """
    ignore: bool | None = None
    """`true` leaves out the evaluator. An evaluator of verdicts is left out only by its own name, not by a wildcard."""
    higher_is_better: bool | None = None
    """`false` if a lower score is better."""
    min_effect: Rate | None = None
    """The smallest change of the mean that can be *better* or *worse*."""
    margin: Rate | None = None
    """Changes that are certainly smaller than this are *equivalent*."""

    @model_validator(mode="after")
    def _check_threshold(self) -> Self:
        threshold = self.criteria().threshold
        if (
            threshold is not None
            and self.scale is not None
            and (problem := describe_wrong_bound(threshold, self.scale))
        ):
            raise ValueError(f"its threshold {problem}; bounds are on the scale of its scores")
        return self

    def criteria(self) -> EvaluatorCriteria:
        """The settings as criteria."""
        threshold = None if self.threshold is None else Threshold(**self.threshold.model_dump())
        return EvaluatorCriteria(**{**self.model_dump(), "threshold": threshold})
