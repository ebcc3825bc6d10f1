"""The gateway around launches: their tokens, the usage of their calls, and what a run counts."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from scoregate.errors import UsageError
from scoregate.features.gateway.counts import CallCounter
from scoregate.features.gateway.model_gateway import ModelGateway, open_model_gateway
from scoregate.features.gateway.proxy.sessions import SuiteSession
from scoregate.features.gateway.usage_adder import UsageAdder
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.run.launch import (
    CallService,
    EmitEvent,
    EventsReceived,
    Failed,
    Finished,
    LaunchEvent,
    Launching,
    LaunchLayer,
    MakeEnvironment,
    Notice,
    UsageCounted,
)
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.run.recording import Recorder
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.model_calls import CallTotals
from scoregate.kernel.types.runs.run import Run

# Calls that were not made: what they would have measured is missing.
_UNMEASURED = {"not_recorded", "damaged_cassette", "budget_spent", "price_unknown", "missing_key"}
_LONGEST_REASON = 2_000
_NEEDS_KEY = "A maintainer can run the change on a branch of this repository."


@asynccontextmanager
async def serve_calls(recorder: Recorder, context: JobContext, scratch: Path) -> AsyncIterator[Recorder]:
    """The recorder with a gateway that serves until the block ends, and without the keys of models.

    Args:
        recorder: records runs on this machine.
        context: where the run takes place; its environment has the keys.
        scratch: a folder for temporary files.
    """
    folder = scratch / "gateway"
    folder.mkdir(mode=0o700)
    async with open_model_gateway(context, recorder.environ, folder) as gateway:
        environ = gateway.hide_keys(recorder.environ)
        # Keys under other names, too.
        hidden = gateway.setup.key_variables | (os.environ.keys() - environ.keys())
        service = CallService(partial(_open_layer, gateway), hidden, _explain_unreachable)
        yield replace(recorder, environ=environ, calls=service)


def _explain_unreachable(users: str) -> UsageError:
    return UsageError(
        f"the gateway listens on this machine only, so {users} can't reach it",
        advice="Start `scoregate gateway` with --certificate, and give the workers its variables.",
    )


@asynccontextmanager
async def _open_layer(gateway: ModelGateway, launching: Launching) -> AsyncIterator[LaunchLayer]:
    counter = CallCounter(gateway.gateway, gateway.gateway.opened)
    yield GatewayLayer(gateway, counter, launching.is_base)


@record
class GatewayLayer(LaunchLayer):
    """What the gateway adds to launches.

    Attributes:
        gateway: the gateway of the run.
        counter: counts the calls of a recording.
        is_base: whether it belongs to a baseline that is run again.
    """

    gateway: ModelGateway
    counter: CallCounter
    is_base: bool

    @contextmanager
    def open_session(self, launch: Launch, emit: EmitEvent) -> Iterator[tuple[MakeEnvironment, EmitEvent]]:
        """What makes the environment of a launch, and what adds the usage of its calls to its events.

        Calls that were not made are an error of the launch, whatever its suites did with the errors that they got.
        """
        with self.gateway.gateway.open_session(launch.name, is_base=self.is_base) as session:
            make_environment = partial(self.gateway.make_environment, session)
            yield make_environment, partial(self._emit, session, UsageAdder(session), emit)

    def _emit(self, session: SuiteSession, adder: UsageAdder, emit: EmitEvent, event: LaunchEvent) -> None:
        if isinstance(event, EventsReceived):
            event = replace(event, events=[adder.add_usage(event.log, each) for each in event.events])
        elif isinstance(event, Finished):
            script = event.script
            for problem in self._describe_problems(script.name, session):
                emit(problem)
            assigned, unassigned = adder.assign_rest()
            for (log, suite), usage in assigned.items():
                emit(UsageCounted(script.name, log, suite, usage))
            if unassigned is not None:
                event = Finished(replace(script, usage=unassigned))
        emit(event)

    def _describe_problems(self, script: str, session: SuiteSession) -> Iterator[LaunchEvent]:
        reasons = [message for message, code in session.problems.items() if code in _UNMEASURED]
        if reasons:
            replays = bool(self.gateway.setup.note)
            problem = "need a key, which this job does not have" if replays else "were not made"
            message = f"calls of models {problem}: {'; '.join(reasons)}"[:_LONGEST_REASON]
            yield Failed(script, ErrorInfo("CallsNotMade", message, advice=_NEEDS_KEY if replays else ""))
        for message, code in session.problems.items():
            if code not in _UNMEASURED:
                yield Notice(script, f"gateway: {message}")

    def count_calls(self) -> CallTotals:
        return self.counter.sum_calls()

    def add_to_run(self, run: Run) -> Run:
        return replace(run, model_calls=self.counter.list_calls()).add_notices(*self.gateway.notices)
