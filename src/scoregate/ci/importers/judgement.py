"""Numbers and verdicts of other frameworks: on our scale, with the threshold that keeps their own pass or fail."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from scoregate.ci.importers.fields import table
from scoregate.ci.importers.trials import MET, Grade
from scoregate.core.evaluation import Threshold
from scoregate.core.figures import number
from scoregate.core.scale import Scale

Scales = Mapping[str, tuple[float, float]]


def scales_of(metadata: object) -> Scales:
    """The scales that a file states: `{"scales": {"NAME": [lowest, highest]}}` in its metadata."""
    found = {}
    for name, bounds in table(table(metadata).get("scales")).items():
        low, high = map(number, bounds) if isinstance(bounds, list) and len(bounds) == 2 else (None, None)
        if low is not None and high is not None and low < high and isfinite(high - low):
            found[name] = (low, high)
    return found


def scaled(grade: Grade, scales: Scales) -> Grade:
    """The grade in [0, 1], its own value and scale kept beside; as it is where no scale is stated for it."""
    bounds = scales.get(grade.evaluator)
    if bounds is None or grade.score is None:
        return grade
    metadata: dict[str, Any] = {"value": grade.score, "scale": [*bounds], **(grade.metadata or {})}
    scale = Scale(*bounds)
    threshold = grade.threshold and scale.threshold(grade.threshold)
    return Grade(grade.evaluator, scale.part(grade.score), threshold, metadata, grade.usage, grade.error)


def kept(score: float, passed: bool | None, limit: float | None) -> Threshold | None:
    """The threshold by which this score has the verdict that the framework gave it.

    Args:
        score: as the framework has it. passed: its verdict; None where it gave none.
        limit: the framework's own; with the verdict it tells the direction. Without one, only 0 and 1 have a threshold.
    """
    if passed is None:
        return None
    if limit is None or not isfinite(limit):
        return MET if passed is (score >= 1) else None
    if score == limit:
        return Threshold(gte=limit) if passed else Threshold(gt=limit)
    return Threshold(gte=limit) if passed is (score > limit) else Threshold(lte=limit)


def verdict(evaluator: str, passed: bool, metadata: Mapping[str, Any] | None = None) -> Grade:
    """A pass or fail that is nothing else."""
    return Grade(evaluator, float(passed), MET, metadata)
