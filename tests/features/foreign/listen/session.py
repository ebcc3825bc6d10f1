"""A line to the server: a client that speaks as the SDKs do, and the run that comes of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from scoregate.features.foreign.cloud import BaselineLookup
from scoregate.features.foreign.server import Listener, open_listener
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.launch import EventsReceived, Filtered, Notice
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.evaluation import EvaluationOverride
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import Event
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.tally import Tally

PYTHON, NODE = "python-httpx/0.28.1", "node"


class EmptyBook:
    """Knows nothing."""

    def baseline_output(self, suite: str, case: str) -> str | None:  # noqa: ARG002
        return None

    def save_baseline_output(self, suite: str, case: str, output: str) -> None: ...

    def overrides(self, evaluator: str, count: int) -> Sequence[EvaluationOverride]:  # noqa: ARG002
        return ()


@dataclass
class Ear:
    """Receives events, and records them as the host does."""

    recording: RunRecorder
    tallies: list[Tally] = field(default_factory=list)
    events: list[tuple[str, Event]] = field(default_factory=list)
    failures: list[ErrorInfo] = field(default_factory=list)

    def on_events(self, log: str, events: Sequence[Event]) -> None:
        self.events += ((log, event) for event in events)
        self.recording.record_event(EventsReceived("command", log, events))

    def on_progress(self, tally: Tally) -> None:
        self.tallies.append(tally)

    def on_filtered(self, suite: str) -> None:
        self.recording.record_event(Filtered("command", suite))

    def on_error(self, error: ErrorInfo) -> None:
        self.failures.append(error)

    def on_notice(self, notice: str) -> None:
        self.recording.record_event(Notice("command", notice))


@dataclass
class Talk:
    """One command's side; `run` is there when the line is closed."""

    client: httpx.AsyncClient
    ear: Ear
    run: Run | None = None

    async def post(self, path: str, body: Any, *, agent: str = PYTHON, status: int = 200) -> Any:
        """Post a body, bytes as they are; the answer must be JSON and of that status."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = await self.client.post(path, content=content, headers={"user-agent": agent})
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/json"
        return answer.json()

    async def start(self, suite: str = "bot", *, agent: str = PYTHON, **more: Any) -> str:
        event = {"testExternalId": suite, "gridSearchRunGroupId": None, "gridSearchParamsCombo": None, **more}
        run: str = (await self.post("/start", event, agent=agent))["id"]
        return run

    async def result(self, run: str | None, case: str = "a", output: Any = "out", **more: Any) -> Any:
        event = {"testExternalId": "bot", "runId": run, "testCaseHash": case, "testCaseBody": {"input": case}}
        return await self.post("/results", event | {"testCaseOutput": output, "testCaseDurationMs": 1.5} | more)

    async def score(self, run: str | None, case: str = "a", score: Any = 1, **more: Any) -> None:
        event = {"testExternalId": "bot", "runId": run, "testCaseHash": case, "evaluatorExternalId": "exact"}
        assert await self.post("/evals", event | {"score": score} | more) == "ok"

    async def error(self, run: str | None, case: str | None = None, evaluator: str | None = None, **more: Any) -> None:
        error = {"name": "ValueError", "message": "boom", "stacktrace": "Traceback…"}
        event = {"testExternalId": "bot", "runId": run, "testCaseHash": case, "evaluatorExternalId": evaluator}
        assert await self.post("/errors", event | {"error": error} | more) == "ok"

    async def end(self, run: str | None, suite: str = "bot") -> None:
        assert await self.post("/end", {"testExternalId": suite, "runId": run}) == "ok"

    @property
    def suites(self) -> tuple[SuiteResult, ...]:
        assert self.run is not None
        return self.run.suites

    @property
    def suite(self) -> SuiteResult:
        (suite,) = self.suites
        return suite

    @property
    def cases(self) -> list[CaseResult]:
        assert self.run is not None
        return list(self.run.cases)

    @property
    def case(self) -> CaseResult:
        (case,) = self.cases
        return case

    @property
    def failures(self) -> list[str]:
        """What went wrong and is of no suite."""
        return [error.message for error in self.ear.failures]

    @property
    def notices(self) -> tuple[str, ...]:
        assert self.run is not None
        return self.run.notices


@asynccontextmanager
async def open_session(
    folder: Path,
    *,
    suites: Sequence[str] = (),
    redact: Callable[[bytes], bytes] = bytes,
    book: BaselineLookup | None = None,
) -> AsyncIterator[Talk]:
    """A server with one line, recorded in a folder; the run is whole when the block has ended."""
    with RunWriter(folder) as writer:
        ear = Ear(RunRecorder(writer))
        async with open_listener(redact) as listener, connect_session(listener, ear, suites=suites, book=book) as talk:
            yield talk
        talk.run = ear.recording.finish(Run("id", 0.0, RunEnd(1.0), RunCode("0")))


@asynccontextmanager
async def connect_session(
    listener: Listener, ear: Ear, *, suites: Sequence[str] = (), book: BaselineLookup | None = None
) -> AsyncIterator[Talk]:
    """A line of a server."""
    async with (
        listener.connect(ear, book or EmptyBook(), suites=suites) as session,
        httpx.AsyncClient(base_url=session.address, trust_env=False, timeout=60) as client,
    ):
        yield Talk(client, ear)
