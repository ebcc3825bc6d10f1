"""The tests that the plug-in of a test runner records while they run, besides the runner's result files."""

from __future__ import annotations

from dataclasses import dataclass, field

from scoregate.kernel.run.launch.events import EmitEvent, EventsReceived, LaunchEvent
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.events import CaseStarted, Errored, Event, Scored, SuiteFinished, SuiteStarted

_SDK = "pytest"
EXIT_CODE = 1


@dataclass(slots=True)
class RecordedTests:
    """What the events of one launch say about its tests.

    Args:
        launch: the launch.
        cases: `SUITE::CASE` of each recorded test, if a result file could hold it, too.
        has_failure: whether a score of a test failed. An error is none: within the allowed error rate, a run with
            errors alone would be green although its test runner failed.
        is_explained: whether the last test runner reports that it exits with 1 because of these tests alone.
    """

    launch: Launch
    cases: set[str] = field(default_factory=set)
    has_failure: bool = False
    is_explained: bool = False
    _suites: set[tuple[str, str]] = field(default_factory=set)

    def watch(self, emit: EmitEvent) -> EmitEvent:
        """A function that notes the tests in events, and passes everything on."""

        def note_and_emit(event: LaunchEvent) -> None:
            if isinstance(event, EventsReceived):
                for each in event.events:
                    if self._suites or isinstance(each, SuiteStarted):  # other SDKs cost no look at their events
                        self._note(event.log, each)
            emit(event)

        return note_and_emit

    def explain(self, exit_code: int | None) -> bool:
        """Whether an exit code only says that tests failed, as the record does."""
        return exit_code == EXIT_CODE and self.is_explained and self.has_failure

    def _note(self, log: str, event: Event) -> None:
        if isinstance(event, SuiteStarted) and (event.sdk or "").split()[2:] == [_SDK]:
            self._suites.add((log, event.suite))
        elif (log, event.suite) not in self._suites:
            return
        # Without a result file, no test can be listed twice.
        elif isinstance(event, CaseStarted) and self.launch.source.imports:
            self.cases.add(f"{event.suite}::{event.case}")
        elif isinstance(event, SuiteFinished):
            self.is_explained = event.tests_failed
        else:
            self.has_failure |= is_failed_score(event)


def is_failed_score(event: Event) -> bool:
    """Whether an event is a score below its threshold."""
    return isinstance(event, Scored) and event.threshold is not None and event.threshold.holds(event.score) is False


def is_failure(event: Event) -> bool:
    """Whether an event makes a test runner report a failed test."""
    return isinstance(event, Errored) or is_failed_score(event)
