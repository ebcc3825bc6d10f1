"""A suite as the engine runs it: live objects, never serialised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, HumanReviewField, Origin
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import is_positive_number, is_whole_number

TASK = "task"
"""The parameter of a variant that names its task."""
TARGET = "target"
"""The parameter that names what a suite ran against: the endpoint of a test set, the agent of a test config."""


class Case(NamedTuple):
    """The input of the function under test, with a hash that identifies the case in all runs."""

    hash: str
    value: Any
    repeats: int = 1


class Description(NamedTuple):
    """A case in the record.

    Attributes:
        name: a readable name.
        body: the input, with a JSON form.
        digest: the digest of the definition, which may change under the same hash.
        cluster: the name of the group of related cases.
        origin: the line of a file that the case was read from.
        dataset_item_id: the id of the item of a dataset that the case was made from.
        review_inputs: the input as reviewers see it.
    """

    name: str
    body: Any
    digest: str = ""
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    origin: Origin | None = None
    dataset_item_id: str | None = None
    review_inputs: tuple[HumanReviewField, ...] = ()


class Scorer(NamedTuple):
    """An evaluator: `score(case, output)` returns an Evaluation or None; `max_concurrency` calls at a time."""

    info: EvaluatorInfo
    score: Callable[..., Any]
    max_concurrency: int = 10


class RunLimits(NamedTuple):
    """The limits of running a suite.

    Attributes:
        max_case_concurrency: the number of cases at a time.
        retries: the number of retries after a transient error.
        timeout_s: the time limit of a case, in seconds.
        scoring_s: the time that scorers may take while no case is in the function under test, in seconds; afterwards
            the run is cancelled.
    """

    max_case_concurrency: int = 10
    retries: int = 0
    timeout_s: float | None = None
    scoring_s: float | None = None


def read_limits(
    concurrency: Any,
    retries: Any,
    timeout: Any,
    problems: list[str],
    *,
    names: tuple[str, str],
    show: Callable[[object], str] = repr,
) -> RunLimits:
    """Read the limits that a user gives. A wrong one has its default.

    Args:
        concurrency: the number of cases at a time.
        retries: the number of retries.
        timeout: the time limit of a case, in seconds, or None.
        problems: gets a line for each wrong limit.
        names: the names of the first two arguments in the API.
        show: formats a wrong value.
    """
    if not is_whole_number(concurrency, 1):
        problems.append(f"{names[0]} must be a whole number of at least 1, not {show(concurrency)}")
        concurrency = 10
    if not is_whole_number(retries, 0):
        problems.append(f"{names[1]} must be a whole number of at least 0, not {show(retries)}")
        retries = 0
    if timeout is not None and not is_positive_number(timeout):
        problems.append(f"timeout must be a number of seconds over 0, not {show(timeout)}")
        timeout = None
    return RunLimits(concurrency, retries, timeout)


@record
class Suite:
    """Cases, the function under test, and the evaluators of its outputs.

    Attributes:
        describe: returns a case as it is recorded.
        output_form: returns an output as it is recorded.
        conclusion: an evaluator that runs after all others.
        trace_form: returns the steps of an output as they are recorded.
        review_form: returns an output as reviewers see it.
        duration_form: returns how many milliseconds an output took that was made before, None if unknown; by default
            `task` is measured.
        hook: runs before the evaluators; they get its result as `hook_results`.
        limits: the limits of running the suite.
        origin: where the suite is defined.
        variants: the parameters of a grid search or the names of tasks; the suite runs once for each.
        tasks: the functions under test by the variants' parameter `task`; empty if `task` runs all variants.
        problems: the errors of the suite's definition.
        message: the title of the run.
        total: of a partial run, the number of trials of all cases; None if all run.
    """

    id: str
    cases: Sequence[Case]
    task: Callable[[Any], Any]
    describe: Callable[[Case], Description]
    output_form: Callable[[Any], Any]
    scorers: Sequence[Scorer] = ()
    conclusion: Scorer | None = None
    trace_form: Callable[[Any], Any] | None = None
    review_form: Callable[[Any], tuple[HumanReviewField, ...]] | None = None
    duration_form: Callable[[Any], float | None] | None = None
    hook: Callable[[Any, Any], Any] | None = None
    limits: RunLimits = RunLimits()
    origin: Origin | None = None
    variants: Sequence[Mapping[str, Any] | None] = (None,)
    tasks: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    problems: Sequence[ErrorInfo] = ()
    message: str | None = None
    total: int | None = None

    @property
    def evaluators(self) -> tuple[Scorer, ...]:
        """All evaluators, the conclusion last."""
        return (*self.scorers, self.conclusion) if self.conclusion else tuple(self.scorers)

    @property
    def trials(self) -> int:
        """The number of calls of the function under test in one variant, without retries."""
        return sum(case.repeats for case in self.cases)
