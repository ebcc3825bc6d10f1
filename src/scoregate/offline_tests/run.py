"""Run an offline test, with a progress bar and a table of results on a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from scoregate.engine.driver import Front, run_to_end
from scoregate.engine.environment import Selection, events_folder
from scoregate.engine.event_log import EventLog
from scoregate.engine.results import make_result
from scoregate.engine.run import report_failed_suite
from scoregate.engine.terminal import one_line, print_text, show_progress
from scoregate.errors import JudgmentTestError
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.suite import Suite
from scoregate.kernel.types.usage import sum_usage
from scoregate.offline_tests.results import OfflineTestResult, ScoringResult, Status, skipped_result, to_scorer_data
from scoregate.offline_tests.rows import Attempt
from scoregate.offline_tests.suite import OfflineRun

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult

_MOST_ROWS = 50
_WIDEST_CELL = 40
_MARKS = {True: "passed", False: "failed", None: ""}


def print_result(result: OfflineTestResult, *, notice: str = "") -> None:
    """Print the result as a table, failed rows first."""
    rows = sorted(enumerate(result.results, 1), key=lambda row: row[1].success is not False and row[1].error is None)
    names = list(dict.fromkeys(data.name for row in result.results for data in row.scorers_data))
    cells = [["example", *names, "result"]]
    for number, row in rows[:_MOST_ROWS]:
        scores = {data.name: data for data in row.scorers_data}
        example = row.data_object
        first = next((value for value in example.properties.values() if isinstance(value, str)), "")
        values = [_value_text(scores[name].value, scores[name].error) if name in scores else "" for name in names]
        outcome = f"{_MARKS[row.success]} {row.error or ''}".strip()
        cells.append([f"{_label(row, number)} {_shorten(row.name or first)}", *values, _shorten(outcome)])
    passed = "" if result.passed is None else f", {sum(bool(row.success) for row in result.results)} passed"
    lines = [f"{_shorten(result.name)}: {result.status}, {len(rows)} rows{passed}"]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row_cells, widths, strict=True)).rstrip()
        for row_cells in cells
    ]
    if len(rows) > _MOST_ROWS:
        lines.append(f"… and {len(rows) - _MOST_ROWS} more")
    lines += [result.ui_results_url] if result.ui_results_url else []
    lines += [notice] if notice else []
    print_text("\n".join(lines))


def _label(row: ScoringResult, number: int) -> int:
    """The example's id in its dataset, else its number in the run."""
    own = row.data_object.example_id
    return own if isinstance(own, int) else number


def _value_text(value: str | float | None, error: str | None) -> str:
    if error is not None:
        return _shorten(error)
    return f"{value:g}" if isinstance(value, int | float) else _shorten(str(value))


def _shorten(text: str) -> str:
    return one_line(text, _WIDEST_CELL)


REPORT_VARIABLE = "SCOREGATE_REPORT"


def results_url(environ: Mapping[str, str] = os.environ) -> str | None:
    """The page of the CI run, or the report of `scoregate run`; None outside both."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run = (environ.get(name) for name in names)
    if environ.get("GITHUB_ACTIONS") == "true" and server and repository and run:
        return f"{server}/{repository}/actions/runs/{run}"
    report = environ.get(REPORT_VARIABLE)
    return Path(report).absolute().as_uri() if report else None


_LONGEST_LINE = 400
_UNTRACED_NOTICE = "The agent was not traced: that needs pip install 'scoregate[traces]'."


def run_offline(
    name: str,
    prepare: Callable[[], OfflineRun],
    *,
    title: str | None = None,
    assert_test: bool = False,
    run_id: str | None = None,
) -> OfflineTestResult:
    """Run an offline test, record it and print the result.

    Args:
        name: the suite's id.
        prepare: makes the run. It is not called if a filter leaves the suite out.
        title: the user's title of this run.
        assert_test: whether a run whose rows don't all pass raises.
        run_id: the id of the run; by default a new one.

    Raises:
        TimeoutError: the judges took too long; the finished rows are in the record.
        JudgmentTestError: `assert_test` is set and a row does not pass, or there are no rows.
    """
    front = _OfflineFront(prepare, run_id or str(uuid4()), title=title, assert_test=assert_test)
    run_to_end(name, front)
    if front.result is None:
        return skipped_result(name)
    if front.has_failed:
        raise JudgmentTestError(_failure_text(front.result))
    return front.result


class _OfflineFront(Front):
    reuses = False  # the rows of the result have more than the log

    def __init__(self, prepare: Callable[[], OfflineRun], run_id: str, *, title: str | None, assert_test: bool) -> None:
        super().__init__(self._build, title=title)
        self._prepare, self._run_id, self._assert_test = prepare, run_id, assert_test
        self.result: OfflineTestResult | None = None
        self.has_failed = False

    def _build(self, selection: Selection) -> Suite:
        self._run = self._prepare()
        return self._run.suite(selection)

    @contextmanager
    def start(self, suite: Suite, *, alone: bool) -> Iterator[None]:
        """Show a progress bar, unless the host shows one."""
        self._suite, total = suite, suite.trials * len(suite.scorers)
        with show_progress(suite.id, total, shown=alone) as self._run.advance:
            yield

    def end_log(self, log: EventLog) -> bool:
        """Collect the rows, which are complete now."""
        self.result = self._build_result(log)
        is_left_out = self._suite.total is not None and not self._suite.cases
        self.has_failed = self._assert_test and not self.result.passed and not is_left_out
        self._timed_out = log.timed_out
        return self.has_failed and not log.timed_out

    def _build_result(self, log: EventLog) -> OfflineTestResult:
        attempts, names = self._run.attempts, [scorer.info.id for scorer in self._suite.scorers]
        traces = {
            each.example.example_id: each.trace_id
            for each in (attempts if self._run.tracer else ())
            if each.trace_id is not None
        }
        title = self.title or f"{self._suite.id}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{self._run_id[:6]}"
        errors = [result.error for each in attempts for result in each.results.values()]
        status: Status = "completed" if None in errors else "error"
        rows = [_build_row(each, names) for each in attempts]
        return OfflineTestResult(self._run_id, status, results_url(), rows, traces, title, make_result([log]))

    def conclude(self, result: EvalResult, *, alone: bool) -> None:  # noqa: ARG002
        """Print the table.

        Raises:
            TimeoutError: the judges took too long.
        """
        test = self._run.test
        if self._timed_out:
            raise TimeoutError(f"Test run {self._run_id} did not complete within {test.limits.scoring_s:g}s")
        if alone and self.result is not None:
            print_result(self.result, notice=_UNTRACED_NOTICE if test.agent and self._run.tracer is None else "")


def report_missing_config(name: str) -> None:
    """Record an error for a test config that does not exist, so that its run does not look like a success."""
    error = ErrorInfo(
        "JudgmentValidationError",
        f"there is no test config {name!r:.200}",
        advice="Make it first: client.offline_tests.create_config(…), or scoregate config add.",
    )
    report_unmeasured(name, error)


def report_unmeasured(name: str, error: ErrorInfo) -> None:
    """Record why a suite has no result; without a host, print it."""
    if events_folder() is None:
        print_text(one_line(f"{error.message}. {error.advice}", _LONGEST_LINE))
    report_failed_suite(name, error)


def _build_row(attempt: Attempt, names: Sequence[str]) -> ScoringResult:
    judged = [(name, attempt.results[name]) for name in names if name in attempt.results]
    spent = sum_usage(result.usage for _, result in judged if result.usage is not None)
    return ScoringResult(
        [to_scorer_data(result, name, attempt.success) for name, result in judged],
        attempt.example,
        attempt.example.name,
        attempt.trace_id,
        None if attempt.ended is None else attempt.ended - attempt.started,
        spent.cost if spent else None,
        attempt.error,
        attempt.success,
        attempt.trace,
    )


def _failure_text(result: OfflineTestResult) -> str:
    if result.status != "completed":
        return f"Test run {result.test_run_id} finished with status {result.status!r}"
    failed = [_label(row, number) for number, row in enumerate(result.results, 1) if not row.success]
    return f"Test run {result.test_run_id} failed its pass condition for {len(failed)} example(s): {failed}"
