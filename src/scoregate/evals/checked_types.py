"""What `evaluate` takes, as type checkers see it. Nothing here is imported when suites run."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, SupportsFloat, TypeAlias, TypeVar

from scoregate.evals.case import Case, ScoreContext
from scoregate.evals.typed_dataset import Dataset
from scoregate.kernel.types.evaluation import Evaluation

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
ExpectedT = TypeVar("ExpectedT")
_Input_contra = TypeVar("_Input_contra", contravariant=True)
_Output_contra = TypeVar("_Output_contra", contravariant=True)
_Expected_contra = TypeVar("_Expected_contra", contravariant=True)


class _HasScore(Protocol):
    """What scorers of autoevals return, for example."""

    @property
    def score(self) -> Any: ...


Score: TypeAlias = SupportsFloat | Mapping[str, Any] | Evaluation | _HasScore | None
ScoreResult: TypeAlias = Score | Awaitable[Score]


class _Evaluator(Protocol):
    """An evaluator of `scoregate.testing`."""

    def evaluate_test_case(self, *args: Any, **kwargs: Any) -> Any: ...


class _PydanticEvaluator(Protocol):
    """An evaluator of pydantic_evals."""

    def evaluate(self, *args: Any, **kwargs: Any) -> Any: ...


AnyScorer: TypeAlias = Callable[..., ScoreResult] | _Evaluator | _PydanticEvaluator
AnyScorers: TypeAlias = Iterable[AnyScorer] | AnyScorer


class _NamedScorer(Protocol):
    """A ready-made scorer, or a function in `scorer`."""

    @property
    def name(self) -> str | None: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class _ByOutputExpected(Protocol[_Output_contra, _Expected_contra]):
    def __call__(self, *, output: _Output_contra, expected: _Expected_contra) -> ScoreResult: ...


class _ByInputOutput(Protocol[_Input_contra, _Output_contra]):
    def __call__(self, *, input: _Input_contra, output: _Output_contra) -> ScoreResult: ...  # noqa: A002


class _ByInputOutputExpected(Protocol[_Input_contra, _Output_contra, _Expected_contra]):
    def __call__(self, *, input: _Input_contra, output: _Output_contra, expected: _Expected_contra) -> ScoreResult: ...  # noqa: A002


class _ByOutputMetadata(Protocol[_Output_contra]):
    def __call__(self, *, output: _Output_contra, metadata: Any) -> ScoreResult: ...


class _ByOutputExpectedMetadata(Protocol[_Output_contra, _Expected_contra]):
    def __call__(self, *, output: _Output_contra, expected: _Expected_contra, metadata: Any) -> ScoreResult: ...


class _ByOutputTrace(Protocol[_Output_contra]):
    def __call__(self, *, output: _Output_contra, trace: Any) -> ScoreResult: ...


class _ByTrace(Protocol):
    def __call__(self, *, trace: Any) -> ScoreResult: ...


class _ByTrajectory(Protocol):
    def __call__(self, *, trajectory: Any) -> ScoreResult: ...


class _ByDuration(Protocol):
    def __call__(self, *, duration_s: float) -> ScoreResult: ...


TypedScorer: TypeAlias = (
    Callable[[ScoreContext[InputT, OutputT, ExpectedT]], ScoreResult]
    | Callable[[OutputT], ScoreResult]
    | _ByOutputExpected[OutputT, ExpectedT]
    | _ByInputOutput[InputT, OutputT]
    | _ByInputOutputExpected[InputT, OutputT, ExpectedT]
    | _ByOutputMetadata[OutputT]
    | _ByOutputExpectedMetadata[OutputT, ExpectedT]
    | _ByOutputTrace[OutputT]
    | _ByTrace
    | _ByTrajectory
    | _ByDuration
    | _NamedScorer
    | _Evaluator
    | _PydanticEvaluator
)
TypedScorers: TypeAlias = Iterable[TypedScorer[InputT, OutputT, ExpectedT]] | TypedScorer[InputT, OutputT, ExpectedT]
TypedData: TypeAlias = (
    Iterable[Case[InputT, ExpectedT]] | AsyncIterable[Case[InputT, ExpectedT]] | Dataset[InputT, ExpectedT]
)


class _DataclassItem(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


class _ModelItem(Protocol):
    def model_dump(self, *args: Any, **kwargs: Any) -> Any: ...


# A `Case` is none of these, so that its task and its scorers must fit it: it has no hash.
_Item: TypeAlias = dict[Any, Any] | Mapping[str, Any] | list[Any] | set[Any] | Hashable | _DataclassItem | _ModelItem
AnyData: TypeAlias = str | Path | Iterable[_Item] | AsyncIterable[_Item]
AnyTasks: TypeAlias = Callable[..., Any] | Mapping[str, Callable[..., Any]] | Sequence[Callable[..., Any]]


class TaskByName(Protocol[_Input_contra]):
    """A task that also takes the metadata of the case. Scorers of its output are not checked."""

    def __call__(self, *, input: _Input_contra, metadata: Any) -> Any: ...  # noqa: A002


TypedTasks: TypeAlias = (
    Callable[[InputT], OutputT] | Mapping[str, Callable[[InputT], OutputT]] | Sequence[Callable[[InputT], OutputT]]
)
