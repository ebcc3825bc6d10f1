"""What a suite is written with: test cases, evaluators, evaluations."""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from scoregate.core.evaluation import Assertion, Evaluation, Threshold
from scoregate.core.pending import Pending

if TYPE_CHECKING:
    from scoregate.core.override import EvaluationOverride, EvaluationOverrideComment, EvaluationOverrideField
    from scoregate.testing.elsewhere import EvaluationWithId, TracerEvent
    from scoregate.testing.reviews import (
        CreateHumanReviewJob,
        HumanReviewField,
        HumanReviewFieldContentType,
        ScoreChoice,
    )

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
    """How one test case is run, found in its attribute `test_case_config`.

    Args:
        repeat_num_times: how often it is run, at least 1; None leaves that to the suite.
        tags: words to find it by, such as "critical".
        cluster: what it belongs to (a conversation, a document), where cases are not independent.
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
        """What identifies this test case for its lifetime; no two of a suite share it."""

    def serialize(self) -> Any:
        """What the record keeps of it: anything with a JSON form. By default its fields."""
        return self

    def serialize_for_human_review(self) -> list[HumanReviewField] | None:
        """The fields that reviewers see; None shows what `serialize` gives."""
        return None

    def serialize_dataset_item_id(self) -> str | None:
        """The id of the dataset item that it was made from, if any."""
        return None


class _Limited(abc.ABC):
    """Something that is called at most `max_concurrency` times at once."""

    max_concurrency: int = 10

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        limit = cls.__dict__.get("max_concurrency", 10)
        if isinstance(limit, bool) or not isinstance(limit, int | property):
            raise TypeError(f"{cls.__name__}.max_concurrency must be an int, not {limit!r}")

    @property
    @abc.abstractmethod
    def id(self) -> str:
        """What identifies this evaluator within its suite."""


class BaseTestEvaluator(_Limited, Generic[TestCaseType, OutputType]):
    """Scores outputs. `higher_is_better` tells comparisons which way is up."""

    higher_is_better: bool = True

    @abc.abstractmethod
    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> MaybeAwaitable:
        """Score the output of one test case; sync or async.

        Returns:
            An `Evaluation`, `Pending` where people are to judge, or None where this evaluator has nothing to say of
            this case.
        """


class BaseEventEvaluator(_Limited):
    """Scores events of a trace."""

    @abc.abstractmethod
    def evaluate_event(self, event: TracerEvent) -> MaybeAwaitable:
        """Score one event; sync or async; an `Evaluation` or None."""


class BaseEvaluator(BaseTestEvaluator[TestCaseType, OutputType], BaseEventEvaluator):
    """Scores both."""


# What few suites name: it is made where somebody does, so that the others start sooner.
_SELDOM = {
    "scoregate.core.override": ("EvaluationOverride", "EvaluationOverrideComment", "EvaluationOverrideField"),
    "scoregate.testing.elsewhere": ("EvaluationWithId", "TracerEvent"),
    "scoregate.testing.reviews": (
        "CreateHumanReviewJob",
        "HumanReviewField",
        "HumanReviewFieldContentType",
        "ScoreChoice",
    ),
}


def __getattr__(name: str) -> Any:
    """The names of other rooms."""
    for module, names in _SELDOM.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
