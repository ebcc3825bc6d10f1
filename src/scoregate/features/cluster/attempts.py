"""The attempts of all parts: each is recorded as a run of its own, and one complete attempt of each part counts."""

from __future__ import annotations

import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from scoregate.features.cluster.budget import BudgetLeases, TrialName, sum_spent
from scoregate.features.cluster.executor import Part
from scoregate.features.cluster.live import LiveRecording
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.launch import (
    EmitEvent,
    EventsReceived,
    Finished,
    LaunchEvent,
    LaunchLayer,
    Started,
    UsageCounted,
)
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.run.recording import redact_event
from scoregate.kernel.run.reuse import offer_results
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import CaseStarted, Event
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import Run, Script
from scoregate.kernel.types.runs.tally import Tally

# An environment without a package, or a process that something outside of the run killed: another worker may do better.
_RETRIED = re.compile(r"\b(ModuleNotFoundError|ImportError)\b|^killed by SIG(KILL|TERM|INT|HUP)\b")
_ADVICE = "Start workers that can run it, or run without --executor."


@dataclass(slots=True)
class _Attempt:
    """An attempt that runs now."""

    worker: str
    folder: Path
    recording: RunRecorder
    scripts: frozenset[str]
    reused: str | None
    sessions: ExitStack
    reused_trials: set[TrialName] = field(default_factory=set)
    is_over: bool = False

    def count_trials(self) -> int:
        """The number of trials that have finished."""
        return sum(len(suite.columns) for suite in self.recording.reducer.suites.values())


@dataclass(slots=True)
class PartState:
    """What is known of a part.

    Attributes:
        plan: what it runs.
        attempt: the attempt that runs now.
        best: the folder of the lost attempt with the most trials, and their number.
        folder: the folder of the attempt that counts.
        failed: the folder of an attempt that ended with failures that another worker may not have.
        tallies: the progress of its suites when the last attempt ended.
        ended: its scripts that have ended in the last attempt.
    """

    plan: Plan
    attempt: _Attempt | None = None
    best: tuple[Path, int] | None = None
    folder: Path | None = None
    failed: Path | None = None
    tallies: tuple[tuple[str, Tally], ...] = ()
    ended: set[str] = field(default_factory=set)

    @property
    def scripts(self) -> tuple[str, ...]:
        """The names of its launches."""
        return tuple(launch.name for launch in self.plan.launches)


@dataclass(slots=True)
class PartLog:
    """Records the attempts of parts.

    Args:
        scratch: an empty folder for the runs of attempts; see `recovery`.
        head: the run without results.
        parts: the parts by number.
        make_part: what a worker gets of a plan.
        make_reducer: an empty reducer.
        observe: gets every event of every attempt, and the recording of it.
        live: the progress of all parts.
        redact: removes secrets from what is recorded.
        layers: what serves launches on all workers.
        select: drops events that a selection leaves out.
        budget: leases of the run's budget; None if the parts share one.
        show_outputs: whether outputs are recorded.
        workers: the workers that got a part.
        lost: how many attempts ended early, by the reason.
    """

    scratch: Path
    head: Run
    parts: dict[int, PartState]
    make_part: Callable[[Plan], Part]
    make_reducer: Callable[[], RunReducer]
    observe: Callable[[LaunchEvent, RunRecorder], None]
    live: LiveRecording
    redact: Redactor
    layers: Sequence[LaunchLayer] = ()
    select: Callable[[EventsReceived], EventsReceived] | None = None
    budget: BudgetLeases | None = None
    show_outputs: bool = True
    workers: set[str] = field(default_factory=set)
    lost: dict[str, int] = field(default_factory=dict)
    _number: int = 0

    def begin(self, number: int, worker: str) -> tuple[Part, EmitEvent]:
        """Begin an attempt; returns what its worker gets, and what records its events."""
        state = self.parts[number]
        self._number += 1
        self.workers.add(worker)
        folder = self.scratch / f"{number}-{self._number}"
        plan, reused = self._offer_finished(state, folder)
        sessions = ExitStack()
        recording = RunRecorder(
            RunWriter(folder),
            broken=plan.broken,
            launches=len(plan.launches),
            show_outputs=self.show_outputs,
            head=self._describe(state).interrupt(),
            reducer=self.make_reducer(),
        )
        for offered in plan.offered:
            recording.writer.add_media_of(offered)
        attempt = _Attempt(worker, folder, recording, frozenset(state.scripts), reused, sessions)
        state.attempt, state.ended = attempt, set()
        record = partial(self._record, attempt, state)
        if self.budget is not None:
            plan = _with_variables(plan, self.budget.begin(number))
        emit: EmitEvent = record
        for layer in self.layers:
            plan, emit = _open_sessions(layer, plan, sessions, emit)
        return self.make_part(plan), partial(self._receive, attempt, emit)

    def _offer_finished(self, state: PartState, folder: Path) -> tuple[Plan, str | None]:
        """The plan with the trials that an earlier attempt finished, and the id of that attempt's run."""
        if state.best is None:
            return state.plan, None
        from scoregate.kernel.judge.archive import read_run

        run = read_run(state.best[0])
        offered = offer_results(run, state.plan, folder.with_name(f"{folder.name}-reuse"), None)
        return offered.plan, run.id

    def _receive(self, attempt: _Attempt, emit: EmitEvent, event: LaunchEvent) -> None:
        """Pass an event on. An attempt that has ended, or a script that is not of this part, can't add anything."""
        script = event.script.name if isinstance(event, Finished) else event.script
        if not attempt.is_over and script in attempt.scripts:
            emit(event)

    def _record(self, attempt: _Attempt, state: PartState, event: LaunchEvent) -> None:
        if isinstance(event, EventsReceived):
            events = [_without_reuse(each, attempt) for each in event.events]
            # Logs of different attempts are different logs.
            event = replace(event, events=events, log=f"{attempt.folder.name}/{event.log}")
            event = event if self.select is None else self.select(event)
        elif isinstance(event, UsageCounted):
            event = replace(event, log=f"{attempt.folder.name}/{event.log}")
        event = redact_event(event, self.redact)
        attempt.recording.record_event(event)
        self.live.finished = attempt.recording.finished
        self.live.message = self.live.message or attempt.recording.message
        if isinstance(event, Started) and not self.live.start(event.script):
            return
        if isinstance(event, Finished):
            state.ended.add(event.script.name)
            if self.count_open(event.script.name):  # other parts of it have not ended
                return
        self.observe(event, attempt.recording)

    def count_open(self, script: str) -> int:
        """The number of parts with this script that have not ended."""
        return sum(
            state.folder is None and script in state.scripts and script not in state.ended
            for state in self.parts.values()
        )

    def complete(self, number: int) -> bool:
        """End an attempt whose events are all there; False if another worker may not have its failures."""
        state = self.parts[number]
        attempt, run = self._end(state, is_complete=True)
        failures = find_script_failures(run)
        if any(
            _RETRIED.search(script.error.message) for script in run.scripts if script.error and script.name in failures
        ):
            state.failed = attempt.folder
            return False
        state.folder = attempt.folder
        return True

    def lose(self, number: int, reason: str) -> bool:
        """End an attempt that was lost, and keep what it finished; returns whether that is more than before.

        Args:
            number: the number of the part.
            reason: why it was lost; empty if the run was stopped.
        """
        state = self.parts[number]
        if state.attempt is None:
            return False
        trials = state.attempt.count_trials()
        attempt, _ = self._end(state, is_complete=False)
        if reason:
            self.lost[reason] = self.lost.get(reason, 0) + 1
        if trials > (state.best[1] if state.best else 0):
            if state.best is not None:
                # The new attempt was offered its results, and has them, too.
                shutil.rmtree(state.best[0], ignore_errors=True)
            state.best = (attempt.folder, trials)
            return True
        shutil.rmtree(attempt.folder, ignore_errors=True)
        return False

    def give_up(self, number: int, reason: str) -> None:
        """Record that no worker could run the part to its end: its scripts could not be measured."""
        state = self.parts[number]
        if state.failed is not None:
            state.folder = state.failed
            return
        error = ErrorInfo("NotPlaced", f"part {number} was not completed: {reason}", advice=_ADVICE)
        scripts = tuple(Script(name, error=error) for name in state.scripts)
        state.folder = self._write_rest(state, number, scripts)

    def close(self) -> Iterator[Path]:
        """End what still runs; yields the folder of each part."""
        for number, state in self.parts.items():
            if state.attempt is not None:
                self.lose(number, "")
            if state.folder is None:
                state.folder = state.failed or self._write_rest(state, number, ())
            yield state.folder

    def _write_rest(self, state: PartState, number: int, scripts: tuple[Script, ...]) -> Path:
        """The run of a part that was not completed: what was finished of it, with the reason."""
        from scoregate.kernel.judge.archive import amend_run, read_run

        if state.best is not None:
            run = read_run(state.best[0])
            others = tuple(script for script in run.scripts if script.name not in {each.name for each in scripts})
            amend_run(state.best[0], replace(run, scripts=(*others, *scripts)).interrupt())
            return state.best[0]
        folder = self.scratch / f"{number}-none"
        with RunWriter(folder) as writer:
            run = self._describe(state)
            writer.finish(replace(run, scripts=scripts, end=replace(run.end, complete=bool(scripts))))
        return folder

    def _end(self, state: PartState, *, is_complete: bool) -> tuple[_Attempt, Run]:
        attempt = state.attempt
        assert attempt is not None
        attempt.is_over = True
        attempt.sessions.close()
        state.tallies = tuple(attempt.recording.tallies())  # the progress of the run goes on without the recording
        with attempt.recording.writer:
            run = attempt.recording.finish(self._describe(state), interrupted=not is_complete)
        state.attempt = None
        if self.budget is not None and state.plan.shard is not None:
            spent = sum_spent(attempt.recording.reducer, attempt.reused_trials)
            self.budget.end(state.plan.shard.number, spent, is_complete=is_complete)
        return attempt, run

    def _describe(self, state: PartState) -> Run:
        end = replace(self.head.end, finished=time.time())
        return replace(self.head, id=uuid.uuid4().hex, end=end).with_shard(state.plan.shard)

    def flush_if_due(self) -> None:
        """Write what has arrived to disk, so that a kill of this process can't lose it."""
        for state in self.parts.values():
            if state.attempt is not None:
                state.attempt.recording.flush_if_due()

    def tallies(self) -> Iterator[tuple[str, Tally]]:
        """The progress of the suites of all parts."""
        for state in self.parts.values():
            yield from state.attempt.recording.tallies() if state.attempt is not None else state.tallies


def _without_reuse(event: Event, attempt: _Attempt) -> Event:
    """A trial that a lost attempt of this run measured is measured by this run."""
    if attempt.reused is not None and isinstance(event, CaseStarted) and event.reused == attempt.reused:
        attempt.reused_trials.add((event.suite, event.case, event.repeat))
        return replace(event, reused=None)
    return event


def _with_variables(plan: Plan, variables: Mapping[str, str]) -> Plan:
    launches = (replace(launch, environment={**launch.environment, **variables}) for launch in plan.launches)
    return replace(plan, launches=tuple(launches))


def _open_sessions(layer: LaunchLayer, plan: Plan, sessions: ExitStack, emit: EmitEvent) -> tuple[Plan, EmitEvent]:
    """The plan with the environments of a layer, and what passes its events through it."""
    emits: dict[str, EmitEvent] = {}
    launches = []
    for launch in plan.launches:
        make_environment, emits[launch.name] = sessions.enter_context(layer.open_session(launch, emit))
        launches.append(replace(launch, environment=make_environment(launch.environment)))

    def pass_through(event: LaunchEvent) -> None:
        emits[event.script.name if isinstance(event, Finished) else event.script](event)

    return replace(plan, launches=tuple(launches)), pass_through
