"""Run a test suite, or report the results of one that ran elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from scoregate.core.suite import Suite
from scoregate.engine.driver import run_to_end
from scoregate.engine.environment import Selection
from scoregate.engine.event_log import EventLog
from scoregate.engine.script_front import ScriptFront
from scoregate.engine.trial import CURRENT
from scoregate.testing.models import BaseTestEvaluator, CreateHumanReviewJob
from scoregate.testing.run_manager import RunManager
from scoregate.testing.suite import build_suite

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult

CaseT = TypeVar("CaseT")

__all__ = ["RunManager", "grid_search_ctx", "run_test_suite"]


def run_test_suite(
    id: str,  # noqa: A002
    test_cases: Iterable[CaseT],
    fn: Callable[[CaseT], Any],
    evaluators: Iterable[BaseTestEvaluator[CaseT, Any]] | None = None,
    max_test_case_concurrency: int = 10,
    before_evaluators_hook: Callable[[CaseT, Any], Any] | None = None,
    grid_search_params: Mapping[str, Sequence[Any]] | None = None,
    human_review_job: CreateHumanReviewJob | None = None,
    retry_count: int = 0,
    *,
    test_case_hash: Sequence[str] | Callable[[CaseT], str] | None = None,
    assert_test: bool = False,
    timeout: float | None = None,
) -> EvalResult:
    """Run every test case through `fn`, and every output through the evaluators.

    An exception in user code is recorded and ends only its own case or evaluation. Problems of the suite itself (no
    cases, duplicate hashes or ids …) are in the result's `errors`, and the rest of the suite runs.

    Args:
        id: the suite's name, which must not change.
        test_cases: the arguments of `fn`, one per call.
        fn: the function under test, sync (it runs in a worker thread) or async.
        evaluators: instances of `BaseTestEvaluator`.
        max_test_case_concurrency: how many cases are in `fn` and the hook at once.
        before_evaluators_hook: called with case and output; evaluators get its result, unless None, as the keyword
            `hook_results`.
        grid_search_params: lists of values by name; the suite runs once for each combination.
        human_review_job: asks people to review the outputs.
        retry_count: how often `fn` is called again after a time-out, a broken connection or a server's error.
        test_case_hash: names of the fields, or a function of the case, that identify a case without a `hash` method.
        assert_test: raise if a case fails or has an error, or if nothing could be measured.
        timeout: seconds until a case is cancelled. A sync `fn` cannot be stopped: its thread goes on.

    Returns:
        The result, which reads its cases on access; for a grid search it has `variants`. If the file is run by itself
        and no case of the suite has a result, the process ends with exit code 3.

    Raises:
        SuiteFailed: `assert_test` is set and the suite did not pass.
    """
    build = partial(
        build_suite,
        id,
        test_cases,
        fn,
        evaluators=evaluators,
        max_test_case_concurrency=max_test_case_concurrency,
        before_evaluators_hook=before_evaluators_hook,
        grid_search_params=grid_search_params,
        human_review_job=human_review_job,
        retry_count=retry_count,
        test_case_hash=test_case_hash,
        timeout=timeout,
    )
    return run_to_end(str(id), _SuiteFront(build, assert_test=assert_test, job=human_review_job))


class _SuiteFront(ScriptFront):
    def __init__(self, build: Callable[[Selection], Suite], *, assert_test: bool, job: Any) -> None:
        super().__init__(build, assert_test=assert_test)
        self._job = job

    def end_log(self, log: EventLog) -> bool:
        """Ask for the review, unless the job is invalid, which is a problem of the suite."""
        if isinstance(job := self._job, CreateHumanReviewJob):
            log.emit("review_requested", name=job.name, assignees=job.assignees, rubric=job.rubric_id)
        return super().end_log(log)


def grid_search_ctx() -> Mapping[str, Any] | None:
    """The parameters of the current combination; None outside a grid search."""
    trial = CURRENT.get()
    return None if trial is None else trial.params
