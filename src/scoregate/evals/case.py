"""Cases and what scorers receive, with types that mypy and pyright check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.types.task_trace import TaskTrace
    from scoregate.kernel.types.trajectories.trajectory import Trajectory

_InputT_co = TypeVar("_InputT_co", covariant=True)
_OutputT_co = TypeVar("_OutputT_co", covariant=True)
_ExpectedT_co = TypeVar("_ExpectedT_co", covariant=True)
_T = TypeVar("_T")
_U = TypeVar("_U")


class Case(Generic[_InputT_co, _ExpectedT_co]):
    """A case of `evaluate` whose input and expected output have types.

    With cases of this class, type checkers compare the task and the scorers of `evaluate` with them.
    """

    __slots__ = ("expected", "has_expected", "id", "input", "metadata", "tags")
    # By this, type checkers distinguish cases from other items of data.
    __hash__: ClassVar[None]  # type: ignore[assignment]

    @overload
    def __init__(
        self: Case[_T, None],
        input: _T,
        *,
        id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: str | Sequence[str] | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: Case[_T, _U],
        input: _T,
        expected: _U,
        *,
        id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: str | Sequence[str] | None = None,
    ) -> None: ...

    def __init__(
        self,
        input: Any,  # noqa: A002
        expected: Any = ...,
        *,
        id: str | int | None = None,  # noqa: A002
        metadata: Mapping[str, Any] | None = None,
        tags: str | Sequence[str] | None = None,
    ) -> None:
        """Make a case.

        Args:
            input: what the task receives.
            expected: the expected output; `expected=None` expects None.
            id: what identifies the case in all runs; default: a digest of the input.
            metadata: what scorers may need besides.
            tags: its tags, such as ["critical"]; or one text with commas.
        """
        self.input: _InputT_co = input
        self.has_expected = expected is not ...
        given: Any = None if expected is ... else expected
        self.expected: _ExpectedT_co = given
        self.id, self.metadata = id, metadata
        self.tags = tuple(tags.split(",") if isinstance(tags, str) else tags or ())

    def read_fields(self) -> dict[str, Any]:
        """The fields that it has, by the names that dicts of cases have."""
        given = {"expected": self.expected} if self.has_expected else {}
        rest = {"id": self.id, "metadata": self.metadata, "tags": list(self.tags) or None}
        return {"input": self.input, **given, **{name: value for name, value in rest.items() if value is not None}}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and self.read_fields() == other.read_fields()

    def __repr__(self) -> str:
        return f"Case({', '.join(f'{name}={value!r:.100}' for name, value in self.read_fields().items())})"


@record
class ScoreContext(Generic[_InputT_co, _OutputT_co, _ExpectedT_co]):
    """What a scorer receives if its parameter has this type, with any name.

    Attributes:
        input: the input of the case.
        output: what the task returned.
        expected: the expected output; None without one.
        metadata: the metadata of the case; None without any.
        tags: the tags of the case.
        duration_s: how long the task took, in seconds.
        case: the case as it was given.
        trace: the calls and spans of the task; recorded if the code of a scorer names it, otherwise None.
        trajectory: the steps of an agent, likewise.
    """

    input: _InputT_co
    output: _OutputT_co
    expected: _ExpectedT_co
    metadata: Any
    tags: tuple[str, ...]
    duration_s: float
    case: Any
    trace: TaskTrace | None
    trajectory: Trajectory | None
