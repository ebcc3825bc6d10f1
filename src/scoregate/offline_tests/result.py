"""What an offline test gives back: a run, its rows, and what each judge said of them; nothing is cut short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scoregate.core.record import SuiteResult
from scoregate.core.trace import Trace
from scoregate.datasets import Example
from scoregate.judges import JudgeResult

Status = Literal["completed", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class ScorerData:
    """What one version of a judge said of a row.

    `value` is "Yes" or "No", a category, or a number from `minimum_score_range` to `maximum_score_range`; None where
    `error` says what kept it from being made. `success` is the row's; None where no pass condition was given.
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
        """Why, in the judge's words."""
        return str(self.additional_metadata.get("reason", ""))

    @property
    def version(self) -> str:
        """Of the judge, as in "1.2"; empty where it has none."""
        return str(self.additional_metadata.get("version", ""))


@dataclass(frozen=True, slots=True)
class ScoringResult:
    """One row: an example, what the judges said, and whether the pass condition held.

    `run_duration` is in seconds, from the call of the agent to the last judge's answer; `evaluation_cost` what the
    judges took, in US dollars, None where no price is known. `error` is what the agent or the pass condition raised.
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

    `status` is "error" where no judge gave any result, "skipped" where a filter left the run out. `ui_results_url` is
    the page of the CI run, or the report of the `scoregate run` around this one; None where there is neither.
    `agent_offline_trace_ids` has the traces of the agent by the ids of the examples; `suite` is the record.
    """

    test_run_id: str
    status: Status
    ui_results_url: str | None
    results: list[ScoringResult]
    agent_offline_trace_ids: Mapping[int, str]
    name: str
    suite: SuiteResult = field(repr=False)

    @property
    def passed(self) -> bool | None:
        """Whether every row meets the pass condition, and there is one; None where there is no pass condition."""
        if self.status == "skipped" or (self.results and all(row.success is None for row in self.results)):
            return None
        return self.status == "completed" and bool(self.results) and all(row.success for row in self.results)


def skipped(name: str) -> OfflineTestResult:
    """Of a run that a filter left out."""
    return OfflineTestResult("", "skipped", None, [], {}, name, SuiteResult(name, name, skipped=True))


def scorer_data(result: JudgeResult, name: str, success: bool | None = None) -> ScorerData:
    """What a judge said, as users read it."""
    error, usage, number = result.error, result.usage, result.judge.number
    versions = {} if number is None else {"judge_major_version": number.major, "judge_minor_version": number.minor}
    return ScorerData(
        name,
        result.value,
        result.score_type,
        result.low,
        result.high,
        evaluation_model=usage.model if usage else None,
        error=f"{error.type}: {error.message}" if error else None,
        additional_metadata={**result.metadata(), **versions, "judge_id": result.judge_id},
        id=result.judge_id,
        success=success,
        score=result.score,
    )
