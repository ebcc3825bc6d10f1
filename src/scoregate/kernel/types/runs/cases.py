"""The results of cases: one trial with its input, output, evaluations and errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from scoregate.kernel.types.evaluation import Evaluation, Label, Usage
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo, HumanReviewField, Origin, PairwiseComparison
from scoregate.kernel.types.records import record


class Status(StrEnum):
    """The status of a case. A failure is certain, so `failed` wins over `errored`.

    `scored`: there are labels, or scores without a threshold.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    SCORED = "scored"
    UNSCORED = "unscored"


STATUSES = tuple(Status)


class CaseKey(NamedTuple):
    """The hash of a case and the number of its repeat, from 0."""

    hash: str
    repeat: int = 0


@record
class CaseError:
    """An error of one trial.

    Attributes:
        error: the exception.
        evaluator: the evaluator that raised; None if the function under test did.
        usage: the usage of model calls before the error.
    """

    error: ErrorInfo
    evaluator: str | None = None
    usage: Usage | None = None

    @property
    def lacks_scale(self) -> bool:
        """Whether it replaces a score outside [0, 1] without a scale, which affects only the evaluator."""
        return self.evaluator is not None and self.error.type == NO_SCALE


@dataclass(slots=True)
class CaseResult:
    """One trial of one case.

    Attributes:
        suite: the index of the suite in the run.
        hash: the hash that identifies the case.
        repeat: the number of the trial, from 0.
        name: a readable name.
        input: the input of the function under test.
        output: its output.
        truncated: whether the output was truncated.
        duration_ms: the duration of the function under test, in milliseconds.
        attempts: the number of calls, with retries.
        digest: the digest of the case's definition.
        tags: the tags of the case.
        cluster: the name of the group of related cases.
        evaluations: the scores, by evaluator.
        errors: the errors of the function under test and of evaluators.
        unscored: the evaluators that returned None.
        pending: the evaluators that wait for a review.
        usage: the usage of the function under test.
        trace: the steps of the function under test.
        labels: the labels that evaluators gave instead of scores, by evaluator.
        origin: the line of a file that the case was read from.
        contests: the outputs that people choose between, by pending evaluator.
        reused: the id of the earlier run that measured the trial; None if this run did.
        dataset_item_id: the id of the item of a dataset that the case was made from.
        review_inputs: the input as reviewers see it; empty for the fields of `input`.
        review_outputs: the output as reviewers see it; empty for the fields of `output`.
    """

    suite: int
    hash: str
    repeat: int = 0
    name: str = ""
    input: Any = None
    output: Any = None
    truncated: bool = False
    duration_ms: float | None = None
    attempts: int = 1
    digest: str = ""
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    evaluations: dict[str, Evaluation] = field(default_factory=dict)
    errors: list[CaseError] = field(default_factory=list)
    unscored: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    usage: Usage | None = None
    trace: Any = None
    labels: dict[str, Label] = field(default_factory=dict)
    origin: Origin | None = None
    contests: dict[str, PairwiseComparison] = field(default_factory=dict)
    reused: str | None = None
    dataset_item_id: str | None = None
    review_inputs: tuple[HumanReviewField, ...] = ()
    review_outputs: tuple[HumanReviewField, ...] = ()

    @property
    def key(self) -> CaseKey:
        """The key that identifies the trial in a suite."""
        return CaseKey(self.hash, self.repeat)

    @property
    def expected(self) -> Any:
        """The field `expected`, or `expected_output`, of the input; None without one."""
        fields = self.input if isinstance(self.input, dict) else {}
        return fields.get("expected", fields.get("expected_output"))

    @property
    def scores(self) -> dict[str, float]:
        """The scores, by evaluator."""
        return {name: evaluation.score for name, evaluation in self.evaluations.items()}

    @property
    def reasons(self) -> dict[str, str]:
        """The reasons of scores that have one, and the errors; those of the function under test are named `task`."""
        details = ((name, evaluation.metadata) for name, evaluation in self.evaluations.items())
        reasons = {name: str(each["reason"]) for name, each in details if isinstance(each, dict) and each.get("reason")}
        errors = {each.evaluator or "task": f"{each.error.type}: {each.error.message}" for each in self.errors}
        return {**reasons, **errors}

    @property
    def status(self) -> Status:
        """The status over all evaluations and errors."""
        has_passed = False
        for each in self.evaluations.values():
            if (limit := each.threshold) is not None and (passed := limit.holds(each.score)) is not None:
                if not passed:
                    return Status.FAILED
                has_passed = True
        if self.errors and not all(error.lacks_scale for error in self.errors):
            return Status.ERRORED
        if has_passed:
            return Status.PASSED
        return Status.SCORED if self.evaluations or self.labels else Status.UNSCORED
