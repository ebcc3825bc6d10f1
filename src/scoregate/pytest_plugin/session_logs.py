"""The event logs of a session: one for each suite, written by one process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import pytest

from scoregate.engine.environment import events_folder, run_message
from scoregate.engine.event_log import EventLog
from scoregate.engine.suite_names import claim_name
from scoregate.engine.trial import report_budget_stop
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Origin
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.usage import UsageMeter
from scoregate.pytest_plugin.collected import Place, Plan, PlannedSuite
from scoregate.pytest_plugin.eval_case import PASSED
from scoregate.version import __version__

_CRASH = "???"
_MOST_NAMES = 3


def dump_plan(plan: Plan, deselected: int) -> str:
    """A plan as JSON, with the number of tests that were left out."""
    suites = {name: (suite.origin, suite.trials) for name, suite in plan.suites.items()}
    data = {"suites": suites, "places": plan.places, "problems": plan.problems, "deselected": deselected}
    return dump(data).decode()


def _parse_plan(data: Mapping[str, Any]) -> Plan:
    return Plan(
        {name: PlannedSuite(_parse_origin(origin), trials) for name, (origin, trials) in data["suites"].items()},
        {node: Place(*place) for node, place in data["places"].items()},
        data["problems"],
    )


def _parse_origin(data: Mapping[str, Any] | None) -> Origin | None:
    return None if data is None else Origin(**data)


@dataclass(slots=True)
class _SuiteLog:
    log: EventLog
    started: float


@dataclass(slots=True)
class SessionLogs:
    """Writes the suites of a session.

    Attributes:
        has_other_failures: whether anything failed that is in no suite.
    """

    has_other_failures: bool = False
    _plan: Plan | None = None
    _logs: dict[str, _SuiteLog] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)
    _recorded: dict[str, int] = field(default_factory=dict)
    _crashed: dict[str, str] = field(default_factory=dict)

    def start(self, plan: Plan) -> None:
        """Start the suites of a plan. In a controller of pytest-xdist the plan is empty."""
        if plan.suites:
            self._plan = plan
        for name, suite in plan.suites.items():
            self._open(name, suite)

    def add_plan(self, text: str) -> int:
        """Add the plan of a worker; all workers collect the same tests.

        Returns:
            The number of tests that the first worker left out.
        """
        if self._plan is not None:
            return 0
        data = json.loads(text)
        self._plan = _parse_plan(data)
        return int(data["deselected"])

    def _open(self, name: str, suite: PlannedSuite) -> EventLog:
        if (suite_log := self._logs.get(name)) is None:
            folder = events_folder()
            suite_log = self._logs[name] = _SuiteLog(EventLog(name, folder), perf_counter())
            suite_log.log.emit(
                "suite_started",
                origin=suite.origin,
                evaluators=(EvaluatorInfo(PASSED, boolean=True),),
                cases=suite.trials,
                sdk=f"scoregate {__version__} pytest",
                message=run_message(),
            )
            for problem in claim_name(name, suite.origin, folder):
                suite_log.log.emit("errored", stage="suite", error=problem)
        return suite_log.log

    def note_report(self, report: pytest.TestReport, data: Mapping[str, Any] | None) -> None:
        """Note the report of a phase, and write the trials in the last one of a test.

        Args:
            report: the report.
            data: the attempts at the test; None if the report has none.
        """
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when == _CRASH:
            self._crashed[report.nodeid] = report.longreprtext
        if data is None:
            return
        log = self._open(data["suite"], PlannedSuite(_parse_origin(data["origin"]), data["trials"]))
        attempts = data["attempts"][self._recorded.get(report.nodeid, 0) :]
        self._recorded[report.nodeid] = len(data["attempts"])
        for kind, fields in (event for attempt in attempts for event in attempt):
            log.emit(kind, **fields)
        if data["stopped"]:
            meter = UsageMeter()
            meter.stop()
            report_budget_stop(log, meter)

    def add_problem(self, suite: str, problem: str) -> None:
        """Report that the record of a suite is not complete, also after its end.

        Args:
            suite: the id of the suite.
            problem: what is missing.
        """
        planned = PlannedSuite() if self._plan is None else self._plan.suites.get(suite, PlannedSuite())
        self._open(suite, planned).emit("errored", stage="suite", error=ErrorInfo("LateResult", problem))

    def finish(self, exit_code: int) -> None:
        """Finish the suites. Without a plan they stay open: which tests are missing is unknown.

        Args:
            exit_code: the exit code of the session.
        """
        plan = self._plan
        if plan is None:
            return
        for name, suite in plan.suites.items():
            log = self._open(name, suite)
            for text in plan.problems.get(name, ()):
                log.emit("errored", stage="suite", error=ErrorInfo("InvalidSuite", text))
            self._report_crashes(name, log, plan)
            self._report_missing(name, log, plan)
        failed = self._failed - self._recorded.keys()
        is_explained = exit_code == pytest.ExitCode.TESTS_FAILED and not (failed or self.has_other_failures)
        for suite_log in self._logs.values():
            duration_s = round(perf_counter() - suite_log.started, 4)
            suite_log.log.emit("suite_finished", duration_s=duration_s, tests_failed=is_explained)

    def _report_crashes(self, name: str, log: EventLog, plan: Plan) -> None:
        for node, text in self._crashed.items():
            if (place := plan.places.get(node)) is not None and place.suite == name:
                error = ErrorInfo("WorkerCrashed", text[:1000])
                key = {"case": place.case, "repeat": place.repeat}
                if node not in self._recorded:
                    log.emit("case_started", name=place.case, **key)
                    log.emit("errored", stage="task", error=error, **key)
                    log.emit("case_finished", **key)
                log.emit("errored", stage="suite", error=error)

    def _report_missing(self, name: str, log: EventLog, plan: Plan) -> None:
        """Report tests that did not run, as after `-x`."""
        done = self._recorded.keys() | self._crashed.keys()
        missing = [node for node, place in plan.places.items() if place.suite == name and node not in done]
        if missing:
            subject = "1 test" if len(missing) == 1 else f"{len(missing):,} tests"
            names = ", ".join(f"{node:.100}" for node in missing[:_MOST_NAMES])
            text = f"{subject} of {plan.suites[name].trials:,} did not run, such as {names}"
            log.emit("errored", stage="suite", error=ErrorInfo("Unfinished", text))
