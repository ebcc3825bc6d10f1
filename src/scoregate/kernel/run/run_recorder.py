"""Records the events of scripts as a run: each finished trial on disk at once, its scores in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.launch import (
    EventsReceived,
    Failed,
    Filtered,
    Finished,
    LaunchEvent,
    LaunchLayer,
    MediaReceived,
    Notice,
    Progress,
    TracesReceived,
    UsageCounted,
    count_calls,
)
from scoregate.kernel.run.plan import Plan, SuiteSource
from scoregate.kernel.types.event_json import drop_invalid_numbers
from scoregate.kernel.types.event_values import INTERRUPTED, ErrorInfo
from scoregate.kernel.types.events import SuiteStarted
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.dependencies import RunDependencies
from scoregate.kernel.types.runs.model_calls import CallTotals
from scoregate.kernel.types.runs.reducer import RunReducer, SuiteReducer
from scoregate.kernel.types.runs.run import Run, Script
from scoregate.kernel.types.runs.tally import SuiteSums, Tally, tally_suite

if TYPE_CHECKING:  # only some runs record dependencies
    from scoregate.kernel.run.dependencies.recording import UseRecorder

_MOST_FILTERED = 100
FLUSH_EVERY_S = 0.25
_FLUSH_SHARE = 20  # flushing takes at most 1/20 of the time
_MOST_INVALID = 20
_MEDIA_KEPT = "images and recordings are kept as they are: secrets are not looked for inside them"
_MEDIA_NOT_KEPT = "images and recordings are not kept, because show_outputs is not full"


@dataclass(slots=True)
class _FlushState:
    """The state besides cases at the last flush, and when the next flush is due."""

    state: tuple[int, ...] = ()
    due: float = 0.0


@dataclass(slots=True)
class RunRecorder:
    """Records launch events; each finished trial goes to disk at once, only its scores stay in memory.

    Args:
        writer: writes the run.
        broken: the sources that could not be launched.
        launches: the number of the others.
        show_outputs: without it, outputs and the details of evaluations are not recorded.
        head: the run without its results. With it, finished cases are flushed to disk several times a second, so that
            a killed host loses none of them.
        reducer: the results so far.
        scripts: the scripts that ended.
        notices: the notices for the report.
        message: the message of the run, from its first suite.
        finished: the trials that the last event finished, each with its suite.
        layers: what features add to launches; `plan`: the plan, with scripts and cases that keep results of the base;
            `uses`: records what is used.
    """

    writer: RunWriter
    broken: Sequence[SuiteSource] = ()
    launches: int = 0
    show_outputs: bool = True
    head: Run | None = None
    reducer: RunReducer = field(default_factory=RunReducer)
    scripts: list[Script] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    message: str | None = None
    finished: list[tuple[SuiteReducer, CaseResult]] = field(default_factory=list)
    layers: Sequence[LaunchLayer] = ()
    plan: Plan | None = None
    uses: UseRecorder | None = None
    _progress: dict[tuple[str, str], Tally] = field(default_factory=dict)
    _sums: dict[int, SuiteSums] = field(default_factory=dict)
    _filtered: dict[str, None] = field(default_factory=dict)
    _invalid: int = 0
    _failures: dict[str, list[ErrorInfo]] = field(default_factory=dict)
    _suite_events: int = 0
    _flushed: _FlushState = field(default_factory=_FlushState)

    @property
    def stage(self) -> str:
        """The name of the folder of the run."""
        return self.writer.folder.name

    def record_event(self, event: LaunchEvent) -> None:
        """Record an event, and flush if it is due."""
        self.finished.clear()
        if isinstance(event, EventsReceived):
            self._record_events(event)
        elif isinstance(event, UsageCounted | MediaReceived | TracesReceived):
            self._record_addition(event)
        elif isinstance(event, Progress):
            self._progress[event.script, event.tally.log] = event.tally
        elif isinstance(event, Finished):
            script = event.script
            failures = self._failures.pop(script.name, [])
            errors = [*([script.error] if script.error else []), *failures]
            self.scripts.append(replace(script, error=errors[0] if errors else None))
            self.notices += (f"{script.name}: {error.message}" for error in errors[1:])
        elif isinstance(event, Failed):
            self._failures.setdefault(event.script, []).append(event.error)
        elif isinstance(event, Filtered):
            if event.suite not in self._filtered and len(self._filtered) < _MOST_FILTERED:
                self._filtered[event.suite] = None
                self.notices.append(
                    f"{event.script}: suite {event.suite!r:.100} is not recorded: it matches no --suite"
                )
        elif isinstance(event, Notice):
            self.notices.append(f"{event.script}: {event.notice}")
        self.flush_if_due()

    def _record_events(self, received: EventsReceived) -> None:
        log, suite = _key(received.script, received.log), None
        for original in received.events:
            event, invalid = drop_invalid_numbers(original)
            for problem in invalid:
                self._invalid += 1
                if self._invalid <= _MOST_INVALID:
                    self.notices.append(f"{received.script}: {problem}")
            if isinstance(event, SuiteStarted):
                self.message = self.message or event.message
            self._suite_events += getattr(event, "case", None) is None
            if suite is None or suite.id != event.suite:  # most events are of the same suite as the one before
                suite = self.reducer.find_suite(log, received.script, event.suite)
            if (case := suite.apply(event)) is not None:
                self.finished.append((suite, self._write(case)))

    def _record_addition(self, event: UsageCounted | MediaReceived | TracesReceived) -> None:
        """Record what arrives besides the events of suites."""
        if isinstance(event, UsageCounted):
            self._add_usage(event)
        elif isinstance(event, MediaReceived):
            self._record_media(event)
        else:
            self._record_traces(event)

    def _add_usage(self, counted: UsageCounted) -> None:
        suite = self.reducer.suites.get((_key(counted.script, counted.log), counted.suite))
        if suite is not None:  # a suite without a selected case is not in the run
            suite.counted = counted.usage
            self._suite_events += 1

    def _record_traces(self, received: TracesReceived) -> None:
        """Record trajectories with their trials, whose own ones count."""
        suites = [suite for suite in self.reducer.suites.values() if suite.script == received.script]
        unknown = 0
        for each in received.traces if self.show_outputs else ():
            candidates = [
                suite
                for suite in suites
                if each.suite in ("", suite.id, suite.label) and suite.has_trial(each.case, each.repeat)
            ]
            if len(candidates) == 1:
                self.writer.add_trace(candidates[0].index, each.case, each.repeat, each.trace)
            unknown += len(candidates) != 1
        if unknown:
            cases = "1 case that spans name is" if unknown == 1 else f"{unknown:,} cases that spans name are"
            self.notices.append(f"{received.script}: {cases} unknown, or in several suites, and without a trajectory")

    def _record_media(self, event: MediaReceived) -> None:
        notice = _MEDIA_KEPT if self.show_outputs else _MEDIA_NOT_KEPT
        if notice not in self.notices:
            self.notices.append(notice)
        if self.show_outputs:
            self.writer.add_media(event.file)

    def _write(self, case: CaseResult) -> CaseResult:
        case = case if self.show_outputs else without_outputs(case)
        self.writer.add(case)
        return case

    def count_calls(self) -> CallTotals | None:
        """The calls of models so far; None if they aren't counted."""
        return count_calls(self.layers)

    def tallies(self) -> Iterator[tuple[str, Tally]]:
        """How far every suite is, each with its script."""
        reported = {_key(*names): tally for names, tally in self._progress.items()}
        for (key, _), suite in self.reducer.suites.items():
            tally = reported.pop(key, None)
            script = suite.script or ""
            log = key.removeprefix(f"{script}:")
            if tally is None or suite.finished is not None:
                tally = tally_suite(suite, log, self._sums.setdefault(suite.index, SuiteSums()))
            yield script, tally
        for (script, log), tally in self._progress.items():
            if _key(script, log) in reported:
                yield script, tally

    def finish(self, run: Run, *, interrupted: bool = False) -> Run:
        """Write the cases that never finished, and the run itself.

        Args:
            run: the run without its suites and scripts.
            interrupted: scripts were stopped before their end.
        """
        for case in self.reducer.close():
            self._write(case)
        for offered in () if self.plan is None else self.plan.offered:
            self.writer.add_media_of(offered)
        if (more := self._invalid - _MOST_INVALID) > 0:
            self.notices.append(f"{more:,} more numbers of cases are ignored: they are not valid")
        # Outputs that are not kept take the contests of pending reviews along, which columns count.
        is_exact = self.show_outputs or not any(suite.columns.contested for suite in self.reducer.suites.values())
        dependencies = RunDependencies() if self.uses is None else self.uses.collect()
        end = replace(run.end, complete=not interrupted)
        result = replace(self._with_results(run), end=end, dependencies=dependencies)
        carried = None if self.plan is None else self.plan.carried
        if dependencies.is_recorded:  # else no result of the base is kept
            from scoregate.kernel.run.kept_results import add_kept_cases

            result = add_kept_cases(result, None if self.plan is None else self.plan.kept)
        if carried is not None:
            from scoregate.kernel.run.kept_results import add_carried

            result = add_carried(result, carried, self.writer)
        return self.writer.finish(result, with_columns=is_exact and carried is None)

    def flush_if_due(self) -> None:
        """Flush what has finished, unless the last flush was a moment ago."""
        now, flushed = time.monotonic(), self._flushed
        if self.head is None or now < flushed.due:
            return
        start = time.thread_time()  # the time that other processes take must not delay the next flush
        # The numbers differ from the last flush if something other than a case was added.
        state = (
            len(self.reducer.suites),
            self._suite_events,
            len(self.scripts),
            len(self.notices),
            len(self._filtered),
        )
        self.writer.flush(self._with_results(self.head) if state != flushed.state else None)
        flushed.state = state
        flushed.due = now + max(FLUSH_EVERY_S, _FLUSH_SHARE * (time.thread_time() - start))

    def _with_results(self, head: Run) -> Run:
        """The run with its results so far."""
        scripts = [
            Script(source.path, error=ErrorInfo("CannotRun", source.error or "it can't be run"))
            for source in self.broken
        ]
        ended = {script.name for script in self.scripts}
        started = {suite.script for suite in self.reducer.suites.values() if suite.script}
        interrupted = ErrorInfo(INTERRUPTED, "it was stopped before its end")
        scripts += [*(Script(name, error=interrupted) for name in started - ended), *self.scripts]
        return replace(
            head,
            suites=self.reducer.results(),
            scripts=tuple(sorted(scripts, key=lambda script: script.name)),
            notices=(*head.notices, *self.notices),
            scope=replace(head.scope, left_out=tuple(dict.fromkeys((*head.scope.left_out, *self._filtered)))),
            code=replace(head.code, message=head.code.message or self.message),
        )


def _key(script: str, log: str) -> str:
    return f"{script}:{log}"


def without_outputs(case: CaseResult) -> CaseResult:
    """The case with its scores, but without outputs, traces and the details of evaluations."""
    evaluations = {}
    for name, evaluation in case.evaluations.items():
        assertions = evaluation.assertions and tuple(replace(each, metadata=None) for each in evaluation.assertions)
        evaluations[name] = replace(evaluation, metadata=None, assertions=assertions)
    labels = {name: replace(each, metadata=None) for name, each in case.labels.items()}
    scores = replace(case, evaluations=evaluations, labels=labels, contests={})
    return replace(scores, output=None, trace=None, review_outputs=())
