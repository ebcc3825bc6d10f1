"""Functions as metrics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from anyio import to_thread

from scoregate.engine.call import is_async, settled
from scoregate.engine.signatures import parameters_of
from scoregate.engine.targets import module_of
from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.metrics.bar import ThresholdOperator, bar_of, scale_of
from scoregate.metrics.grade import Grade
from scoregate.metrics.metric import BOTH, Metric, ScoreType
from scoregate.metrics.outputs import OfOutputs
from scoregate.metrics.returned import Terms, grade_of
from scoregate.metrics.subject import Subject

_KNOWN = tuple(each.name for each in fields(Subject))


@dataclass(frozen=True, kw_only=True)
class FunctionMetric(Metric, OfOutputs):
    """A function that grades; it is called with what it has parameters for, out of what a `Subject` has.

    Args:
        function: sync or async. terms: how what it returns is read.
    """

    function: Callable[..., Any]
    terms: Terms = Terms()  # noqa: RUF009
    wanted: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._set(name=self.name or self.function.__name__, wanted=_parameters(self.function))
        super().__post_init__()
        needs = {TestType.SINGLE_TURN: "output", TestType.MULTI_TURN: "conversation"}
        self._set(metric_scope=tuple(kind for kind in self.metric_scope if needs[TestType(kind)] in self.wanted))
        if not self.metric_scope:
            raise MetricError(f"{self.name!r:.60} has no parameter for what it is to grade: output, or conversation")

    @property
    def score_type(self) -> ScoreType:
        """As `Metric.score_type`."""
        return self.terms.kind

    @property
    def higher_is_better(self) -> bool:
        """As `Metric.higher_is_better`."""
        return self.terms.bar is None or self.terms.bar.operator.upwards

    @property
    def is_async(self) -> bool:
        """Whether the function is."""
        return is_async(self.function)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """What the function returns."""
        return self.function(*args, **named)

    def to_config(self) -> dict[str, Any]:
        """Its name and where it is found again, which `read_metric` understands."""
        return self.definition()

    def definition(self) -> dict[str, Any]:
        """As `Metric.definition`: where it is found again."""
        path = self.function.__qualname__
        if "<" in path:
            raise MetricError(f"{self.name!r:.60} is a function within another, {path}, which no document can name")
        about = {"name": self.name, "description": self.description} | ({"id": self.id} if self.id else {})
        return {**about, "use": f"{module_of(self.function)}:{path}"}

    async def graded(self, subject: Subject) -> Grade:
        """As `Metric.graded`; whatever the function raises is raised."""
        if self.is_async:
            return grade_of(self.terms, await settled(self.function(**self._arguments(subject))))
        return await to_thread.run_sync(self.graded_here, subject, abandon_on_cancel=True)

    def graded_here(self, subject: Subject) -> Grade:
        """The same of a sync function, in this thread."""
        return grade_of(self.terms, self.function(**self._arguments(subject)))

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
    metric_scope: Collection[TestType | str] = BOTH,
) -> Callable[[Callable[..., Any]], FunctionMetric]:
    """Make a metric of a function: `@metric("short", "binary")`.

    The function takes `input` and `output`, or `conversation`, and may take whatever else a `Subject` has. It returns a
    dict with a "score" and, if it likes, a "reason", or a `MetricResult`; None where it has nothing to say. A number
    passes by the threshold, True or 1 of a binary metric passes, a category if it is one of those that pass; an
    "is_successful" in what is returned decides in place of them.

    Args:
        name: that of the function if not given. score_type: "numeric", "categorical" or "binary".
        min_score, max_score, threshold, threshold_operator: of numbers, as of `NumericJudge`; without a threshold pass
            and fail are undefined.
        categories, passing_categories: of categories. metric_type, metric_scope: as of every metric.

    Raises:
        TypeError: the function has a parameter that nothing is known for, or lacks one. MetricError: something else.
    """
    try:
        scale = scale_of(min_score, max_score)
        bar = None if threshold is None else bar_of(scale, threshold, threshold_operator)
        passing = (passing_categories,) if isinstance(passing_categories, str) else tuple(passing_categories)
        terms = Terms(score_type, scale, bar, tuple(categories), passing)
    except (TypeError, ValueError) as error:
        raise MetricError(f"the metric {name!r:.60}: {error}") from None
    about = {"name": name, "description": description, "metric_type": metric_type, "metric_scope": metric_scope}
    return lambda function: FunctionMetric(function=function, terms=terms, **about)  # type: ignore[arg-type]


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    name = getattr(function, "__name__", repr(function))
    found = {each.name: each for each in parameters_of(function)}
    fixed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    strange = [each for each, how in found.items() if each not in _KNOWN or how.kind in fixed]
    if strange:
        raise TypeError(
            f"the metric {name}() has parameters that nothing is known for: {', '.join(strange)}; there are"
            f" {', '.join(_KNOWN)}"
        )
    if "conversation" not in found and not {"input", "output"} <= found.keys():
        raise TypeError(f"the metric {name}() must take input and output, or conversation")
    return tuple(found)
