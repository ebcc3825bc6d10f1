"""What all metrics are: a name, a scope, and a way to grade a subject."""

from __future__ import annotations

import abc
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

from scoregate.core.parts import Choice
from scoregate.enums import TestType
from scoregate.errors import MetricError, ModelError
from scoregate.metrics.config import config_of, definition_of, kept, made_of, metric_of
from scoregate.metrics.finding import pulled
from scoregate.metrics.grade import Grade, MetricResult, Value
from scoregate.metrics.subject import Subject
from scoregate.store import Store

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
    kind: ClassVar[str] = ""

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
    def score_type(self) -> ScoreType:
        """What kind of value it gives."""
        return "numeric"

    @property
    def higher_is_better(self) -> bool:
        """Which way is up, for comparisons."""
        return True

    def possible_scores(self) -> tuple[Choice, ...]:
        """All the scores that it can give, by their names; none where it may give any."""
        return ()

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

    def to_config(self) -> dict[str, Any]:
        """The name of its class, and what it was made with, as JSON has it."""
        return config_of(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """What `to_config` made this of.

        Raises:
            MetricError: it is the config of another class, or of none.
        """
        return made_of(cls, config)

    to_dict = to_config
    from_dict = from_config

    def definition(self) -> dict[str, Any]:
        """What a document of the store says of it.

        Raises:
            MetricError: it is of a class of one's own, which documents name.
        """
        if "kind" not in vars(type(self)):
            raise MetricError(
                f"{self.name!r:.60} is of a class of your own, {type(self).__name__}, which the store cannot hold",
                advice=f'Write a document that names it: use = "module:{type(self).__name__}".',
            )
        return definition_of(self, self.kind)

    def push(self, store: Store | None = None) -> dict[str, Any]:
        """Keep it in the store, in the place of what has its id, and return what is kept.

        Args:
            store: the project's if not given.

        Raises:
            MetricError: it cannot be kept. StoreError: it could not be written.
        """
        stored = kept(self.definition(), store)
        self._set(id=stored.id)
        return stored.model_dump(mode="json", exclude_defaults=True)

    @classmethod
    def pull(cls, id: str | None = None, name: str | None = None, *, store: Store | None = None) -> Self:  # noqa: A002
        """The metric of this id in the store, else of this name, in whatever case.

        Raises:
            MetricError: neither is given, there is none, several have this name, or it is of another class.
            StoreError: it cannot be read.
        """
        found = pulled(id, name, store)
        if found.kind is None or found.kind != cls.kind:
            other = f"code, {found.use}" if found.kind is None else f"of kind {found.kind}"
            raise MetricError(f"the metric {found.title!r:.60} is {other}, and no {cls.__name__}")
        return metric_of(cls, found)

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
        return MetricResult(grade.value, {**self._details(grade.value), **told, **grade.criteria(), **grade.more})

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
