"""What a running suite says: one class an event, a discriminated union, a schema version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, dataclass_transform

from scoregate.core.evaluation import Assertion, Threshold, Usage

SCHEMA_VERSION = 1
MAX_MESSAGE = 4_000
MAX_TRACEBACK = 16_000
MOST_CHOICES, LONGEST_CHOICE = 100, 200
EventType: TypeAlias = Literal[
    "suite_started",
    "case_started",
    "case_output",
    "scored",
    "labelled",
    "errored",
    "review_requested",
    "case_finished",
    "suite_finished",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a suite or a case is defined: a path relative to the repository, a line counted from 1."""

    file: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a score depends on besides the output: digests, and in clear the model and the version that people gave."""

    source: str | None = None
    prompt: str | None = None
    parameters: str | None = None
    model: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A score in [0, 1] that a judge may give, and what it calls that, where it has a name for it."""

    value: float
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name[:LONGEST_CHOICE])


@dataclass(frozen=True, slots=True)
class EvaluatorInfo:
    """An evaluator as the record knows it. `battles`: it holds outputs against the base's, which it has to be told.

    `choices` are all the scores that it can give; none where it may give any, or more than 100, or such as are none.
    `boolean`: its scores in events are `true` and `false`, which count as 1 and 0.
    """

    id: str
    fingerprint: Fingerprint | None = None
    higher_is_better: bool = True
    battles: bool = False
    choices: tuple[Choice, ...] = ()
    boolean: bool = False

    def __post_init__(self) -> None:
        sound = len(self.choices) <= MOST_CHOICES and all(0 <= choice.value <= 1 for choice in self.choices)
        object.__setattr__(self, "choices", self.choices if sound else ())


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An exception as data. `traceback` is text; `advice` says what to do, where we know."""

    type: str
    message: str
    traceback: str = ""
    advice: str = ""


def truncate_text(text: str, limit: int) -> str:
    """A text of about `limit` characters at most: where there are more, its beginning and its end."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - limit:,} characters left out …\n{text[-half:]}"


@dataclass(frozen=True, slots=True)
class PairwiseComparison:
    """Two outputs of one case of which people are to say which is better.

    Args:
        baseline: the output so far. challenger: the new one. rubric: what they are to judge by.
        threshold: the range in which the challenger's score (1 won, 0.5 a tie, 0 lost) passes.
    """

    baseline: str
    challenger: str
    rubric: str | None = None
    threshold: Threshold | None = None


class Pending(NamedTuple):
    """What an evaluator returns where people are to judge: reported, and neither passed nor failed.

    `rubric` is what they are to judge by; `contest` is what they are shown, where it is two outputs.
    """

    rubric: str | None = None
    contest: PairwiseComparison | None = None


__all__ = [
    "SCHEMA_VERSION",
    "CaseFinished",
    "CaseOutput",
    "CaseStarted",
    "ErrorInfo",
    "Errored",
    "EvaluatorInfo",
    "Event",
    "Fingerprint",
    "Labelled",
    "Origin",
    "ReviewRequested",
    "Scored",
    "SuiteFinished",
    "SuiteStarted",
]

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def _event(cls: type[_T]) -> type[_T]:
    """Frozen for the type checker alone: at run time that would double the cost of making an event."""
    return dataclass(slots=True, kw_only=True)(cls)


@_event
class _Event:
    """What every event carries: the suite, a number within its log, seconds since the epoch, the schema."""

    suite: str
    seq: int = 0
    time: float = 0.0
    v: int = SCHEMA_VERSION


@_event
class SuiteStarted(_Event):
    """`cases` counts repeats; None where the number is not known beforehand. `message` titles the run."""

    type: Literal["suite_started"] = "suite_started"
    origin: Origin | None = None
    evaluators: tuple[EvaluatorInfo, ...] = ()
    cases: int | None = None
    params: Mapping[str, Any] | None = None
    sdk: str | None = None
    message: str | None = None


@_event
class CaseStarted(_Event):
    """`case` is the hash; `digest` tells whether the case's definition changed under the same hash.

    `origin` is the line of a file, such as a table, that the case was read from. `reused` is the id of an earlier run:
    what follows is what that run had measured.
    """

    type: Literal["case_started"] = "case_started"
    case: str
    repeat: int = 0
    name: str = ""
    input: Any = None
    digest: str = ""
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    origin: Origin | None = None
    reused: str | None = None


@_event
class CaseOutput(_Event):
    """What the function under test returned, and how long it took, in milliseconds; `trace` is what it did."""

    type: Literal["case_output"] = "case_output"
    case: str
    repeat: int = 0
    output: Any = None
    duration_ms: float | None = None
    attempts: int = 1
    usage: Usage | None = None
    truncated: bool = False
    trace: Any = None


@_event
class Scored(_Event):
    """One evaluation of one case; the fields of `core.evaluation.Evaluation`.

    `score` may be a bool where the evaluator is declared as `boolean`.
    """

    __pydantic_config__ = {"strict": True}  # noqa: RUF012 - a text is not a score

    type: Literal["scored"] = "scored"
    case: str
    repeat: int = 0
    evaluator: str
    score: float | bool
    threshold: Threshold | None = None
    metadata: Any = None
    assertions: tuple[Assertion, ...] | None = None
    usage: Usage | None = None


@_event
class Labelled(_Event):
    """What an evaluator said of one case without a score: a category that stands for no number."""

    type: Literal["labelled"] = "labelled"
    case: str
    repeat: int = 0
    evaluator: str
    label: str
    metadata: Any = None
    usage: Usage | None = None


@_event
class Errored(_Event):
    """Something raised, after it had used and done (`trace`) this much. Without a case it concerns the whole suite."""

    type: Literal["errored"] = "errored"
    stage: Literal["task", "evaluator", "suite"]
    error: ErrorInfo
    case: str | None = None
    repeat: int = 0
    evaluator: str | None = None
    usage: Usage | None = None
    trace: Any = None


@_event
class ReviewRequested(_Event):
    """People are to judge: one evaluation of a case, or, without a case, the suite's outputs.

    `contest` holds two outputs of the case, where they are to say which is better.
    """

    type: Literal["review_requested"] = "review_requested"
    name: str
    case: str | None = None
    repeat: int = 0
    evaluator: str | None = None
    assignees: tuple[str, ...] = ()
    rubric: str | None = None
    contest: PairwiseComparison | None = None


@_event
class CaseFinished(_Event):
    """The last word on a case. `unscored` names the evaluators that returned None."""

    type: Literal["case_finished"] = "case_finished"
    case: str
    repeat: int = 0
    unscored: tuple[str, ...] = ()


@_event
class SuiteFinished(_Event):
    """The last word of a suite. `assertion_failed`: its `assert_test` is about to raise.

    `usage` is what belongs to no case of it.
    """

    type: Literal["suite_finished"] = "suite_finished"
    duration_s: float | None = None
    assertion_failed: bool = False
    usage: Usage | None = None


Event: TypeAlias = (
    SuiteStarted
    | CaseStarted
    | CaseOutput
    | Scored
    | Labelled
    | Errored
    | ReviewRequested
    | CaseFinished
    | SuiteFinished
)
