"""Metrics that are functions."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anyio import to_thread

from scoregate.engine.calls import await_result, is_async
from scoregate.engine.imports import module_name
from scoregate.engine.signatures import read_parameters
from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.grading.grade import (
    Grade,
    ScoreThreshold,
    ThresholdOperator,
    Value,
    make_scale,
    make_threshold,
    pass_fail_grade,
)
from scoregate.grading.subject import Subject
from scoregate.kernel.types.evaluation import Scale, require_number
from scoregate.metrics.evaluation import OfOutputs
from scoregate.metrics.metric import ALL_TEST_TYPES, Metric, MetricResult, ScoreType

_SCORE_TYPES = ("numeric", "categorical", "binary")
_RESULT_KEYS = ("score", "reason", "is_successful")


@dataclass(frozen=True, slots=True)
class ScoreFormat:
    """How the scores of a function are read: their kind, and what passes. Fingerprints contain the names of the fields.

    Raises:
        ValueError: there is no such kind, or a passing category is not among the categories.
    """

    kind: ScoreType = "numeric"
    scale: Scale = Scale()  # noqa: RUF009
    bar: ScoreThreshold | None = None
    categories: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in _SCORE_TYPES:
            raise ValueError(f"score_type must be one of {', '.join(_SCORE_TYPES)}, not {self.kind!r:.60}")
        if self.categories and (unknown := set(self.passing) - set(self.categories)):
            raise ValueError(f"the passing_categories {sorted(unknown)!r:.100} are none of its categories")

    def to_grade(self, returned: Any) -> Grade:
        """The grade that a function returned.

        Raises:
            TypeError: a metric can't return this.
            ValueError: the score does not fit this format.
        """
        if returned is None:
            return Grade(None)
        content = _to_mapping(returned)
        value, is_successful = content["score"], content.get("is_successful")
        reason = str(content.get("reason") or "")
        details = {name: part for name, part in content.items() if name not in _RESULT_KEYS}
        if value is None:
            return Grade(None, reason, details=details)
        grade = _GRADERS[self.kind](self, value)
        if isinstance(is_successful, bool) and is_successful is not grade.passed:
            grade = pass_fail_grade(grade.value, passed=is_successful, details=grade.details)
        return replace(grade, reason=reason, details={**grade.details, **details})


def _to_mapping(returned: Any) -> Mapping[str, Any]:
    if isinstance(returned, MetricResult):
        return {**returned.details, "score": returned.score}
    if isinstance(returned, Mapping) and "score" in returned:
        return returned
    raise TypeError(
        f'a metric must return a dict with a "score", a MetricResult or None, not {type(returned).__name__}:'
        f" {returned!r:.200}"
    )


def _grade_number(terms: ScoreFormat, value: Any) -> Grade:
    number, scale = require_number(value, "the score"), terms.scale
    if not scale.low <= number <= scale.high:
        raise ValueError(f"the score must lie from {scale.low:g} to {scale.high:g}, not at {number:g}")
    details: dict[str, Any] = {"scale": [scale.low, scale.high]}
    if terms.bar is None:
        return Grade(number, score=scale.part(number), details=details)
    score, threshold = terms.bar.score(number)
    passes_at = f"{terms.bar.operator} {terms.bar.threshold:g}"
    return Grade(number, score=score, threshold=threshold, details={**details, "passes_at": passes_at})


def _grade_category(terms: ScoreFormat, value: Value) -> Grade:
    if not isinstance(value, str) or (terms.categories and value not in terms.categories):
        known = f" {list(terms.categories)!r:.200}" if terms.categories else " a string"
        raise ValueError(f"the score must be one of its categories,{known}, not {value!r:.100}")
    return pass_fail_grade(value, passed=value in terms.passing) if terms.passing else Grade(value)


def _grade_binary(_terms: ScoreFormat, value: Value) -> Grade:
    if value not in (0, 1):
        raise ValueError(f"the score of a binary metric must be True or False, not {value!r:.100}")
    return pass_fail_grade(float(value), passed=bool(value))


_GRADERS = {"numeric": _grade_number, "categorical": _grade_category, "binary": _grade_binary}
# The parts of a subject that a function may take; the others are for judges of datasets.
_PARAMETERS = tuple(
    each.name for each in dataclasses.fields(Subject) if each.name not in ("trace", "fields", "example")
)


@dataclass(frozen=True, kw_only=True)
class FunctionMetric(Metric, OfOutputs):
    """A function that grades. Its parameters are parts of a `Subject`, and it gets those.

    Args:
        function: sync or async.
        terms: how its results are read.
    """

    # The names of these fields are in fingerprints.
    function: Callable[..., Any]
    terms: ScoreFormat = ScoreFormat()
    wanted: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._set(name=self.name or self.function.__name__, wanted=_parameter_names(self.function))
        super().__post_init__()
        needs = {TestType.SINGLE_TURN: "output", TestType.MULTI_TURN: "conversation"}
        self._set(metric_scope=tuple(kind for kind in self.metric_scope if needs[TestType(kind)] in self.wanted))
        if not self.metric_scope:
            raise MetricError(f"{self.name!r:.60} has no parameter for what it is to grade: output, or conversation")

    @property
    def score_type(self) -> ScoreType:
        """The kind of its values."""
        return self.terms.kind

    @property
    def higher_is_better(self) -> bool:
        """The direction of the threshold's operator."""
        return self.terms.bar is None or self.terms.bar.operator.upwards

    def parameters(self) -> Mapping[str, Any]:
        """The scale and the threshold, or the categories; see `Metric.parameters`."""
        terms = self.terms
        if terms.kind == "categorical":
            return {"categories": list(terms.categories), "passing_categories": list(terms.passing)}
        if terms.kind == "binary":
            return {}
        scale = {"min_score": terms.scale.low, "max_score": terms.scale.high}
        if terms.bar is None:
            return scale
        return {**scale, "threshold": terms.bar.threshold, "threshold_operator": terms.bar.operator}

    @property
    def is_async(self) -> bool:
        """Whether the function is async."""
        return is_async(self.function)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call the function."""
        return self.function(*args, **named)

    def to_config(self) -> dict[str, Any]:
        """Its name and where it is imported from, which `read_metric` understands."""
        return self.definition()

    def definition(self) -> dict[str, Any]:
        """The content of its document: where it is imported from. See `Metric.definition`."""
        path = self.function.__qualname__
        if "<" in path:
            raise MetricError(f"{self.name!r:.60} is a function within another, {path}, which no document can name")
        fields = {"name": self.name, "description": self.description} | ({"id": self.id} if self.id else {})
        return {**fields, "use": f"{module_name(self.function)}:{path}"}

    async def graded(self, subject: Subject) -> Grade:
        """Call the function, a sync one in a thread; its exceptions are raised."""
        if self.is_async:
            return self.terms.to_grade(await await_result(self.function(**self._arguments(subject))))
        # A thread can't be stopped, so a cancelled test doesn't wait for it.
        return await to_thread.run_sync(self.grade_here, subject, abandon_on_cancel=True)

    def grade_here(self, subject: Subject) -> Grade:
        """Call the sync function in this thread; its exceptions are raised."""
        return self.terms.to_grade(self.function(**self._arguments(subject)))

    def _arguments(self, subject: Subject) -> dict[str, Any]:
        return {name: getattr(subject, name) for name in self.wanted}


def metric(
    name: str = "",
    score_type: ScoreType = "numeric",
    description: str = "",
    *,
    min_score: float | None = None,
    max_score: float | None = None,
    threshold: float | None = None,
    threshold_operator: ThresholdOperator | str = ThresholdOperator.GREATER_THAN_OR_EQUAL,
    categories: Sequence[str] = (),
    passing_categories: str | Sequence[str] = (),
    metric_type: str = "",
    metric_scope: Collection[TestType | str] = ALL_TEST_TYPES,
) -> Callable[[Callable[..., Any]], FunctionMetric]:
    """Make a metric of a function: `@metric("short", "binary")`.

    The function takes `input` and `output`, or `conversation`, and any other part of a `Subject`. It returns a dict
    with a "score" and optionally a "reason", or a `MetricResult`; None means no grade. A number passes by the
    threshold, a binary metric if it is True or 1, a category if it is among the passing ones. An "is_successful" in
    the result decides instead.

    Args:
        name: the function's if not given.
        score_type: "numeric", "categorical" or "binary".
        description: a description for people.
        min_score: the lowest number; 0 if neither end is given.
        max_score: the highest number; 1 if neither end is given.
        threshold: the number to compare with; without one pass and fail are undefined.
        threshold_operator: how to compare: `=`, `<`, `>`, `<=`, `>=` or `!=`.
        categories: the possible categories.
        passing_categories: those that pass.
        metric_type: your own term for the kind of quality.
        metric_scope: the types of tests that the metric is for.

    Raises:
        TypeError: the function has an unknown parameter, or lacks one.
        MetricError: another argument is not valid.
    """
    try:
        scale = make_scale(min_score, max_score)
        bar = None if threshold is None else make_threshold(scale, threshold, threshold_operator)
        passing = (passing_categories,) if isinstance(passing_categories, str) else tuple(passing_categories)
        terms = ScoreFormat(score_type, scale, bar, tuple(categories), passing)
    except (TypeError, ValueError) as error:
        raise MetricError(f"the metric {name!r:.60}: {error}") from None
    about = {"name": name, "description": description, "metric_type": metric_type, "metric_scope": metric_scope}
    return lambda function: FunctionMetric(function=function, terms=terms, **about)  # type: ignore[arg-type]


def _parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    name = getattr(function, "__name__", repr(function))
    parameters = {each.name: each for each in read_parameters(function)}
    fixed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    unknown = [each for each, parameter in parameters.items() if each not in _PARAMETERS or parameter.kind in fixed]
    if unknown:
        raise TypeError(
            f"metric {name}() has unknown parameters: {', '.join(unknown)}; supported: {', '.join(_PARAMETERS)}"
        )
    if "conversation" not in parameters and not {"input", "output"} <= parameters.keys():
        raise TypeError(f"metric {name}() must take input and output, or conversation")
    return tuple(parameters)
