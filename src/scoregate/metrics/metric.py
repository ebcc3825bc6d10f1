"""What all metrics are: a name, a scope, and a way to grade a subject."""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeAlias

from scoregate.enums import TestType
from scoregate.errors import MetricError, ModelError
from scoregate.grading.grade import Grade, Value
from scoregate.grading.subject import Subject
from scoregate.kernel.types.event_values import Choice
from scoregate.metrics.documents import (
    load_metric,
    metric_config,
    metric_document,
    metric_from_config,
    metric_from_document,
    store_metric,
)
from scoregate.store import Store

ScoreType: TypeAlias = Literal["numeric", "categorical", "binary"]
ALL_TEST_TYPES = tuple(TestType)


@dataclass(frozen=True, slots=True)
class MetricResult:
    """What `evaluate` returns.

    Attributes:
        score: a number in the metric's own scale or a category; None after an error.
        details: `score`, `score_type`, `name`, `prompt`, `reason`, `is_successful` and the metric's own parameters;
            after an error also `error`, `exception_type` and `exception_details`.
    """

    score: Value
    details: Mapping[str, Any] = field(default_factory=dict)


# Fingerprints contain the names of the classes that metrics inherit from, and the names and values of their fields.
@dataclass(frozen=True, kw_only=True)
class Metric(abc.ABC):
    """Grades the output or the conversation of one test.

    Args:
        name: the name in reports, the class's if not given; unique among the metrics of a run.
        description: a description for people.
        metric_type: your own term for the kind of quality, such as "safety".
        metric_scope: the types of tests that the metric is for; it skips tests of other types.
        id: the id in the store.

    Raises:
        MetricError: a field has another type or value.
    """

    version: ClassVar[int] = 1
    kind: ClassVar[str] = ""

    name: str = ""
    description: str = ""
    metric_type: str = ""
    metric_scope: Collection[TestType | str] = ALL_TEST_TYPES
    id: str | None = None

    def __post_init__(self) -> None:
        self._set(name=self.name or type(self).__name__, metric_scope=_parse_scope(self.metric_scope))
        if not isinstance(self.name, str) or not self.name.isprintable():
            raise MetricError(f"a metric's name must be a string on one line, not {self.name!r:.60}")

    def _set(self, **fields: Any) -> None:
        """Replace fields by their parsed values; the class is frozen."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def score_type(self) -> ScoreType:
        """The kind of its values."""
        return "numeric"

    @property
    def higher_is_better(self) -> bool:
        """The direction for comparisons."""
        return True

    def possible_scores(self) -> tuple[Choice, ...]:
        """All the scores that it can give, with their names; none if it may give any."""
        return ()

    def applies(self, subject: Subject) -> bool:
        """Whether it is for subjects of this type."""
        return subject.test_type in self.metric_scope

    @abc.abstractmethod
    async def graded(self, subject: Subject) -> Grade:
        """Grade a subject.

        Raises:
            ModelError: a model gives no answer.
            MetricError: the subject lacks what this metric needs.
        """

    async def assessed(self, subject: Subject) -> MetricResult:
        """Grade a subject; an error of a model becomes a result without a score.

        Raises:
            MetricError: the subject lacks what this metric needs.
        """
        try:
            grade = await self.graded(subject)
        except ModelError as error:
            return self.failed(error, prompt=self.prompt_for(subject))
        outcome = {"prompt": grade.prompt, "reason": grade.reason, "is_successful": grade.passed}
        details = {**self._details(grade.value), **outcome, **_criteria(grade), **grade.details}
        return MetricResult(grade.value, details)

    def prompt_for(self, subject: Subject) -> str:  # noqa: ARG002
        """The question to a model about a subject; empty if the metric asks none."""
        return ""

    def failed(self, error: Exception, *, prompt: str = "") -> MetricResult:
        """The result after an error; `prompt` is the question to a model."""
        kind = type(error).__name__
        outcome = {"prompt": prompt, "reason": "", "is_successful": False}
        failure = {"error": f"{self.name}: {kind}: {error}", "exception_type": kind, "exception_details": str(error)}
        return MetricResult(None, {**self._details(None), **outcome, **failure})

    def _details(self, value: Value) -> dict[str, Any]:
        return {"score": value, "score_type": self.score_type, "name": self.name, **self.parameters()}

    def parameters(self) -> Mapping[str, Any]:
        """The parameters that decide pass and fail, for the details of results."""
        return {}

    def to_config(self) -> dict[str, Any]:
        """The name of the class and its arguments, as JSON."""
        return metric_config(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The metric of a config from `to_config`.

        Raises:
            MetricError: the config is for another class or not valid.
        """
        return metric_from_config(cls, config)

    to_dict = to_config
    from_dict = from_config

    def definition(self) -> dict[str, Any]:
        """The content of its document in the store.

        Raises:
            MetricError: the class is your own; a document can only name it.
        """
        if "kind" not in vars(type(self)):
            raise MetricError(
                f"{self.name!r:.60} is of a class of your own, {type(self).__name__}, which the store cannot hold",
                advice=f'Write a document that names it: use = "module:{type(self).__name__}".',
            )
        return metric_document(self, self.kind)

    def push(self, store: Store | None = None) -> dict[str, Any]:
        """Write the metric to the store; it replaces the metric with the same id.

        Args:
            store: the project's if not given.

        Returns:
            The document in the store.

        Raises:
            MetricError: the store cannot hold it.
            StoreError: it could not be written.
        """
        stored = store_metric(self.definition(), store)
        self._set(id=stored.id)
        return stored.model_dump(mode="json", exclude_defaults=True)

    @classmethod
    def pull(cls, id: str | None = None, name: str | None = None, *, store: Store | None = None) -> Self:  # noqa: A002
        """Load a metric from the store, by its id, else by its name.

        Args:
            id: the id of the metric.
            name: its name; upper and lower case are equal.
            store: by default, the store of the project.

        Raises:
            MetricError: neither is given, no metric or several match, or it is of another class.
            StoreError: it cannot be read.
        """
        stored = load_metric(id, name, store)
        if stored.kind is None or stored.kind != cls.kind:
            other = f"code, {stored.use}" if stored.kind is None else f"of kind {stored.kind}"
            raise MetricError(f"the metric {stored.title!r:.60} is {other}, not a {cls.__name__}")
        return metric_from_document(cls, stored)


def _criteria(grade: Grade) -> Mapping[str, Any]:
    """The criteria that were checked one by one, for the details of results."""
    if grade.assertions is None:
        return {}
    criteria = [{"criterion": each.criterion, "met": each.passed, **(each.metadata or {})} for each in grade.assertions]
    return {"criteria_evaluations": criteria, "all_criteria_met": all(each.passed for each in grade.assertions)}


def _parse_scope(scope: Collection[TestType | str]) -> tuple[TestType, ...]:
    names = [scope] if isinstance(scope, str) else scope if isinstance(scope, Iterable) else ()
    known = {name.casefold(): kind for kind in TestType for name in (kind.value, kind.name)}
    kinds = [known.get(str(name).casefold()) for name in names]
    if not kinds or None in kinds:
        allowed = " and ".join(repr(kind.value) for kind in TestType)
        raise MetricError(f"the metric_scope of a metric contains {allowed}, not {scope!r:.100}")
    return tuple(kind for kind in TestType if kind in kinds)
