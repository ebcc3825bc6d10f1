"""Report a run whose cases are run elsewhere: start, add results, end."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scoregate.core.evaluation import checked_number
from scoregate.core.suite import Case
from scoregate.engine.environment import events_folder
from scoregate.engine.environment import message as environment_message
from scoregate.engine.errors import error_info
from scoregate.engine.log import EventLog
from scoregate.engine.origin import caller
from scoregate.engine.outputs import output_form
from scoregate.engine.run_suite import finish
from scoregate.testing.cases import checked_hash, describe, hasher

if TYPE_CHECKING:
    from scoregate.core.record import SuiteResult
    from scoregate.testing.elsewhere import EvaluationWithId


class RunManager:
    """One run of a suite, told step by step; every method has an async twin.

    Args:
        test_id: the suite's id.
        message: titles the run where nothing else does.

    Raises:
        TypeError: the id or the message is no string.
    """

    def __init__(self, test_id: str, message: str | None = None) -> None:
        if not isinstance(test_id, str) or not isinstance(message, str | None):
            raise TypeError(f"test_id and message must be strings, not {test_id!r:.100}, {message!r:.100}")
        self.test_id = test_id
        self.message = message or environment_message()
        self._log: EventLog | None = None
        self._started = 0.0
        self._ended = False
        self._repeats: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)

    def start(self) -> None:
        """Begin the run."""
        self._log, self._started = EventLog(self.test_id, events_folder()), perf_counter()
        self._log.emit("suite_started", origin=caller(), message=self.message)

    def add_result(
        self,
        test_case: Any,
        output: Any,
        test_case_duration_ms: float | None = None,
        evaluations: Iterable[EvaluationWithId] | None = None,
    ) -> None:
        """Add a case with its output and evaluations; the same case again counts as a repeat.

        Raises:
            ValueError: the run was not started, or has ended.
            TypeError: the case has no hash, or an argument is of another type; nothing was added.
        """
        log = self._open("adding results")
        given = list(evaluations or ())
        _check(given, test_case_duration_ms)
        case = Case(checked_hash(hasher(None)(test_case)), test_case)
        key: dict[str, Any] = {"case": case.hash, "repeat": next(self._repeats[case.hash])}
        try:
            told = describe(case)
            log.emit(
                "case_started",
                name=told.name,
                input=told.body,
                digest=told.digest,
                tags=told.tags,
                cluster=told.cluster,
                **key,
            )
            log.emit("case_output", output=output_form(output), duration_ms=test_case_duration_ms, **key)
        except Exception as error:  # a case or an output without a JSON form
            log.emit("errored", stage="task", error=error_info(error), **key)
        for evaluation in given:
            _score(log, evaluation, key)
        log.emit("case_finished", **key)

    def create_human_review_job(self, assignee_email_address: str | list[str], name: str) -> None:
        """Ask people to look at the outputs.

        Raises:
            ValueError: the run was not started.
        """
        from scoregate.testing.reviews import CreateHumanReviewJob

        job = CreateHumanReviewJob(assignee_email_address, name)
        self._open("creating a human review job").emit("review_requested", name=name, assignees=job.assignees)

    def end(self) -> SuiteResult:
        """End the run.

        Raises:
            ValueError: the run was not started, or has ended.
        """
        from scoregate.engine.results import result_of

        log = self._open("ending it")
        self._ended = True
        finish(log, self._started)
        return result_of(log)

    async def async_start(self) -> None:
        """As `start`."""
        self.start()

    async def async_add_result(
        self,
        test_case: Any,
        output: Any,
        test_case_duration_ms: float | None = None,
        evaluations: Iterable[EvaluationWithId] | None = None,
    ) -> None:
        """As `add_result`."""
        self.add_result(test_case, output, test_case_duration_ms, evaluations)

    async def async_create_human_review_job(self, assignee_email_address: str | list[str], name: str) -> None:
        """As `create_human_review_job`."""
        self.create_human_review_job(assignee_email_address, name)

    async def async_end(self) -> SuiteResult:
        """As `end`."""
        return self.end()

    def _open(self, doing: str) -> EventLog:
        if self._log is None:
            raise ValueError(f"You must start the run with `start()` before {doing}.")
        if self._ended:
            raise ValueError("You cannot add results to an ended run.")
        return self._log


def _check(evaluations: Sequence[Any], duration_ms: Any) -> None:
    from scoregate.testing.elsewhere import EvaluationWithId

    for evaluation in evaluations:
        if not isinstance(evaluation, EvaluationWithId):
            raise TypeError(f"evaluations must be a list of EvaluationWithId, not of {type(evaluation).__name__}")
    if duration_ms is not None:
        checked_number(duration_ms, "test_case_duration_ms")


def _score(log: EventLog, given: EvaluationWithId, key: dict[str, Any]) -> None:
    name = str(given.id)
    try:
        made = given.evaluation()
        log.emit(
            "scored",
            evaluator=name,
            score=made.score,
            threshold=made.threshold,
            metadata=made.metadata,
            assertions=made.assertions,
            **key,
        )
    except Exception as error:  # a score out of range, metadata without a JSON form
        log.emit("errored", stage="evaluator", evaluator=name, error=error_info(error), **key)
