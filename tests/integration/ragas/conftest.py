"""Suites with evaluators of ragas as processes, in an environment that has ragas, against a model on loopback."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.ragas.environment import ROOT, Environment, prepare_environment
from tests.integration.ragas.model import answer

from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.events import Errored, Event, Scored, SuiteStarted


@dataclass(frozen=True)
class Ran:
    """The exit of a process, and the results of its suites."""

    code: int
    out: str
    err: str
    events: Sequence[Event]

    @property
    def scores(self) -> Mapping[str, list[float]]:
        """By evaluator."""
        scored = [event for event in self.events if isinstance(event, Scored)]
        return {name: [e.score for e in scored if e.evaluator == name] for name in {e.evaluator for e in scored}}

    @property
    def errors(self) -> Mapping[str | None, ErrorInfo]:
        """By evaluator."""
        return {event.evaluator: event.error for event in self.events if isinstance(event, Errored)}

    @property
    def evaluators(self) -> Mapping[str, EvaluatorInfo]:
        """By id."""
        started = [event for event in self.events if isinstance(event, SuiteStarted)]
        return {info.id: info for event in started for info in event.evaluators}


@dataclass(frozen=True)
class Place:
    """A folder in which scripts run, with the server that they may ask."""

    environment: Environment
    server: OpenAIServer
    folder: Path

    def run(self, source: str, **environ: str) -> Ran:
        """Run the source as a script, watched as a host would."""
        self.folder.mkdir(exist_ok=True)
        events = self.folder / f"events-{len(list(self.folder.iterdir()))}"
        events.mkdir()
        script = self.folder / "suite.py"
        script.write_text(source, encoding="utf-8")
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(ROOT / "src")}
        process = subprocess.run(
            [self.environment.python, script],
            env={**variables, **self.server.environment, "SCOREGATE_EVENTS": str(events), **environ},
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            timeout=300,
        )
        lines = [line for path in sorted(events.iterdir()) for line in path.read_bytes().splitlines()]
        return Ran(process.returncode, process.stdout, process.stderr, [parse_event(line) for line in lines])


@pytest.fixture(scope="session")
def environment() -> Environment:
    return prepare_environment()


@pytest.fixture(scope="session")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        running.answer_with(answer)
        yield running


@pytest.fixture
def place(environment: Environment, server: OpenAIServer, tmp_path: Path) -> Place:
    server.requests.clear()
    return Place(environment, server, tmp_path / "place")
