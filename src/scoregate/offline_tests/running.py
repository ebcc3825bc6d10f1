"""Run an offline test to its end: through the engine, with a bar and a table where somebody looks on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from uuid import uuid4

from scoregate.core.metering import total
from scoregate.core.parts import ErrorInfo
from scoregate.engine.environment import events_folder, message, selection
from scoregate.engine.log import EventLog
from scoregate.engine.origin import caller
from scoregate.engine.printing import one_line, print_text
from scoregate.engine.progress import bar
from scoregate.engine.results import result_of
from scoregate.engine.run_suite import finish, run_suite
from scoregate.engine.sync import run_sync
from scoregate.engine.unrun import tell_unrun
from scoregate.errors import JudgmentTestError, MissingExtra
from scoregate.offline_tests.definition import Course, OfflineTest
from scoregate.offline_tests.place import results_url
from scoregate.offline_tests.result import OfflineTestResult, ScoringResult, Status, scorer_data
from scoregate.offline_tests.rows import Attempt
from scoregate.offline_tests.table import show
from scoregate.offline_tests.tracer import OfflineTracer

_LONGEST = 400
_UNTRACED = "The agent was not traced: that needs pip install 'scoregate[traces]'."


def run_test(test: OfflineTest, *, assert_test: bool) -> OfflineTestResult:
    """Run it, record it, show it.

    Raises:
        TimeoutError: the judges took longer than they may; the rows that were finished are in the record.
        JudgmentTestError: `assert_test` is set and a row does not pass, or there is none.
    """
    started, folder, run_id = perf_counter(), events_folder(), str(uuid4())
    course = Course(test, tracer=_tracer(test))
    suite = course.suite(selection(), message=message() or test.title, origin=caller())
    with bar(test.name, suite.trials * len(suite.scorers), shown=folder is None) as course.advance:
        (log,) = run_sync(partial(run_suite, suite, folder), apart=True)
    names = [scorer.info.id for scorer in suite.scorers]
    result = _result(course, log, run_id=run_id, names=names)
    failed = assert_test and not result.passed
    finish(log, started, assertion_failed=failed and not log.given_up)
    if log.given_up:
        raise TimeoutError(f"Test run {run_id} did not complete within {test.limits.scoring_s:g}s")
    if folder is None:
        show(result, notice=_UNTRACED if test.agent and course.tracer is None else "")
    if failed:
        raise JudgmentTestError(_failure(result))
    return result


def tell_missing(name: str) -> None:
    """Record that a run was asked for of a test config that is not there, so that nobody takes it for a success."""
    error = ErrorInfo(
        "JudgmentValidationError",
        f"there is no test config {name!r:.200}",
        advice="Make it first: client.offline_tests.create_config(…), or scoregate config add.",
    )
    if events_folder() is None:
        print_text(one_line(f"{error.message}. {error.advice}", _LONGEST))
    tell_unrun(name, error)


def _result(course: Course, log: EventLog, *, run_id: str, names: Sequence[str]) -> OfflineTestResult:
    attempts = course.attempts
    traces: Mapping[int, str] = {
        each.example.example_id: each.trace_id
        for each in (attempts if course.tracer else ())
        if each.trace_id is not None and each.example.example_id is not None
    }
    rows = [_row(each, names) for each in attempts]
    return OfflineTestResult(
        run_id, _status(attempts), results_url(), rows, dict(traces), _title(course.test, run_id), result_of(log)
    )


def _tracer(test: OfflineTest) -> OfflineTracer | None:
    try:
        return OfflineTracer() if test.agent else None
    except MissingExtra:
        return None


def _title(test: OfflineTest, run_id: str) -> str:
    return test.title or f"{test.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{run_id[:6]}"


def _status(attempts: Sequence[Attempt]) -> Status:
    judged = (result for each in attempts for result in each.results.values())
    return "completed" if any(result.error is None for result in judged) else "error"


def _row(attempt: Attempt, names: Sequence[str]) -> ScoringResult:
    judged = [(name, attempt.results[name]) for name in names if name in attempt.results]
    spent = total(result.usage for _, result in judged if result.usage is not None)
    return ScoringResult(
        [scorer_data(result, name, attempt.success) for name, result in judged],
        attempt.example,
        attempt.example.name,
        attempt.trace_id,
        None if attempt.ended is None else attempt.ended - attempt.started,
        spent.cost if spent else None,
        attempt.error,
        attempt.success,
        attempt.trace,
    )


def _failure(result: OfflineTestResult) -> str:
    if result.status != "completed":
        return f"Test run {result.test_run_id} finished with status {result.status!r}"
    failed = list(_failed(result.results))
    return f"Test run {result.test_run_id} failed its pass condition for {len(failed)} example(s): {failed}"


def _failed(rows: Sequence[ScoringResult]) -> Iterator[int]:
    for number, row in enumerate(rows, 1):
        if not row.success:
            yield row.data_object.example_id or number
