"""Runs of a part of the cases: what is recorded, when they stop, and which cases failed last."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import anyio
from pydantic import ValidationError

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive import EARLIER, RUN_FOLDER, read_run
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.limit_fields import LimitFields
from scoregate.kernel.judge.settings.sources import COMMAND_LINE
from scoregate.kernel.judge.settings.tables import Command, RowSettings
from scoregate.kernel.run.launch import EventsReceived
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Scored,
    SuiteStarted,
    ToolCalled,
)
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.policy import list_one_run_limits
from scoregate.kernel.types.runs.reducer import SuiteReducer
from scoregate.kernel.types.runs.run import Run, Script, SuiteResult
from scoregate.kernel.types.runs.run_scope import ExecCall
from scoregate.kernel.types.runs.suite_labels import suite_label
from scoregate.kernel.types.selection import CaseLabels, CaseSelection

_OWN_SDK = "scoregate "
_FAILING = (Status.FAILED, Status.ERRORED)
_LATER = (CaseOutput, ToolCalled, Scored, CaseFinished)  # scoregate's SDKs start a case before
_OF_CASE = (CaseStarted, *_LATER)
FailedCases = dict[str, dict[str, list[str]]]
_ADVICE = (
    "Write FILE::SUITE or FILE::SUITE::CASE. `scoregate list` shows the suites, and the last report the cases; "
    "a variant has the name of its suite."
)


@dataclass(slots=True)
class _SuiteState:
    """A suite in one log. `held`: its start, until a case or an error of it is recorded."""

    label: str = ""
    is_own: bool = False
    held: SuiteStarted | None = None
    cases: dict[str, bool] = field(default_factory=dict)


@dataclass(slots=True)
class CaseFilter:
    """Drops events of suites and cases that a selection leaves out.

    scoregate's SDKs leave these cases out themselves; for a program that runs all, this is the only limit. A suite
    without a selected case is not recorded, unless it reports an error.
    """

    selection: CaseSelection
    paths: Mapping[str, str]
    notices: dict[str, None] = field(default_factory=dict)
    _suites: dict[tuple[str, str, str], _SuiteState] = field(default_factory=dict)
    _found: set[str] = field(default_factory=set)

    @classmethod
    def for_plan(cls, selection: CaseSelection, plan: Plan) -> CaseFilter | None:
        """The filter for a plan; None if it would leave out nothing."""
        if not selection.description:
            return None
        return cls(selection, {launch.name: launch.source.path for launch in plan.launches})

    def select(self, received: EventsReceived) -> EventsReceived:
        """The events that are recorded."""
        events: list[Event] = []
        certain = _LATER if self.selection.nodes else _OF_CASE  # of a suite that leaves cases out itself
        for event in received.events:
            key = (received.script, received.log, event.suite)
            if (state := self._suites.get(key)) is None:
                state = self._suites[key] = _SuiteState()
            if state.is_own and state.held is None and isinstance(event, certain):
                events.append(event)
            else:
                events += self._select(received.script, state, event)
        return replace(received, events=events)

    def _select(self, script: str, state: _SuiteState, event: Event) -> Iterator[Event]:
        if isinstance(event, SuiteStarted):
            state.is_own = (event.sdk or "").startswith(_OWN_SDK)
            state.label = suite_label(event.suite, event.params)
            state.held = event if state.is_own else replace(event, cases=None)
            if not state.is_own and self.selection.sample is not None:
                self.notices.setdefault(f"{script}: suite {event.suite!r:.100} can't be sampled, so all its cases ran")
            return
        case = getattr(event, "case", None)
        is_recorded = isinstance(event, Errored) if case is None else self._takes(script, state, event, case)
        if is_recorded and state.held is not None:
            yield state.held
            state.held = None
        if is_recorded or (case is None and state.held is None):
            yield event

    def _takes(self, script: str, state: _SuiteState, event: Event, case: str) -> bool:
        if not state.is_own and case in state.cases and not isinstance(event, CaseStarted):
            return state.cases[case]
        name, tags = (event.name or "", event.tags) if isinstance(event, CaseStarted) else ("", ())
        labels = CaseLabels(case, name, tuple(tags))
        path = self.paths.get(script, script)
        is_taken = state.is_own or self.selection.takes_case(path, script, event.suite, labels, state.label)
        if is_taken:
            self._note_nodes(path, event.suite, labels)
        if not state.is_own:  # of scoregate's own suites all are taken, and there may be millions
            state.cases[case] = is_taken
        return is_taken

    def _note_nodes(self, path: str, suite: str, case: CaseLabels) -> None:
        for node in self.selection.nodes:
            if node.holds_source(path) and node.suite in ("", suite) and node.case in ("", case.hash, case.name):
                self._found.add(str(node))

    def missing_nodes(self) -> Sequence[Script]:
        """A failure for each named suite or case that didn't run."""
        names = [str(node) for node in self.selection.expected_nodes if str(node) not in self._found]
        error = ErrorInfo("NotFound", "no suite or case of this name ran", advice=_ADVICE)
        return [Script(name, error=error) for name in dict.fromkeys(names)]


Excuse: TypeAlias = Callable[[SuiteResult, CaseResult], bool]
"""Whether the failure of a case is excused, while its run is recorded."""


@dataclass(slots=True)
class FailureLimit:
    """Counts failing cases that nothing excuses.

    Args:
        most: the number at which the run stops; None for no limit.
        excuses: say which failures are excused.
        reached: is set at this number.
    """

    most: int | None
    excuses: Sequence[Excuse] = ()
    reached: anyio.Event = field(default_factory=anyio.Event)
    _failing: set[tuple[str | None, str, str]] = field(default_factory=set)

    def count(self, finished: Iterable[tuple[SuiteReducer, CaseResult]]) -> None:
        """Count the failing cases among those that finished, also after the stop. Repeats of a case count once."""
        if self.most is None:
            return
        self._failing.update(
            (suite.script, suite.label, case.hash)
            for suite, case in finished
            if case.status in _FAILING and not self._is_excused(suite, case)
        )
        if len(self._failing) >= self.most:
            self.reached.set()

    def _is_excused(self, suite: SuiteReducer, case: CaseResult) -> bool:
        return any(excuse(suite.result(suite.label), case) for excuse in self.excuses)

    def describe(self) -> str:
        """Why the run stopped; empty if it didn't."""
        if not self.reached.is_set():
            return ""
        return f"{number_format.count(len(self._failing), 'case')} failed; cases that had not started did not run"


FindExcused: TypeAlias = Callable[[Run], Collection[tuple[int, str]]]


def find_last_failures(out: Path, find_excused: FindExcused = lambda _: ()) -> FailedCases:
    """The hashes of the cases that failed when they ran last, by script and suite, without those that are excused.

    The newest run counts first. Runs of a part of the cases are completed by older runs, up to one of all cases. An
    empty list is a suite that failed as a whole, an empty mapping such a script.

    Args:
        out: the folder of runs.
        find_excused: finds the cases of a run that are excused, by the index of the suite and the hash.
    """
    outcomes: dict[tuple[str, str, str], bool] = {}
    from scoregate.kernel.gate.run_rules import find_script_failures

    whole_suites: dict[tuple[str, str], bool] = {}
    whole_scripts: dict[str, bool] = {}
    for run in _read_runs(out):
        failures = {} if run.end.stopped else find_script_failures(run)
        for script in run.scripts:
            whole_scripts.setdefault(script.name, script.name in failures)
        outcomes = _read_outcomes(run, find_excused(run)) | outcomes
        whole_suites = _read_suite_errors(run) | whole_suites
        if run.end.complete and not run.scope.selection:
            break
    failed: FailedCases = {}
    for (name, suite_id, case), fails in outcomes.items():
        if fails:
            failed.setdefault(name, {}).setdefault(suite_id, []).append(case)
    for (name, suite_id), fails in whole_suites.items():
        if fails:
            failed.setdefault(name, {})[suite_id] = []
    return failed | {name: {} for name, fails in whole_scripts.items() if fails and "::" not in name}


def _read_outcomes(run: Run, excused: Collection[tuple[int, str]]) -> dict[tuple[str, str, str], bool]:
    """Whether any trial of each case failed and counts, by script and suite.

    Variants of a suite share its id and its cases.
    """
    outcomes: dict[tuple[str, str, str], bool] = {}
    for at, suite in enumerate(run.suites):
        for row, case in enumerate(suite.columns.hashes):
            key = suite.script or "", suite.id, case
            fails = suite.columns.status(row) in _FAILING and (at, case) not in excused
            outcomes[key] = outcomes.get(key, False) or fails
    return outcomes


def _read_suite_errors(run: Run) -> dict[tuple[str, str], bool]:
    """Whether each suite, in any of its variants, has an error of its own."""
    errors: dict[tuple[str, str], bool] = {}
    for suite in run.suites:
        key = suite.script or "", suite.id
        errors[key] = errors.get(key, False) or bool(suite.errors)
    return errors


def _read_runs(out: Path) -> Iterator[Run]:
    for folder in (out / RUN_FOLDER, *sorted(out.glob(f"{EARLIER}/[0-9]*/"), reverse=True)):
        with suppress(RecordError):
            yield read_run(folder)


def describe_exec_call(settings: Settings, redact: Callable[[str], str]) -> ExecCall | None:
    """The call of `scoregate exec` that made these settings; None for `scoregate run`.

    Args:
        settings: the settings of the run.
        redact: removes secrets from a text.
    """
    if settings.origin("commands") != COMMAND_LINE or not settings.commands:
        return None
    command = settings.commands[0]
    return ExecCall(tuple(map(redact, _list_options(command))), tuple(map(redact, command.run)), command.cwd)


def _list_options(command: Command) -> Iterator[str]:
    """The options that say how results are read, with their values."""
    named = (("--junit", command.junit), ("--junit-scores", command.junit_scores), ("--import", command.imports))
    for option, values in named:
        for value in values:
            yield from (option, value)
    for column in _list_columns(command.rows) if command.rows is not None else ():
        yield from ("--rows", column)


def _list_columns(rows: RowSettings) -> Iterator[str]:
    for key, value in rows.model_dump(exclude_defaults=True).items():
        for each in value if isinstance(value, tuple) else (value,):
            yield f"{key}={str(each).lower() if isinstance(each, bool) else each}"


def with_one_run_limits(settings: Settings, policy: Mapping[str, Any]) -> Settings:
    """The settings with the limits that were set for one run alone: the project's file doesn't have them.

    Args:
        settings: the settings of the project.
        policy: the policy in the record of the run.

    Raises:
        RecordError: a limit in the record is not valid.
    """
    one_run_limits = [each for each in list_one_run_limits(policy) if each.name in LimitFields.model_fields]
    try:
        limits = LimitFields.model_validate({each.name: each.value for each in one_run_limits})
    except ValidationError as error:
        raise RecordError(f"the limits in the record of the run are not valid: {error!s:.500}") from None
    values = {each.name: getattr(limits, each.name) for each in one_run_limits}
    origins = {tuple(filter(None, (each.name, each.path))): each.place for each in one_run_limits}
    return settings.model_copy(update={**values, "origins": {**settings.origins, **origins}})
