"""Report a run whose cases run elsewhere: start, add results, end."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic

from scoregate.engine.environment import events_folder
from scoregate.engine.environment import run_message as environment_message
from scoregate.engine.errors import make_error_info
from scoregate.engine.event_log import EventLog
from scoregate.engine.exit_status import is_called_by_script
from scoregate.engine.imports import caller_origin
from scoregate.engine.run import finish_suite
from scoregate.engine.suite_names import claim_name
from scoregate.engine.trial import emit_case_started, serialize_output
from scoregate.kernel.types.evaluation import require_number
from scoregate.kernel.types.suite import Case
from scoregate.testing.models import CreateHumanReviewJob, EvaluationWithId, OutputType, TestCaseType
from scoregate.testing.suite import check_hash, describe_case, make_hasher, read_review_fields

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult


class RunManager(Generic[TestCaseType, OutputType]):
    """One run of a suite, reported step by step; every method has an async version.

    Args:
        test_id: the suite's id.
        message: the title of the run; if not given, that of the environment.

    Attributes:
        run_id: identifies the run; None before `start`.

    Raises:
        TypeError: the id or the message is not a string.
    """

    def __init__(self, test_id: str, message: str | None = None) -> None:
        if not isinstance(test_id, str) or not isinstance(message, str | None):
            raise TypeError(f"test_id and message must be strings, not {test_id!r:.100}, {message!r:.100}")
        self.test_id = test_id
        self.message = message or environment_message()
        self.run_id: str | None = None
        self._log: EventLog | None = None
        self._started = 0.0
        self._ended = False
        self._repeats: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)

    def start(self) -> None:
        """Start the run."""
        folder, origin = events_folder(), caller_origin()
        self._log, self._started = EventLog(self.test_id, folder), perf_counter()
        from uuid import uuid4  # it imports `platform`, and other suites need neither

        self.run_id = str(uuid4())
        self._log.emit("suite_started", origin=origin, message=self.message)
        for problem in claim_name(self.test_id, origin, folder, is_main=is_called_by_script()):
            self._log.emit("errored", stage="suite", error=problem)

    def add_result(
        self,
        test_case: TestCaseType,
        output: OutputType,
        test_case_duration_ms: float | None = None,
        evaluations: Iterable[EvaluationWithId] | None = None,
    ) -> None:
        """Add a case with its output and evaluations; the same case again is a repeat.

        Args:
            test_case: the case, with a method `hash`.
            output: its output.
            test_case_duration_ms: how long the case took, in milliseconds; None if it is unknown.
            evaluations: its evaluations.

        Raises:
            ValueError: the run was not started, or has ended.
            TypeError: the case has no hash, or an argument is of another type; nothing was added.
        """
        log = self._open("adding results")
        given = list(evaluations or ())
        for evaluation in given:
            if not isinstance(evaluation, EvaluationWithId):
                raise TypeError(f"evaluations must be a list of EvaluationWithId, not of {type(evaluation).__name__}")
        if test_case_duration_ms is not None:
            require_number(test_case_duration_ms, "test_case_duration_ms")
        case = Case(check_hash(make_hasher(None)(test_case)), test_case)
        key: dict[str, Any] = {"case": case.hash, "repeat": next(self._repeats[case.hash])}
        try:
            emit_case_started(log, key, describe_case(case))
            fields = {"review_outputs": shown} if (shown := read_review_fields(output)) else {}
            log.emit("case_output", output=serialize_output(output), duration_ms=test_case_duration_ms, **fields, **key)
        except Exception as error:  # a case or an output without a JSON form
            log.emit("errored", stage="task", error=make_error_info(error), **key)
        for evaluation in given:
            _emit_score(log, evaluation, key)
        log.emit("case_finished", **key)

    def create_human_review_job(self, assignee_email_address: str | list[str], name: str) -> None:
        """Ask people to review the outputs, before or after the end of the run.

        Args:
            assignee_email_address: the reviewers.
            name: the job's name.

        Raises:
            ValueError: the run was not started.
        """
        job = CreateHumanReviewJob(assignee_email_address, name)
        self._started_log("creating a human review job").emit("review_requested", name=name, assignees=job.assignees)

    def end(self) -> EvalResult:
        """End the run.

        Raises:
            ValueError: the run was not started, or has ended.
        """
        from scoregate.engine.results import make_result

        log = self._open("ending it")
        self._ended = True
        finish_suite(log, self._started)
        return make_result([log])

    async def async_start(self) -> None:
        """Start the run; see `start`."""
        self.start()

    async def async_add_result(
        self,
        test_case: TestCaseType,
        output: OutputType,
        test_case_duration_ms: float | None = None,
        evaluations: Iterable[EvaluationWithId] | None = None,
    ) -> None:
        """Add a case; see `add_result`."""
        self.add_result(test_case, output, test_case_duration_ms, evaluations)

    async def async_create_human_review_job(self, assignee_email_address: str | list[str], name: str) -> None:
        """Ask people to review the outputs; see `create_human_review_job`."""
        self.create_human_review_job(assignee_email_address, name)

    async def async_end(self) -> EvalResult:
        """End the run; see `end`."""
        return self.end()

    def _open(self, doing: str) -> EventLog:
        log = self._started_log(doing)
        if self._ended:
            raise ValueError("You cannot add results to an ended run.")
        return log

    def _started_log(self, doing: str) -> EventLog:
        if self._log is None:
            raise ValueError(f"You must start the run with `start()` before {doing}.")
        return self._log


def _emit_score(log: EventLog, given: EvaluationWithId, key: dict[str, Any]) -> None:
    name = str(given.id)
    try:
        evaluation = given.evaluation()
        log.emit(
            "scored",
            evaluator=name,
            score=evaluation.score,
            threshold=evaluation.threshold,
            metadata=evaluation.metadata,
            assertions=evaluation.assertions,
            **key,
        )
    except Exception as error:  # a score out of range, metadata without a JSON form
        log.emit("errored", stage="evaluator", evaluator=name, error=make_error_info(error), **key)
