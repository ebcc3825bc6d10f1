"""Runs of test sets as the store keeps them: begun, and with what came of each test."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from scoregate.core.case import CaseResult
from scoregate.engine.environment import events_folder, selection
from scoregate.entities.execution.asked import Asked
from scoregate.entities.execution.executing import Course
from scoregate.entities.execution.outcomes import error_of, measured, status_of
from scoregate.enums import RunStatus
from scoregate.errors import StoreError
from scoregate.store import TEST_RUNS, Store
from scoregate.store.heads import free_id
from scoregate.store.test_runs import StoredTestResult, StoredTestRun, put_results

Outcomes = Iterable[tuple[Asked, CaseResult]]


def executed(
    run: StoredTestRun, suite: str, course: Callable[[], Course], *, store: Store, title: str | None = None
) -> StoredTestRun | None:
    """Run a set against an endpoint, and keep what came of it; None where the environment leaves its suite out.

    Args:
        run: what is known of it before. suite: what the suite is called. course: makes what can begin.
        title: what people call the run.

    Raises:
        StoreError: it could not be written; under a host, which has its own record, that is a warning.
    """
    if not selection().includes(suite):
        return None
    prepared = course()
    name = title or f"{suite}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid4().hex[:6]}"
    run = run.model_copy(update={"name": name, "created_at": datetime.now(UTC)})
    begun = _begun(store, run)
    outcomes = prepared.run(title)
    return _ended(store, begun, outcomes, prepared.metrics) if begun else run.model_copy(update=_counted(outcomes))


def _begun(store: Store, run: StoredTestRun) -> StoredTestRun | None:
    """The run in the store; None where a host has to do without that."""
    try:
        with store.writing() as writer:
            named = run.model_copy(update={"id": free_id(store, TEST_RUNS, run.name)})
            writer.update(TEST_RUNS, (named.id,), lambda _: [named])
    except StoreError as error:
        if events_folder() is None:
            raise
        warnings.warn(f"the results are not kept in the store: {error}", UserWarning, stacklevel=2)
        return None
    return named


def _ended(store: Store, run: StoredTestRun, outcomes: Outcomes, metrics: Mapping[str, Any]) -> StoredTestRun:
    counts: Counter[str] = Counter()
    with store.writing() as writer:
        put_results(writer, run.id, _results(run.id, outcomes, metrics, counts))
        done = run.model_copy(update={**_summary(counts), "completed_at": datetime.now(UTC)})
        writer.update(TEST_RUNS, (run.id,), lambda _: [done])
    return done


def _counted(outcomes: Outcomes) -> dict[str, Any]:
    return _summary(Counter(status_of(case) for _, case in outcomes))


def _results(
    run: str, outcomes: Outcomes, metrics: Mapping[str, Any], counts: Counter[str]
) -> Iterator[StoredTestResult]:
    for test, case in outcomes:
        status = status_of(case)
        counts[status] += 1
        yield StoredTestResult(
            id=str(uuid4()),
            test_run_id=run,
            test_id=test.id,
            prompt_id=test.prompt.id if test.prompt else None,
            status=status,
            test_output=case.output,
            test_metrics=measured(case, metrics),
            execution_time=case.duration_ms,
            metadata=_beside(case),
        )


def _beside(case: CaseResult) -> dict[str, Any]:
    """What else there is to know of a result, by which it can be scored once more."""
    error = error_of(case)
    told = {
        "error": None if error is None else f"{error.type}: {error.message}",
        "unanswered": any(each.evaluator is None for each in case.errors),
        "beside": case.trace,
    }
    return {"case": case.hash, **{name: value for name, value in told.items() if value}}


def _summary(counts: Counter[str]) -> dict[str, Any]:
    total, errors = counts.total(), counts["Error"]
    judged = total - errors
    whole = RunStatus.PARTIAL if errors else RunStatus.COMPLETED
    return {
        "status": (whole if judged else RunStatus.FAILED).value,
        "test_count": total,
        "pass_rate": counts["Pass"] / judged if judged else None,
    }
