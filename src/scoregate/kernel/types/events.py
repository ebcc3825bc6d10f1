"""The events of a running suite: one class per event type, and their union."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias, TypeVar, dataclass_transform

from scoregate.kernel.types.evaluation import Assertion, Threshold, Usage
from scoregate.kernel.types.event_values import (
    SCHEMA_VERSION,
    ErrorInfo,
    EvaluatorInfo,
    HumanReviewField,
    ListedTool,
    Origin,
    PairwiseComparison,
    Setup,
    SuitePart,
)
from scoregate.kernel.types.records import make_record

__all__ = [
    "CaseFinished",
    "CaseOutput",
    "CaseStarted",
    "Errored",
    "Event",
    "Labelled",
    "ReviewRequested",
    "Scored",
    "SuiteFinished",
    "SuiteStarted",
    "ToolCalled",
]

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def _event(cls: type[_T]) -> type[_T]:
    """A record with arguments by name only. To freeze it at run time would double the time to create an event."""
    return make_record(cls, kw_only=True)


@_event
class _Event:
    """The fields of every event.

    Attributes:
        suite: the id of the suite.
        seq: the number of the event in its log.
        time: seconds since the epoch.
        v: the schema version.
    """

    suite: str
    seq: int = 0
    time: float = 0.0
    v: int = SCHEMA_VERSION


@_event
class SuiteStarted(_Event):
    """A suite starts.

    Attributes:
        origin: where the suite is defined.
        evaluators: the evaluators of the suite.
        cases: the number of cases times repeats; None if unknown.
        params: the parameters of the grid search.
        sdk: the SDK that the suite is written with.
        message: the title of the run.
        setup: what another framework ran the suite with; None for other suites.
        part: the part of the cases that runs; None for all of them.
        total: of a partial run, the number of trials of all cases; None if all run.
        concurrency: of a partial run, how many cases run at once at most; None if all run, or if it is unknown.
    """

    type: Literal["suite_started"] = "suite_started"
    origin: Origin | None = None
    evaluators: tuple[EvaluatorInfo, ...] = ()
    cases: int | None = None
    params: Mapping[str, Any] | None = None
    sdk: str | None = None
    message: str | None = None
    setup: Setup | None = None
    part: SuitePart | None = None
    total: int | None = None
    concurrency: int | None = None


@_event
class CaseStarted(_Event):
    """A trial of a case starts.

    Attributes:
        case: the hash of the case.
        repeat: the number of the trial, from 0.
        name: a readable name of the case.
        input: the input of the function under test.
        digest: the digest of the case's definition, which may change under the same hash.
        tags: the tags of the case.
        cluster: the name of the group of related cases.
        origin: the line of a file, such as a table, that the case was read from.
        reused: the id of the earlier run that measured the trial; None if this run does.
        dataset_item_id: the id of the item of a dataset that the case was made from.
        review_inputs: the input as reviewers see it; empty for the fields of `input`.
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
    dataset_item_id: str | None = None
    review_inputs: tuple[HumanReviewField, ...] = ()


@_event
class CaseOutput(_Event):
    """The output of the function under test.

    Attributes:
        case: the hash of the case.
        repeat: the number of the trial, from 0.
        output: the output.
        duration_ms: the duration in milliseconds.
        attempts: the number of calls, with retries.
        usage: the usage of model calls.
        truncated: whether the output was truncated.
        trace: the steps of the function.
        review_outputs: the output as reviewers see it; empty for the fields of `output`.
    """

    type: Literal["case_output"] = "case_output"
    case: str
    repeat: int = 0
    output: Any = None
    duration_ms: float | None = None
    attempts: int = 1
    usage: Usage | None = None
    truncated: bool = False
    trace: Any = None
    review_outputs: tuple[HumanReviewField, ...] = ()


@_event
class ToolCalled(_Event):
    """A tool that the function under test called; it becomes a step of the case's trajectory.

    Attributes:
        case: the hash of the case.
        repeat: the number of the trial, from 0.
        name: the name of the tool.
        arguments: the arguments by name.
        result: the result.
        error: the error message; None without an error.
        duration_ms: the duration in milliseconds.
        tokens: the tokens that the call used.
        agent: the name of the sub-agent that calls; empty for the agent itself.
    """

    type: Literal["tool_called"] = "tool_called"
    case: str
    repeat: int = 0
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str | None = None
    duration_ms: float | None = None
    tokens: int | None = None
    agent: str = ""


@_event
class Scored(_Event):
    """A score of one trial, with the fields of `Evaluation`; a bool if the evaluator is declared as `boolean`."""

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
    """A label of one trial: a category without a number, given instead of a score."""

    type: Literal["labelled"] = "labelled"
    case: str
    repeat: int = 0
    evaluator: str
    label: str
    metadata: Any = None
    usage: Usage | None = None


@_event
class Errored(_Event):
    """An exception of the function under test, an evaluator, or the suite.

    Attributes:
        stage: the code that raised.
        error: the exception.
        case: the hash of the case; None for an error of the whole suite.
        repeat: the number of the trial, from 0.
        evaluator: the evaluator that raised.
        usage: the usage of model calls before the error.
        trace: the steps of the function before the error.
    """

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
    """A request for a review by people.

    Attributes:
        name: the name of the review.
        case: the hash of the case; None for a review of the suite's outputs.
        repeat: the number of the trial, from 0.
        evaluator: the evaluator that requests the review.
        assignees: the people who are asked.
        rubric: the criteria of the review.
        contest: two outputs to compare; None if one output is reviewed.
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
    """A trial is finished. `unscored` are the evaluators that returned None."""

    type: Literal["case_finished"] = "case_finished"
    case: str
    repeat: int = 0
    unscored: tuple[str, ...] = ()


@_event
class SuiteFinished(_Event):
    """A suite is finished.

    Attributes:
        duration_s: the duration in seconds.
        assertion_failed: whether its `assert_test` raises after this event.
        tests_failed: whether the test runner exits with 1 for no other reason than failed tests in the log.
        usage: the usage of model calls that belong to no case.
        tools: the tools of the MCP servers that the suite connected to.
    """

    type: Literal["suite_finished"] = "suite_finished"
    duration_s: float | None = None
    assertion_failed: bool = False
    tests_failed: bool = False
    usage: Usage | None = None
    tools: tuple[ListedTool, ...] = ()


Event: TypeAlias = (
    SuiteStarted
    | CaseStarted
    | CaseOutput
    | ToolCalled
    | Scored
    | Labelled
    | Errored
    | ReviewRequested
    | CaseFinished
    | SuiteFinished
)
