"""How scores are read: scales, thresholds and ignored evaluators, from the settings or from the suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from scoregate.core.evaluation import Scale, Threshold
from scoregate.core.event_values import NO_SCALE, ErrorInfo, EvaluatorInfo
from scoregate.core.events import CaseFinished, Errored, Event, Labelled, ReviewRequested, Scored, SuiteStarted
from scoregate.core.policy import Criteria, EvaluatorCriteria

_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class ScoreRules:
    """Applies the settings of evaluators to the events of suites. A setting wins over what a suite states.

    Args:
        criteria: the settings of evaluators, by glob.
    """

    criteria: Criteria = field(default_factory=Criteria)
    _known: dict[str, EvaluatorCriteria] = field(default_factory=dict)

    def evaluator(self, name: str) -> EvaluatorCriteria:
        """The settings of one evaluator."""
        if (known := self._known.get(name)) is None:
            known = self.criteria.evaluator_criteria(name)
            if len(self._known) < _MOST_KNOWN:
                self._known[name] = known
        return known

    def describe_evaluator(self, info: EvaluatorInfo) -> EvaluatorInfo:
        """The evaluator with the scale of the settings."""
        scale = self.evaluator(info.id).scale
        return info if scale is None else replace(info, scale=scale)

    def without_ignored(self, event: Event) -> Event | None:
        """The event without evaluators that are ignored; None if nothing is left of it."""
        if not self.criteria.evaluators:
            return event
        match event:
            case SuiteStarted():
                return replace(event, evaluators=tuple(each for each in event.evaluators if not self._ignores(each.id)))
            case CaseFinished():
                return replace(event, unscored=tuple(name for name in event.unscored if not self._ignores(name)))
            case Scored() | Labelled() | Errored() | ReviewRequested():
                return None if event.evaluator is not None and self._ignores(event.evaluator) else event
        return event

    def _ignores(self, name: str) -> bool:
        return bool(self.evaluator(name).ignore)

    def read_score(self, event: Scored, declared: EvaluatorInfo | None) -> Scored | ErrorInfo:
        """The score and its threshold in [0, 1], or the error if the score is on no known scale.

        Args:
            event: the score as the suite reports it. Its metadata states a scale if it was mapped from there already.
            declared: the evaluator as the suite declares it.
        """
        rule, score = self.evaluator(event.evaluator), event.score
        own = declared.scale if declared is not None else None
        if isinstance(score, bool) or not isfinite(score) or (rule.keeps_scores and own is None and 0 <= score <= 1):
            return event if rule.threshold is None else replace(event, threshold=rule.threshold)
        stated = _read_stated_scale(event.metadata)
        if stated is not None:
            own = (stated.low, stated.high)
        chosen = rule.scale or own
        if chosen is None:
            if not 0 <= score <= 1:
                return _no_scale_error(score, judged=(rule.threshold or event.threshold) is not None)
            return event if rule.threshold is None else replace(event, threshold=rule.threshold)
        scale, old = Scale(*chosen), stated or Scale()
        value = score if stated is None else old.low + score * (old.high - old.low)
        if not 0 <= scale.part(value) <= 1:
            return _outside_error(value, scale)
        threshold = rule.threshold or _unmap_threshold(event.threshold, stated)
        metadata = event.metadata if isinstance(event.metadata, Mapping) else _as_mapping(event.metadata)
        return replace(
            event,
            score=scale.part(value),
            threshold=threshold and scale.threshold(threshold),
            metadata={"value": value, **metadata, "scale": [scale.low, scale.high]},
        )


def _read_stated_scale(metadata: object) -> Scale | None:
    """The scale in the metadata of a score that was mapped from it; None without one."""
    bounds = metadata.get("scale") if isinstance(metadata, Mapping) else None
    if not isinstance(bounds, list | tuple) or len(bounds) != 2 or "value" not in metadata:  # type: ignore[operator]
        return None
    numbers = [float(each) for each in bounds if isinstance(each, int | float) and not isinstance(each, bool)]
    is_valid = len(numbers) == 2 and numbers[0] < numbers[1] and isfinite(numbers[1] - numbers[0])
    return Scale(*numbers) if is_valid else None


def _as_mapping(metadata: object) -> dict[str, Any]:
    return {} if metadata is None else {"metadata": metadata}


def _unmap_threshold(threshold: Threshold | None, scale: Scale | None) -> Threshold | None:
    """The threshold on the scale that it was mapped from."""
    if scale is None or threshold is None:
        return threshold
    width = scale.high - scale.low
    bounds = {name: getattr(threshold, name) for name in Threshold.__slots__}
    return Threshold(**{name: scale.low + bound * width for name, bound in bounds.items() if bound is not None})


def _no_scale_error(score: float, *, judged: bool) -> ErrorInfo:
    """The error of a score without a scale; its case has the error only if a threshold would judge it."""
    advice = (
        "State its scale in the settings, as in [evaluators.NAME] scale = [0, 500], or leave it out: ignore = true."
    )
    message = f"its score {score:g} is outside [0, 1], and it has no scale"
    return ErrorInfo("OutOfRange" if judged else NO_SCALE, message, advice=advice)


def _outside_error(value: float, scale: Scale) -> ErrorInfo:
    message = f"its score {value:g} is outside its scale [{scale.low:g}, {scale.high:g}]"
    return ErrorInfo("OutOfRange", message, advice="Set a wider `scale` for it in the settings, in [evaluators].")
