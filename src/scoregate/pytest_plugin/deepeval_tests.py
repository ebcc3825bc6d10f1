"""Tests with metrics of deepeval: how each ended is written for the host, since the file of deepeval lacks it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from scoregate.kernel.types.test_outcomes import OUTCOMES_FILE, TestOutcome, identify_deepeval_case
from scoregate.pytest_plugin.recorder import TRIALS_FIELD

_MODULE = "deepeval.test_run.test_run"
_FIELD = "scoregate_deepeval_cases"
# The cases since the last report. Sessions in one process share deepeval's class, so they share the list, too.
_noted: list[str] = []


@dataclass(slots=True)
class _Ended:
    """What the reports of a test say."""

    failure: str | None = None
    is_clear: bool = True
    is_recorded: bool = False
    cases: list[str] = field(default_factory=list)


class DeepevalTests:
    """Notes the outcome of each test, with the cases that deepeval records while it runs.

    With pytest-xdist, workers attach the cases to their reports, and the controller writes the file.
    """

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        """Start without tests.

        Args:
            config: the configuration of pytest.
            folder: receives the file.
        """
        self._is_worker = hasattr(config, "workeroutput")
        self._file = folder / OUTCOMES_FILE
        self._ended: dict[str, _Ended] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        """Start to note the cases of a test."""
        _watch_test_runs()
        _noted.clear()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[Any]) -> Generator[None, object, object]:
        """Attach the cases to the report of the last phase, or of an attempt that is followed by another."""
        report = yield
        if call.when != "setup" and _noted:
            setattr(report, _FIELD, list(_noted))
            _noted.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a phase of a test ended."""
        if self._is_worker:
            return
        ended = self._ended.setdefault(report.nodeid, _Ended())
        ended.cases += getattr(report, _FIELD, ())
        ended.is_recorded |= hasattr(report, TRIALS_FIELD)
        if report.failed:
            ended.failure = ended.failure or _describe(report)
        elif report.outcome not in ("passed", "skipped") or (report.skipped and not hasattr(report, "wasxfail")):
            ended.is_clear = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that can't be collected: its tests have no cases."""
        if report.failed and not self._is_worker:
            self._ended[report.nodeid] = _Ended(_describe(report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write the outcomes. A command may run several sessions."""
        if self._is_worker:
            return
        with self._file.open("ab") as file:
            for test, ended in self._ended.items():
                outcome = TestOutcome(test, ended.failure, tuple(ended.cases), ended.is_clear, ended.is_recorded)
                file.write(outcome.to_line())


def _watch_test_runs() -> None:
    """Note each case that deepeval adds to a test run; tests may import it late."""
    runs: Any = getattr(sys.modules.get(_MODULE), "TestRun", None)
    add: Callable[..., object] | None = getattr(runs, "add_test_case", None)
    if add is None or hasattr(add, _FIELD):
        return

    @wraps(add)
    def add_and_note(run: Any, case: Any, *arguments: Any, **options: Any) -> object:
        case_input = getattr(case, "input", None) or getattr(case, "scenario", None)
        _noted.append(identify_deepeval_case(getattr(case, "name", ""), case_input))
        return add(run, case, *arguments, **options)

    setattr(add_and_note, _FIELD, True)
    runs.add_test_case = add_and_note


def _describe(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why it failed, as the summary of pytest says."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(getattr(crash, "message", "") or report.longreprtext).strip() or "it failed"
