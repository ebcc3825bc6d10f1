"""The classes for suites: test cases, evaluators, evaluations."""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from scoregate.kernel.types.evaluation import (
    Assertion,
    Evaluation,
    EvaluationOverride,
    EvaluationOverrideComment,
    EvaluationOverrideField,
    Threshold,
)
from scoregate.kernel.types.event_values import HumanReviewField, HumanReviewFieldContentType, Pending


@dataclass(frozen=True)
class CreateHumanReviewJob:
    """Ask people to review a run's outputs.

    Raises:
        TypeError: the name or an address is not a string.
    """

    assignee_email_address: str | Sequence[str]
    name: str
    rubric_id: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not all(isinstance(address, str) for address in self.assignees):
            raise TypeError(f"a name and e-mail addresses must be strings, not {self.name!r}, {self.assignees!r}")

    @property
    def assignees(self) -> tuple[str, ...]:
        """The addresses, one or many."""
        given = self.assignee_email_address
        return (given,) if isinstance(given, str) else tuple(given)


@dataclass(frozen=True)
class ScoreChoice:
    """A possible answer of a judge, and its score in [0, 1]."""

    value: float
    name: str


@dataclass(frozen=True)
class EvaluationWithId:
    """An evaluation from elsewhere, for `RunManager.add_result`; `score` in [0, 1]."""

    id: str
    score: float
    threshold: Threshold | None = None
    metadata: Mapping[str, Any] | None = None
    assertions: Sequence[Assertion] | None = None

    def evaluation(self) -> Evaluation:
        """The evaluation without its id.

        Raises:
            TypeError: a field has another type.
            ValueError: the score is not in [0, 1].
        """
        return Evaluation(self.score, self.threshold, self.metadata, self.assertions)


@dataclass(frozen=True)
class TracerEvent:
    """An event of a trace, for evaluators of events; `timestamp` is ISO 8601."""

    message: str
    timestamp: str
    properties: Mapping[str, Any]
    trace_id: str | None = None


__all__ = [
    "Assertion",
    "BaseEvaluator",
    "BaseEventEvaluator",
    "BaseTestCase",
    "BaseTestEvaluator",
    "CreateHumanReviewJob",
    "Evaluation",
    "EvaluationOverride",
    "EvaluationOverrideComment",
    "EvaluationOverrideField",
    "EvaluationWithId",
    "HumanReviewField",
    "HumanReviewFieldContentType",
    "Pending",
    "ScoreChoice",
    "TestCaseConfig",
    "Threshold",
    "TracerEvent",
]

TestCaseType = TypeVar("TestCaseType")
OutputType = TypeVar("OutputType")
MaybeAwaitable: TypeAlias = Evaluation | Pending | Awaitable[Evaluation | Pending | None] | None


@dataclass
class TestCaseConfig:
    """How to run one test case; the case has it as its attribute `test_case_config`.

    Args:
        repeat_num_times: how often to run it, at least 1; None leaves that to the suite.
        tags: tags to select it by, such as "critical".
        cluster: the conversation or document it belongs to, if cases are not independent.
    """

    __test__ = False

    repeat_num_times: int | None = None
    tags: Sequence[str] = ()
    cluster: str | None = None


class BaseTestCase(abc.ABC):
    """A test case: any dataclass, pydantic model or object with a `hash`."""

    __test__ = False

    @abc.abstractmethod
    def hash(self) -> str:
        """The id of this test case, which must not change; unique in a suite."""

    def serialize(self) -> Any:
        """The case for the record: anything with a JSON form. By default its fields."""
        return self

    def serialize_for_human_review(self) -> list[HumanReviewField] | None:
        """The fields for reviewers; None shows the result of `serialize`. An output may have this method, too."""
        return None

    def serialize_dataset_item_id(self) -> str | None:
        """The id of its dataset item, if there is one."""
        return None


class _Limited(abc.ABC):
    """An evaluator that runs at most `max_concurrency` times at once."""

    max_concurrency: int = 10

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        limit = cls.__dict__.get("max_concurrency", 10)
        if isinstance(limit, bool) or not isinstance(limit, int | property):
            raise TypeError(f"{cls.__name__}.max_concurrency must be an int, not {limit!r}")

    @property
    @abc.abstractmethod
    def id(self) -> str:
        """The id of this evaluator, unique in a suite."""


class BaseTestEvaluator(_Limited, Generic[TestCaseType, OutputType]):
    """Scores outputs; `higher_is_better` is the direction for comparisons."""

    higher_is_better: bool = True

    @abc.abstractmethod
    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> MaybeAwaitable:
        """Score the output of one test case; sync or async.

        Returns:
            An `Evaluation`; `Pending` if people must judge; None if this evaluator is not for this case.
        """


class BaseEventEvaluator(_Limited):
    """Scores events of a trace."""

    @abc.abstractmethod
    def evaluate_event(self, event: TracerEvent) -> MaybeAwaitable:
        """Score one event; sync or async; an `Evaluation` or None."""


class BaseEvaluator(BaseTestEvaluator[TestCaseType, OutputType], BaseEventEvaluator):
    """Scores both."""
