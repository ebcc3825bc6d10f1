"""What all metrics are: a name, a scope, and a way to grade a subject."""

from __future__ import annotations

import abc
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from scoregate.enums import TestType
from scoregate.errors import MetricError, ModelError
from scoregate.metrics.grade import Grade, MetricResult, Value
from scoregate.metrics.subject import Subject

ScoreType: TypeAlias = Literal["numeric", "categorical", "binary"]
BOTH = tuple(TestType)


@dataclass(frozen=True, kw_only=True)
class Metric(abc.ABC):
    """Grades what one test brought about.

    Args:
        name: what it is called in reports, that of its class if not given; unique among the metrics of a run.
        description: for people. metric_type: a word of yours for the kind of quality that it is about.
        metric_scope: the types of tests that it is for; tests of another type it has nothing to say of.
        id: what the store calls it, once it is there.

    Raises:
        MetricError: a field is none of these.
    """

    version: ClassVar[int] = 1
    score_type: ClassVar[ScoreType] = "numeric"

    name: str = ""
    description: str = ""
    metric_type: str = ""
    metric_scope: Collection[TestType | str] = BOTH
    id: str | None = None

    def __post_init__(self) -> None:
        self._set(name=self.name or type(self).__name__, metric_scope=_scope(self.metric_scope))
        if not isinstance(self.name, str) or not self.name.isprintable():
            raise MetricError(f"a metric's name must be a string on one line, not {self.name!r:.60}")

    def _set(self, **fields: Any) -> None:
        """While it is made: what was given, as what it means."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def higher_is_better(self) -> bool:
        """Which way is up, for comparisons."""
        return True

    def applies(self, subject: Subject) -> bool:
        """Whether it is for subjects of this type."""
        return subject.test_type in self.metric_scope

    @abc.abstractmethod
    async def graded(self, subject: Subject) -> Grade:
        """Grade a subject.

        Raises:
            ModelError: a model gave no answer. MetricError: the subject lacks what this metric needs.
        """

    def parameters(self) -> Mapping[str, Any]:
        """What decides over pass and fail, as a result's details have it."""
        return {}

    async def assessed(self, subject: Subject) -> MetricResult:
        """The result, in which the failure of a model is data.

        Raises:
            As `graded`, but ModelError.
        """
        try:
            grade = await self.graded(subject)
        except ModelError as error:
            return self.failed(error)
        told = {"prompt": grade.prompt, "reason": grade.reason, "is_successful": grade.passed}
        return MetricResult(grade.value, {**self._details(grade.value), **told, **grade.more})

    def failed(self, error: Exception) -> MetricResult:
        """The result where there is none."""
        kind = type(error).__name__
        told = {"error": f"{self.name}: {kind}: {error}", "exception_type": kind, "exception_details": str(error)}
        return MetricResult(None, {**self._details(None), "reason": "", "is_successful": False, **told})

    def _details(self, value: Value) -> dict[str, Any]:
        return {"score": value, "score_type": self.score_type, "name": self.name, **self.parameters()}


def _scope(given: Collection[TestType | str]) -> tuple[TestType, ...]:
    names = [given] if isinstance(given, str) else given
    known = {name.casefold(): kind for kind in TestType for name in (kind.value, kind.name)}
    found = [known.get(str(name).casefold()) for name in names]
    if not found or None in found:
        words = " and ".join(repr(kind.value) for kind in TestType)
        raise MetricError(f"the metric_scope of a metric is made of {words}, not {given!r:.100}")
    return tuple(kind for kind in TestType if kind in found)
