"""A folder with tests, and the real pytest in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.warm_scripts import run_pytest

from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import SuiteResult

_OPTIONS = ("-q", "-W", "error", "-p", "no:cacheprovider")
_DROP = ("SCOREGATE_", "PYTEST_", "COV_")


@dataclass
class Ran:
    """What one call of pytest left.

    Attributes:
        code: the exit code.
        output: what it printed.
        suites: the suites in its logs, by id.
        cases: the trials in its logs, by case and number.
        tests_failed: whether a suite reports that the exit code means failed tests only.
    """

    code: int
    output: str
    suites: dict[str, SuiteResult]
    cases: dict[tuple[str, int], CaseResult]
    tests_failed: bool

    def statuses(self) -> dict[str, str]:
        """The status of the last trial of each case."""
        return {name: case.status.value for (name, _), case in self.cases.items()}


def _run_new(words: list[str], environ: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=cwd,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


class Bench:
    """A project with tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events = folder / "events"

    def write(self, text: str, name: str = "test_bot.py") -> None:
        path = self.folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *arguments: str, record: bool = True, installed: bool = False, **environment: str) -> Ran:
        """Run pytest in the project, as a host starts it unless `record` is false. Warnings are errors.

        The process is forked and has no other plug-ins, as these take longer than most tests. With `installed`, it is
        a new Python with all plug-ins that are installed.
        """
        for path in self.events.glob("*"):
            path.unlink()
        self.events.mkdir(exist_ok=True)
        environ = {name: value for name, value in os.environ.items() if not name.startswith(_DROP)}
        environ |= {"PYTEST_PLUGINS": "scoregate.pytest_plugin", **environment}
        environ |= {"SCOREGATE_EVENTS": str(self.events)} if record else {}
        environ |= {} if installed else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        words = [*_OPTIONS, *arguments]
        done = (_run_new if installed else run_pytest)(words, environ, self.folder / "project")
        return self._read(done.returncode, done.stdout)

    def _read(self, code: int, output: str) -> Ran:
        reducer, cases = RunReducer(), {}
        for path in sorted(self.events.glob("*.jsonl")):
            for line in path.read_bytes().splitlines():
                if (case := reducer.apply(path.name, None, parse_event(line))) is not None:
                    assert case.key not in cases, "a trial is recorded once"
                    cases[case.hash, case.repeat] = case
        reducers = reducer.suites.values()
        suites = {each.id: each.result(each.id) for each in reducers}
        assert len(suites) == len(reducers), "a suite has one log"
        failed = any(each.finished is not None and each.finished.tests_failed for each in reducers)
        return Ran(code, output, suites, cases, failed)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
