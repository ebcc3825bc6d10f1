"""Record a session of pytest: tests become trials, and one process writes them to the event logs of their suites.

With pytest-xdist, workers attach the trials to their reports, and the controller writes them. So each suite has one
log, and a worker that crashes leaves no part of one.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from scoregate.engine.environment import name_calls_at_gateway, read_selection
from scoregate.errors import ScoregateError
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.usage import METER, UsageMeter, collect_usage
from scoregate.pytest_plugin.collected import (
    PLACE,
    Plan,
    PlannedSuite,
    place_tests,
    plan_session,
    repeat_test,
    select_tests,
)
from scoregate.pytest_plugin.eval_case import NOTE_LATE, BelowThreshold
from scoregate.pytest_plugin.langsmith_feedback import start_case
from scoregate.pytest_plugin.session_logs import SessionLogs, dump_plan
from scoregate.pytest_plugin.trials import Trial

TRIALS_FIELD = "scoregate_trials"
"""The attribute of a report with the trials of its test."""
_WORKER, _LATE = "scoregate", "scoregate_late"
_TRIAL = pytest.StashKey[Trial]()
_ATTEMPTS = pytest.StashKey[list[list[tuple[str, dict[str, Any]]]]]()
# JUnit XML names the case of a test by it, so that `exec --junit` doesn't record the test twice.
_PROPERTY = "scoregate.case"


class Recorder:
    """The hooks of a session that is recorded."""

    def __init__(self, config: pytest.Config) -> None:
        try:
            self._selection = read_selection()
        except ScoregateError as error:
            raise pytest.UsageError(f"scoregate: {error.message}") from None
        self._output: dict[str, Any] | None = getattr(config, "workeroutput", None)
        self._logs = SessionLogs()
        self._plan = Plan()
        self._deselected = 0
        self._is_running = False
        self._late: list[tuple[str, str]] = []
        config.stash[NOTE_LATE] = self._note_late

    def _note_late(self, item: pytest.Item, problem: str) -> None:
        """Note what a thread or a fixture gave to the case of a test after its end: it is in no record."""
        if (place := item.stash.get(PLACE, None)) is None:
            return
        if self._output is None:
            self._logs.add_problem(place.suite, problem)
        else:
            self._late.append((place.suite, problem))

    @pytest.hookimpl(trylast=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a test of each trial."""
        repeat_test(metafunc, self._selection.repeats)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Choose the identity of each case, and leave out those that are not selected."""

        def deselect(gone: Sequence[pytest.Item]) -> None:
            self._deselected += len(gone)
            config.hook.pytest_deselected(items=gone)

        place_tests(items)
        select_tests(items, self._selection, deselect)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan what is recorded. A worker passes the plan to the controller at its end."""
        self._plan = plan_session(session.items)
        for item in session.items:
            if (place := item.stash.get(PLACE, None)) is not None:
                item.user_properties.append((_PROPERTY, f"{place.suite}::{place.case}"))
        if self._output is not None:
            self._output[_WORKER] = dump_plan(self._plan, self._deselected)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Start the suites, which are known before the first test runs unless workers run them."""
        self._is_running = True
        name_calls_at_gateway()
        if self._output is None:
            self._logs.start(self._plan)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        """Start a trial; a plug-in that runs tests again starts one for each attempt."""
        start_case(item)
        if (place := item.stash.get(PLACE, None)) is not None:
            item.stash[_TRIAL] = Trial(item, place, UsageMeter(place.repeat, place.case, suite=place.suite))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Count the model usage of a test."""
        if (trial := item.stash.get(_TRIAL, None)) is None:
            return (yield)
        token = METER.set(trial.meter)
        try:
            with collect_usage(trial.meter):
                return (yield)
        finally:
            METER.reset(token)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note how each phase ended, and attach the attempts to the report of the last one."""
        report = yield
        if (trial := item.stash.get(_TRIAL, None)) is not None:
            trial.note_phase(report, call)
            if call.when == "call":
                mark_listed(report, None if call.excinfo is None else call.excinfo.value)
            if call.when == "teardown":
                setattr(report, TRIALS_FIELD, self._dump_attempts(item, trial))
        return report

    def _dump_attempts(self, item: pytest.Item, trial: Trial) -> str:
        """All attempts at a test as JSON: a plug-in that runs tests again may not pass on the reports of each."""
        attempts = item.stash.setdefault(_ATTEMPTS, [])
        place, suite = trial.place, self._plan.suites.get(trial.place.suite, PlannedSuite())
        attempts.append(list(trial.make_events(place.repeat + suite.trials * len(attempts))))
        data = {
            "suite": place.suite,
            "origin": suite.origin,
            "trials": suite.trials,
            "stopped": trial.meter.stopped,
            "attempts": attempts,
        }
        return dump(data).decode()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the trials of a test that has ended."""
        if self._output is None:
            data = getattr(report, TRIALS_FIELD, None)
            self._logs.note_report(report, None if data is None else json.loads(data))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Print each failure once: here, or in scoregate's list."""
        with leave_out_listed(terminalreporter):
            yield

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that a file can't be collected: its tests are not in the record."""
        self._logs.has_other_failures |= report.failed

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Receive the plan of a worker of pytest-xdist."""
        output: Mapping[str, Any] = getattr(node, "workeroutput", None) or {}
        if (text := output.get(_WORKER)) is not None:
            self._deselected += self._logs.add_plan(text)
            for suite, problem in json.loads(output.get(_LATE, "[]")):
                self._logs.add_problem(suite, problem)
        elif error:
            self._logs.has_other_failures = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Finish the suites."""
        if self._output is not None:
            self._output[_LATE] = dump(self._late).decode()
            return
        if self._is_running:
            self._logs.finish(exitstatus)
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._deselected:
            session.exitstatus = pytest.ExitCode.OK


_IS_LISTED = "scoregate_is_listed"
# The list has two lines for a reason, with folded white space; longer ones are complete in pytest's summary only.
_LONGEST_REASON = 100


def mark_listed(report: pytest.TestReport, error: BaseException | None) -> None:
    """Mark the report of a failed case if scoregate's list has its whole reason, and the test printed nothing.

    Args:
        report: the report of the test itself.
        error: what failed it.
    """
    if not report.failed or any(text.strip() for _, text in report.sections):
        return
    is_short = len(" ".join(str(error).split())) <= _LONGEST_REASON
    if isinstance(error, BelowThreshold) or (isinstance(error, AssertionError | pytest.fail.Exception) and is_short):
        setattr(report, _IS_LISTED, True)


@contextmanager
def leave_out_listed(reporter: Any) -> Iterator[None]:
    """Leave marked failures out of what a reporter prints until the block ends; `-v` in pytest's options shows them.

    Args:
        reporter: pytest's reporter, or that of a plug-in.
    """
    failed = getattr(reporter, "stats", {}).get("failed")
    if not failed or reporter.config.get_verbosity() > 0:
        yield
        return
    shown = [report for report in failed if not getattr(report, _IS_LISTED, False)]
    reporter.stats["failed"] = shown
    try:
        yield
    finally:
        reporter.stats["failed"] = failed  # for the counts at the end
    if left_out := len(failed) - len(shown):
        count = "1 failure is" if left_out == 1 else f"{left_out:,} failures are"
        reporter.write_line(f"{count} in scoregate's list of failing cases")
