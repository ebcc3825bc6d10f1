"""The results of offline tests: a run, its rows, and the scores of each row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from scoregate.datasets import Datasets, Example
from scoregate.judges import JudgeResult, JudgesFactory, TestConfigs
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.trace import Trace
from scoregate.offline_tests.traces import Traces

Status = Literal["completed", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class ScorerData:
    """The score of a row by one version of a judge.

    Attributes:
        name: the judge's name.
        value: "Yes" or "No", a category, or a number of the judge's scale; None after an error.
        score_type: "binary", "categorical" or "numeric".
        minimum_score_range: the lowest value of the scale.
        maximum_score_range: the highest value of the scale.
        evaluation_model: the model, if one was asked.
        error: the reason why there is no value.
        additional_metadata: the reason, the judge's version and more.
        id: the judge's id.
        success: whether the row passes; None without a pass condition.
        score: the value in [0, 1]; None if it has none.
    """

    name: str
    value: str | float | None
    score_type: str
    minimum_score_range: float = 0.0
    maximum_score_range: float = 1.0
    evaluation_model: str | None = None
    error: str | None = None
    additional_metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    success: bool | None = None
    score: float | None = None

    @property
    def reason(self) -> str:
        """The judge's reason."""
        return str(self.additional_metadata.get("reason", ""))

    @property
    def version(self) -> str:
        """The judge's version, such as "1.2"; empty without one."""
        return str(self.additional_metadata.get("version", ""))


@dataclass(frozen=True, slots=True)
class ScoringResult:
    """One row: an example, its scores, and the result of the pass condition.

    Attributes:
        scorers_data: the scores of the judges.
        data_object: the example.
        name: the example's name.
        trace_id: the id of the agent's trace.
        run_duration: seconds from the call of the agent to the last judge's answer.
        evaluation_cost: the cost of the judges in US dollars; None if a price is unknown.
        error: the exception of the agent or the pass condition.
        success: whether the row passes; None without a pass condition.
        trace: the agent's trace.
    """

    scorers_data: list[ScorerData]
    data_object: Example
    name: str = ""
    trace_id: str | None = None
    run_duration: float | None = None
    evaluation_cost: float | None = None
    error: str | None = None
    success: bool | None = None
    trace: Trace | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class OfflineTestResult:
    """A run.

    Attributes:
        test_run_id: the run's id.
        status: "error" if no judge gave a result, "skipped" if a filter left the run out.
        ui_results_url: the page of the CI run, or the report of `scoregate run`; None outside both.
        results: the rows.
        agent_offline_trace_ids: the traces of the agent by the ids of the examples.
        name: the run's name.
        suite: the record.
    """

    test_run_id: str
    status: Status
    ui_results_url: str | None
    results: list[ScoringResult]
    agent_offline_trace_ids: Mapping[int | str, str]
    name: str
    suite: SuiteResult = field(repr=False)

    @property
    def passed(self) -> bool | None:
        """Whether there are rows and all of them pass; None without a pass condition."""
        if self.status == "skipped" or (self.results and all(row.success is None for row in self.results)):
            return None
        return self.status == "completed" and bool(self.results) and all(row.success for row in self.results)


def skipped_result(name: str) -> OfflineTestResult:
    """The result of a run that a filter left out."""
    return OfflineTestResult("", "skipped", None, [], {}, name, SuiteResult(name, name, skipped=True))


def to_scorer_data(result: JudgeResult, name: str, success: bool | None = None) -> ScorerData:
    """The result of a judge for users."""
    judge, grade, error, usage = result.judge, result.grade, result.error, result.usage
    number = judge.number
    versions = {} if number is None else {"judge_major_version": number.major, "judge_minor_version": number.minor}
    low, high = judge.scale
    return ScorerData(
        name,
        grade.value,
        judge.score_type,
        low,
        high,
        evaluation_model=usage.model if usage else None,
        error=f"{error.type}: {error.message}" if error else None,
        additional_metadata={**grade.metadata(), **versions, "judge_id": judge.id},
        id=judge.id,
        success=success,
        score=grade.score,
    )


# Called once per example with its fields as keywords; sync or async.
AgentFunction: TypeAlias = Callable[..., Any]
# Called once per row with its fields and its scores.
PassConditionFn: TypeAlias = Callable[[dict[str, Any], list[ScorerData]], bool | Awaitable[bool]]


class Project(Protocol):
    """A client: its datasets, judges and test configs."""

    @property
    def datasets(self) -> Datasets:
        """Its datasets."""

    @property
    def judges(self) -> JudgesFactory:
        """Its judges."""

    @property
    def traces(self) -> Traces:
        """Its traces."""

    @property
    def test_configs(self) -> TestConfigs:
        """Its test configs."""
