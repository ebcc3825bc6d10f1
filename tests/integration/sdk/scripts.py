"""Suites run as scripts, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.events import CaseFinished, Event

PREAMBLE = """
import asyncio, glob, os, sys, time
from scoregate.testing.models import BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import RunManager, run_test_suite

class Good(BaseTestEvaluator):
    id = "good"
    def evaluate_test_case(self, test_case, output):
        return Evaluation(1, Threshold(gte=1))

class AsyncGood(Good):
    id = "async-good"
    async def evaluate_test_case(self, test_case, output):
        return Evaluation(1, Threshold(gte=1))

def cases(count):
    return [{"n": n} for n in range(count)]

def finished():
    logs = glob.glob(os.path.join(os.environ["SCOREGATE_EVENTS"], "*.jsonl"))
    return sum(open(log).read().count('"case_finished"') for log in logs)

def wait_until_finished(count):
    while finished() < count:
        time.sleep(0.005)
"""


@dataclass
class Home:
    """A folder with scripts, and the folder in which their host listens."""

    root: Path
    events: Path = field(init=False)

    def __post_init__(self) -> None:
        self.events = self.root / "events"
        self.events.mkdir()

    def start(
        self, source: str, *arguments: str, host: bool = True, options: Sequence[str] = (), **environ: str
    ) -> subprocess.Popen[str]:
        """Run the source, after the preamble, as a script."""
        script = self.root / "suite.py"
        script.write_text(PREAMBLE + source, encoding="utf-8")
        return subprocess.Popen(
            [sys.executable, *options, str(script), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.root,
            env=self.environ(host, environ),
        )

    def environ(self, host: bool, more: dict[str, str]) -> dict[str, str]:
        """The environment without variables for suites."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("SCOREGATE_", "AUTOBLOCKS_"))}
        return ours | ({"SCOREGATE_EVENTS": str(self.events)} if host else {}) | more

    def run(
        self, source: str, *arguments: str, host: bool = True, options: Sequence[str] = (), **environ: str
    ) -> Ended:
        """Run it to its end."""
        return wait_for_end(self.start(source, *arguments, host=host, options=options, **environ))

    def logs(self) -> list[list[Event]]:
        """The events of each log, as far as their lines are whole."""
        return [complete_lines(path) for path in sorted(self.events.glob("*.jsonl"))]

    def log(self) -> list[Event]:
        """The events of the only log."""
        (events,) = self.logs()
        return events

    def wait_for(self, enough: Callable[[list[Event]], bool]) -> None:
        """Until the only log has enough."""
        patience = time.monotonic() + 90
        while not (self.logs() and enough(self.logs()[0])):
            assert time.monotonic() < patience, "it never came"
            time.sleep(0.005)


def complete_lines(path: Path) -> list[Event]:
    return [parse_event(line) for line in path.read_bytes().split(b"\n")[:-1]]


def finished_cases(events: list[Event]) -> list[str]:
    """The cases that the log calls finished."""
    return [event.case for event in events if isinstance(event, CaseFinished)]


@dataclass(frozen=True)
class Ended:
    """The exit code and output of a process."""

    code: int
    out: str
    err: str


def wait_for_end(process: subprocess.Popen[str], timeout: float = 120) -> Ended:
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Ended(process.returncode, out, err)
