"""Runs of test sets in the store: the run, a result for each test, and answers of earlier runs."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from scoregate.enums import RunStatus
from scoregate.errors import EntityError, StoreError
from scoregate.execution.cases import TestLike, make_cases
from scoregate.execution.conversation import Answer
from scoregate.execution.suite import ExecutionFront, Prepare
from scoregate.kernel.types.conversation import Conversation, Reply
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.case_means import count_verdicts
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.suite import Suite
from scoregate.metrics import Metric
from scoregate.store import TEST_RUNS, Store
from scoregate.store.lookup import list_documents, unused_id
from scoregate.store.test_runs import Outcome, StoredTestResult, StoredTestRun, read_results, write_results

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult

_STATUSES: Mapping[Status, Outcome] = {Status.PASSED: "Pass", Status.FAILED: "Fail"}
_UNDECIDED = ErrorInfo("MetricError", "no metric says whether the test passes")
_FINISHED = ("Completed", "Partial", "Failed")


class StoredRun(ExecutionFront):
    """A run of a test set, whose results are stored.

    Args:
        prepare: makes the suite of the selected tests, and selects their metrics.
        run: the ids of the test set and the endpoint.
        store: where the run is stored.
        name: the name of the run; by default from the suite and the time.

    Attributes:
        finished: the run with its results; None if it was left out.
    """

    def __init__(self, prepare: Prepare, run: StoredTestRun, *, store: Store, name: str | None = None) -> None:
        super().__init__(prepare, name)
        self._run, self._store = run, store
        self._is_stored = True
        self.finished: StoredTestRun | None = None

    def start(self, suite: Suite, *, alone: bool) -> AbstractContextManager[Callable[[], None] | None]:
        """Add the run to the store.

        Raises:
            StoreError: it cannot be written. Under a host, which has its own record, this is a warning.
        """
        now = datetime.now(UTC)
        unique = self.title or f"{suite.id}-{now:%Y%m%d-%H%M%S}-{uuid4().hex[:6]}"
        run = self._run = self._run.model_copy(update={"name": unique, "created_at": now})
        try:
            with self._store.open_writer() as writer:
                self._run = run.model_copy(update={"id": unused_id(self._store, TEST_RUNS, run.name)})
                writer.update(TEST_RUNS, (self._run.id,), lambda _: [self._run])
        except StoreError as error:
            if alone:
                raise
            warnings.warn(f"the results are not stored: {error}", UserWarning, stacklevel=2)
            self._run, self._is_stored = run, False
        return super().start(suite, alone=alone)

    def conclude(self, result: EvalResult, *, alone: bool) -> None:
        """Store the results.

        Raises:
            StoreError: they cannot be written.
        """
        super().conclude(result, alone=alone)
        verdicts, run = _Verdicts(), self._run
        outcomes = verdicts.record(self.outcomes)
        if not self._is_stored:
            deque(outcomes, maxlen=0)
            self.finished = run.model_copy(update=verdicts.summarize())
            return
        with self._store.open_writer() as writer:
            write_results(writer, run.id, _to_stored_results(run.id, outcomes, self.metrics))
            finished = run.model_copy(update={**verdicts.summarize(), "completed_at": datetime.now(UTC)})
            writer.update(TEST_RUNS, (run.id,), lambda _: [finished])
        self.finished = finished


@dataclass(slots=True)
class _Verdicts:
    """The cases that were judged, each with whether it passed, and the number of all results."""

    judged: list[tuple[str, bool]] = field(default_factory=list)
    total: int = 0

    def record(self, outcomes: Iterable[tuple[TestLike, CaseResult]]) -> Iterator[tuple[TestLike, CaseResult]]:
        """Pass on the outcomes, and count them."""
        for test, case in outcomes:
            self.total += 1
            if case.status in _STATUSES:
                self.judged.append((case.hash, case.status is Status.PASSED))
            yield test, case

    def summarize(self) -> dict[str, Any]:
        """The fields of a finished run."""
        status = RunStatus.FAILED
        if self.judged:
            status = RunStatus.PARTIAL if len(self.judged) < self.total else RunStatus.COMPLETED
        return {"status": status.value, "test_count": self.total, "pass_rate": count_verdicts(self.judged).rate}


def _to_stored_results(
    run: str, outcomes: Iterable[tuple[TestLike, CaseResult]], metrics: Mapping[str, Any]
) -> Iterator[StoredTestResult]:
    for test, case in outcomes:
        status = status_of(case)
        error = error_of(case)
        # Rescoring needs these fields, too.
        details = {
            "error": None if error is None else f"{error.type}: {error.message}",
            "unanswered": any(each.evaluator is None for each in case.errors),
            "beside": case.trace,
        }
        yield StoredTestResult(
            id=str(uuid4()),
            test_run_id=run,
            test_id=test.id,
            prompt_id=test.prompt.id if test.prompt else None,
            status=status,
            test_output=case.output,
            test_metrics=metric_results(case, metrics),
            execution_time=case.duration_ms,
            metadata={"case": case.hash, **{name: value for name, value in details.items() if value}},
        )


def status_of(case: CaseResult) -> Outcome:
    """Fail if a metric fails, Pass if one passes and none fails, else Error."""
    return _STATUSES.get(case.status, "Error")


def error_of(case: CaseResult) -> ErrorInfo | None:
    """The first error of a test whose status is Error."""
    if case.status in _STATUSES:
        return None
    return next((each.error for each in case.errors), _UNDECIDED)


def metric_results(case: CaseResult, metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """The result of each metric; None if no metric ran.

    Args:
        case: the result of the test.
        metrics: the metrics by name.
    """
    results = {name: _to_metric_result(evaluation) for name, evaluation in case.evaluations.items()}
    for each in case.errors:
        if each.evaluator is not None:
            failed = {"error": each.error.message, "error_type": each.error.type}
            results[each.evaluator] = {"score": None, "reason": "", "is_successful": False, **failed}
    if not results:
        return None
    for name, result in results.items():
        metric = metrics.get(name)
        info = {} if metric is None else {"class_name": type(metric).__name__}
        if isinstance(metric, Metric):
            info |= {"description": metric.description, "score_type": metric.score_type, **metric.parameters()}
        results[name] = {"name": name, **result, **info}
    return {"execution_time": case.duration_ms, "metrics": results}


def _to_metric_result(evaluation: Evaluation) -> dict[str, Any]:
    more = evaluation.metadata if isinstance(evaluation.metadata, Mapping) else {}
    threshold = evaluation.threshold
    bounds = (threshold.gte, threshold.gt, threshold.lte, threshold.lt) if threshold else ()
    return {
        "score": more.get("value", evaluation.score),
        "reason": str(more.get("reason", "")),
        "is_successful": evaluation.passed,
        "threshold": next((bound for bound in bounds if bound is not None), None),
    }


def find_last_run(
    store: Store, test_set: str, endpoint: str, statuses: Sequence[str] = _FINISHED
) -> StoredTestRun | None:
    """The newest run of a test set against an endpoint with one of these statuses; None if there is none.

    Raises:
        StoreError: a run cannot be read.
    """
    runs = (run for run in _find_runs(store, test_set, endpoint) if run.status in statuses)
    return max(runs, key=lambda run: run.created_at.timestamp() if run.created_at else 0.0, default=None)


def find_run_to_rescore(store: Store, test_set: str, endpoint: str, wanted: str | None) -> StoredTestRun:
    """A run by its id or name; by default the newest run with answers.

    Raises:
        EntityError: there is no such run.
        StoreError: a run cannot be read.
    """
    if wanted is None:
        last_run = find_last_run(store, test_set, endpoint, ("Completed", "Partial"))
        problem = "No completed test run found for this test set and endpoint"
    else:
        runs = list(_find_runs(store, test_set, endpoint))
        matches = [run for run in runs if run.id == wanted]
        matches += [run for run in runs if run.name.casefold() == wanted.casefold()]
        last_run = next(iter(matches), None)
        problem = f"there is no test run {wanted!r:.200} of this test set and endpoint"
    if last_run is None:
        raise EntityError(problem, advice="Execute the test set first.")
    return last_run


def _find_runs(store: Store, test_set: str, endpoint: str) -> Iterator[StoredTestRun]:
    return (
        run for run in list_documents(store, TEST_RUNS) if (run.test_set_id, run.endpoint_id) == (test_set, endpoint)
    )


class RecordedAnswers:
    """The answers of a stored run, as a task that does not call the endpoint."""

    def __init__(self, store: Store, run: StoredTestRun, tests: Sequence[TestLike]) -> None:
        results = {str(each.metadata.get("case")): each for each in read_results(store, run.id)}
        self._results = {id(case.value): results.get(case.hash) for case in make_cases(tests, 1)}
        self._run = run.id

    async def run(self, test: TestLike) -> Answer:
        """The recorded answer to a test.

        Raises:
            EntityError: the run has no answer to the test.
        """
        result = self._results.get(id(test))
        if result is None or result.metadata.get("unanswered"):
            why = "the test was not in it" if result is None else str(result.metadata.get("error", ""))
            raise EntityError(f"the run {self._run!r:.100} has no answer to this test: {why:.500}")
        details: Mapping[str, Any] = result.metadata.get("beside") or {}
        return Conversation.read(result.test_output) or Reply(result.test_output, **details)
