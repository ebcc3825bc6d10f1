"""The end of a run: the last words of its logs, the result, and what is told of it. Not needed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scoregate.core.record import SuiteResult
from scoregate.core.suite_labels import labels
from scoregate.engine.log import EventLog
from scoregate.engine.results import folded, result_of
from scoregate.engine.run_suite import finish
from scoregate.errors import SuiteFailed


def left_out(suite: str) -> SuiteResult:
    """The result of a suite that a filter left out."""
    return SuiteResult(suite, suite, skipped=True)


def concluded(logs: Sequence[EventLog], started: float, *, assert_test: bool, job: Any, alone: bool) -> SuiteResult:
    """The result of a suite that was run.

    Args:
        logs: of its variants. started: a reading of `time.perf_counter`.
        assert_test: raise unless it passed. job: asks people to look at the outputs.
        alone: no host listens, so a summary is printed.

    Raises:
        SuiteFailed: `assert_test` is set and the suite did not pass.
    """
    for log in logs:
        if job is not None:
            _ask(log, job)
        failed = assert_test and not replace(folded(log), complete=True).passed
        finish(log, started, assertion_failed=failed)
    result = _result(logs)
    if alone or assert_test:
        from scoregate.engine.printing import print_text
        from scoregate.testing.summary import summary

        if alone:
            print_text(summary(result))
        if assert_test and not result.passed:
            raise SuiteFailed(summary(result))
    return result


def _ask(log: EventLog, job: Any) -> None:
    from scoregate.testing.reviews import CreateHumanReviewJob

    if isinstance(job, CreateHumanReviewJob):
        log.emit("review_requested", name=job.name, assignees=job.assignees, rubric=job.rubric_id)


def _result(logs: Sequence[EventLog]) -> SuiteResult:
    if len(logs) == 1:
        return result_of(logs[0])
    results = [folded(log) for log in logs]
    named = tuple(replace(result, label=label) for result, label in zip(results, labels(results), strict=True))
    return SuiteResult(results[0].id, results[0].id, results[0].origin, complete=True, variants=named)
