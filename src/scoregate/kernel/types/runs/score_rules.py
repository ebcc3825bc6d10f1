"""How scores are read: scales, thresholds and ignored evaluators, from the settings or from the suite."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from math import isfinite
from typing import Any

from scoregate.kernel.types.evaluation import Scale, Threshold
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.events import CaseFinished, Errored, Event, Labelled, ReviewRequested, Scored, SuiteStarted
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.text import parse_number

_MOST_KNOWN = 10_000
# Scores that are outside [0, 1] by rounding only, such as 1.0000000000000002 as the mean of ones.
_ROUNDING = 1e-9
# The type of an error that may replace a failed verdict, so it must not count as one of few errors.
LOST_VERDICT = "LostVerdict"


@record
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
        """The evaluator with the scale of the settings; one that gives verdicts has none."""
        scale = self.evaluator(info.id).scale
        return info if scale is None or info.boolean else replace(info, scale=scale)

    def without_ignored(self, event: Event, verdicts: Container[str] = ()) -> Event | None:
        """The event without evaluators that are ignored; None if nothing is left of it.

        Args:
            event: the event.
            verdicts: the evaluators that give verdicts. Only a setting of their own name ignores them.
        """
        if not self.criteria.evaluators:
            return event
        match event:
            case SuiteStarted():
                return replace(
                    event,
                    evaluators=tuple(each for each in event.evaluators if not self._ignores(each.id, each.boolean)),
                )
            case CaseFinished():
                left = tuple(name for name in event.unscored if not self._ignores(name, name in verdicts))
                return replace(event, unscored=left)
            case Scored() | Labelled() | Errored() | ReviewRequested() if (name := event.evaluator) is not None:
                is_verdict = name in verdicts or (isinstance(event, Scored) and isinstance(event.score, bool))
                return None if self._ignores(name, is_verdict) else event
        return event

    def _ignores(self, name: str, is_verdict: bool) -> bool:
        return bool((self._find_exact_criteria(name) if is_verdict else self.evaluator(name)).ignore)

    def _find_exact_criteria(self, name: str) -> EvaluatorCriteria:
        """The settings of exactly this name, without those of wildcards."""
        return self.criteria.evaluators.get(name, _UNSET)

    def read_score(self, event: Scored, declared: EvaluatorInfo | None) -> Scored | ErrorInfo:
        """The score and its threshold in [0, 1], or the error if the score is on no known scale.

        Args:
            event: the score as the suite reports it. Its metadata states a scale if it was mapped from there already.
            declared: the evaluator as the suite declares it.
        """
        rule, score = self.evaluator(event.evaluator), event.score
        if isinstance(score, bool):
            return self._read_verdict(event)
        own = declared.scale if declared is not None else None
        if not isfinite(score) or (rule.keeps_scores and own is None and 0 <= score <= 1):
            return event if rule.threshold is None else replace(event, threshold=rule.threshold)
        stated = _read_stated_scale(event.metadata)
        if stated is not None:
            own = (stated.low, stated.high)
        chosen = rule.scale or own
        if chosen is None:
            threshold, rounded = rule.threshold or event.threshold, round_to_unit(score)
            return (
                _no_scale_error(score, threshold)
                if rounded is None
                else replace(event, score=rounded, threshold=threshold)
            )
        scale, old = Scale(*chosen), stated or Scale()
        value = score if stated is None else old.low + score * (old.high - old.low)
        threshold = rule.threshold or _unmap_threshold(event.threshold, stated)
        if rule.threshold is not None and (problem := describe_wrong_bound(rule.threshold, chosen)):
            return ErrorInfo(LOST_VERDICT, f"the threshold of {event.evaluator!r:.100} in [evaluators] {problem}")
        part = round_to_unit(scale.part(value))
        if part is None:
            return _outside_error(value, scale, threshold)
        metadata = event.metadata if isinstance(event.metadata, Mapping) else _as_mapping(event.metadata)
        return replace(
            event,
            score=part,
            threshold=threshold and scale.threshold(threshold),
            metadata={"value": value, **metadata, "scale": [scale.low, scale.high]},
        )

    def _read_verdict(self, event: Scored) -> Scored:
        """A verdict is on no scale. A wildcard's threshold is for those that have none of their own."""
        rule = self.evaluator(event.evaluator)
        if (own := self._find_exact_criteria(event.evaluator).threshold) is not None:
            return replace(event, threshold=own)
        if rule.threshold is None or event.threshold is not None:
            return event
        return replace(event, threshold=Scale(*rule.scale).threshold(rule.threshold) if rule.scale else rule.threshold)


_UNSET = EvaluatorCriteria()


def round_to_unit(score: float) -> float | None:
    """The score in [0, 1], to which rounding errors are rounded; None if it is outside."""
    return min(1.0, max(0.0, score)) if -_ROUNDING <= score <= 1 + _ROUNDING else None


def describe_wrong_bound(threshold: Threshold, scale: tuple[float, float]) -> str:
    """Why a threshold can't be meant for a scale: it has a bound outside, or every score passes; empty if it can."""
    low, high = scale
    bounds = {name: bound for name in Threshold.__slots__ if (bound := getattr(threshold, name)) is not None}
    outside = next((bound for bound in bounds.values() if not low <= bound <= high), None)
    if outside is not None:
        return f"has the bound {outside:g}, which is outside the scale [{low:g}, {high:g}]"
    always = bounds and all((name, bound) in (("gte", low), ("lte", high)) for name, bound in bounds.items())
    return f"({threshold}) holds for every score on the scale [{low:g}, {high:g}]" if always else ""


def _read_stated_scale(metadata: object) -> Scale | None:
    """The scale in the metadata of a score that was mapped from it; None without one."""
    bounds = metadata.get("scale") if isinstance(metadata, Mapping) else None
    if not isinstance(bounds, list | tuple) or len(bounds) != 2 or "value" not in metadata:  # type: ignore[operator]
        return None
    low, high = map(parse_number, bounds)
    is_valid = low is not None and high is not None and low < high and isfinite(high - low)
    return Scale(low, high) if is_valid else None  # type: ignore[arg-type]


def _as_mapping(metadata: object) -> dict[str, Any]:
    return {} if metadata is None else {"metadata": metadata}


def _unmap_threshold(threshold: Threshold | None, scale: Scale | None) -> Threshold | None:
    """The threshold on the scale that it was mapped from."""
    if scale is None or threshold is None:
        return threshold
    width = scale.high - scale.low
    bounds = {name: getattr(threshold, name) for name in Threshold.__slots__}
    return Threshold(**{name: scale.low + bound * width for name, bound in bounds.items() if bound is not None})


def _no_scale_error(score: float, threshold: Threshold | None) -> ErrorInfo:
    """The error of a score without a scale; its case has the error only if a threshold would judge it."""
    advice = (
        "State its scale in the settings, as in [evaluators.NAME] scale = [0, 500], or leave it out: ignore = true."
    )
    message = f"its score {score:g} is outside [0, 1], and it has no scale"
    return ErrorInfo(NO_SCALE if threshold is None else _error_type(score, threshold), message, advice=advice)


def _outside_error(value: float, scale: Scale, threshold: Threshold | None) -> ErrorInfo:
    message = f"its score {value:g} is outside its scale [{scale.low:g}, {scale.high:g}]"
    advice = "Set a wider `scale` for it in the settings, in [evaluators]."
    return ErrorInfo(_error_type(value, threshold), message, advice=advice)


def _error_type(value: float, threshold: Threshold | None) -> str:
    return LOST_VERDICT if threshold is not None and threshold.holds(value) is False else "OutOfRange"


def describe_unscaled(suite: SuiteResult, evaluator: str) -> str:
    """Why the scores of an evaluator are on no known scale; empty if they are."""
    count = len(suite.columns.unscaled.get(evaluator, ()))
    scores = "1 score is" if count == 1 else f"{count:,} scores are"
    return f"{scores} outside [0, 1]: set its `scale`, or `ignore`, in [evaluators]" if count else ""


def find_unscaled(suite: SuiteResult, baseline_suites: Sequence[SuiteResult], evaluator: str) -> str:
    """Why the scores of an evaluator are on no known scale, in the run or in the baseline; empty if they are."""
    reasons = (f"in the baseline, {why}" for each in baseline_suites if (why := describe_unscaled(each, evaluator)))
    return describe_unscaled(suite, evaluator) or next(reasons, "")


def without_rare_unscaled(run: Run, criteria_of: Callable[[SuiteResult], Criteria]) -> Run:
    """The run with few scores outside [0, 1] as errors of their cases: the evaluator still has a scale.

    Args:
        run: the run.
        criteria_of: returns the criteria of a suite.
    """
    if not any(suite.columns.unscaled for each in (run, *chain(*run.companions.values())) for suite in each.suites):
        return run
    suites = tuple(
        suite.with_columns(suite.columns.with_rare_unscaled_as_errors(criteria_of(suite).max_dropped))
        for suite in run.suites
    )
    companions = run.change_companions(lambda each: without_rare_unscaled(each, criteria_of))
    return replace(run, suites=suites, companions=companions)
