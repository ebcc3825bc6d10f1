"""The way in: run a test suite, or report the results of one that was run elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from scoregate.engine.environment import events_folder, selection
from scoregate.engine.run_suite import run_suite
from scoregate.engine.sync import run_sync
from scoregate.engine.trial import CURRENT
from scoregate.testing.definition import define
from scoregate.testing.models import BaseTestEvaluator
from scoregate.testing.run_manager import RunManager

if TYPE_CHECKING:
    from scoregate.core.record import SuiteResult
    from scoregate.testing.models import CreateHumanReviewJob

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
) -> SuiteResult:
    """Run every test case through `fn`, and every output through the evaluators.

    What user code raises is recorded and ends nothing but its own case or evaluation. So is what is wrong with the
    suite itself (no cases, hashes or ids twice …): it is named in the result's `errors`, and the rest is run.

    Args:
        id: the suite's name, the same for its lifetime.
        test_cases: what `fn` is called with, one by one.
        fn: the function under test, sync (it runs in a worker thread) or async.
        evaluators: instances of `BaseTestEvaluator`.
        max_test_case_concurrency: how many cases are in `fn` and the hook at once.
        before_evaluators_hook: called with case and output; what it returns, unless None, reaches the evaluators as
            the keyword `hook_results`.
        grid_search_params: lists of values by name; the suite is run once for each combination.
        human_review_job: asks people to look at the outputs.
        retry_count: how often `fn` is tried again after a time-out, a broken connection or a server's error.
        test_case_hash: names of the fields, or a function of the case, that identify a case without a `hash` method.
        assert_test: raise when a case fails or errs, or when nothing could be measured.
        timeout: seconds after which a case is given up. A sync `fn` cannot be stopped: its thread is left behind.

    Returns:
        The result, lazy over its cases; for a grid search it has `variants`.

    Raises:
        SuiteFailed: `assert_test` is set and the suite did not pass.
    """
    asked = selection()
    if not asked.includes(str(id)):
        from scoregate.testing.conclusion import left_out

        return left_out(str(id))
    started, folder = perf_counter(), events_folder()
    suite = define(
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
        selection=asked,
    )
    logs = run_sync(partial(run_suite, suite, folder, reuses=True), apart=suite.limits.timeout_s is not None)
    from scoregate.testing.conclusion import concluded

    return concluded(logs, started, assert_test=assert_test, job=human_review_job, alone=folder is None)


def grid_search_ctx() -> Mapping[str, Any] | None:
    """The parameters of the combination that is running here; None outside a grid search."""
    trial = CURRENT.get()
    return None if trial is None else trial.params
