"""ReportView: every string and number that a report prints, worst first; made by `make_view`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scoregate.ci.report import numbers
from scoregate.ci.report.case_views import FailingCase
from scoregate.ci.report.context import Context
from scoregate.ci.report.harvest import ErrorView
from scoregate.ci.report.past_views import PastView
from scoregate.ci.report.row_views import RowView, State
from scoregate.ci.report.sides import Sides
from scoregate.ci.report.suite_views import SuiteView
from scoregate.ci.report.totals import Totals
from scoregate.core.case import CaseKey, CaseResult
from scoregate.core.confirmation import Confirmation
from scoregate.core.naming import natural
from scoregate.core.record import ReusedRun
from scoregate.core.rows import Row
from scoregate.core.rules import Conclusion, Finding

_STATES = tuple(State)


@dataclass(frozen=True, slots=True)
class RunView:
    """Which run, or base, is spoken of. Times are seconds since the epoch; `name` is `main@a1b2c3d` or its id.

    `message` is what the run was titled by whoever started it; `reused_from` the earlier run whose results it reuses.
    """

    id: str
    name: str
    message: str | None
    commit: str | None
    branch: str | None
    started: float
    finished: float
    version: str
    attempt: int
    dirty: bool
    complete: bool
    reused_from: ReusedRun | None = None


@dataclass(frozen=True, slots=True)
class ReportView:
    """Everything that reports print, and the readers of cases for those that list all of them.

    `quantities` compare latency, tokens and cost; `pooled` runs make up the base. Where there is none, the first of
    the `notices` says what to expect. `warnings` are findings that do not count; `policy_changes` tell how the
    policy differs from the base's.
    `failing` are the newly failing cases, or, where there are none, the failing ones: the largest drops of
    `failing_total`, suites in turn. `cases` reads every trial, in the order in which they finished; `cases_of` those
    of one suite, `base_cases` those of the base. `sides` hold the scores of both. `history` is of the runs before this
    one, as far as they are known, oldest first. `not_applied` names relative gates that are set without a base.
    """

    context: Context
    title: str
    conclusion: Conclusion
    exit_code: int
    run: RunView
    base: RunView | None
    base_note: str
    pooled: int
    totals: Totals
    suites: tuple[SuiteView, ...]
    rows: tuple[RowView, ...]
    quantities: tuple[Row, ...]
    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    policy_changes: tuple[str, ...]
    confirmations: tuple[Confirmation, ...]
    failing: tuple[FailingCase, ...]
    failing_total: int
    newly: bool
    newly_failing: tuple[tuple[str, CaseKey], ...]
    newly_passing: tuple[tuple[str, CaseKey], ...]
    gone: tuple[str, ...]
    errors: tuple[ErrorView, ...]
    notices: tuple[str, ...]
    models: tuple[str, ...]
    cases: Callable[[], Iterator[CaseResult]]
    cases_of: Callable[[int], Iterator[CaseResult]]
    base_cases: Callable[[], Iterator[CaseResult]]
    sides: tuple[Sides, ...]
    history: tuple[PastView, ...] = ()
    not_applied: tuple[str, ...] = ()

    @property
    def base_details(self) -> str:
        """What follows the base's name: `2 runs of this commit, 3 days old`; empty where there is nothing to say."""
        if self.base is None:
            return ""
        age = self.context.generated_at - self.base.finished
        known_age = 0 < age < self.context.generated_at
        pooled = f"{self.pooled} runs of this commit" if self.pooled > 1 else ""
        note = self.base_note.removeprefix("stored run").removeprefix(", ") if pooled else self.base_note
        return ", ".join(filter(None, (pooled, note, numbers.age(age) if known_age else "")))

    @property
    def near(self) -> tuple[Finding, ...]:
        """The findings that hold, but by less than noise, or although the estimate is beyond their limit."""
        return tuple(found for found in self.findings if found.uncertain and found.conclusion is Conclusion.PASSED)

    @property
    def ungated_errors(self) -> tuple[ErrorView, ...]:
        """The errors that no finding reports, and those that come with advice."""
        return tuple(error for error in self.errors if not error.gated or error.advice)

    @property
    def heading(self) -> str:
        """The title, after the message that the run was started with."""
        return " · ".join(filter(None, (self.run.message, self.title)))

    @property
    def ordered_suites(self) -> tuple[SuiteView, ...]:
        """The suites, the worst first, then by name: no order tells which of them was faster."""
        return tuple(sorted(self.suites, key=lambda suite: (_STATES.index(suite.state), natural(suite.label))))

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that do not hold, failed ones first."""
        return tuple(finding for finding in self.findings if finding.conclusion is not Conclusion.PASSED)

    @property
    def in_turn(self) -> bool:
        """Whether failing cases of several suites take turns."""
        return len({case.suite for case in self.failing}) > 1

    @property
    def calm(self) -> bool:
        """Whether nothing asks for attention: passed without a warning, no row worse, no case newly failing."""
        quiet = all(row.state in (State.NEW, State.BETTER, State.HELD) for row in self.rows)
        passed = self.conclusion is Conclusion.PASSED and not self.warnings
        return passed and quiet and not self.totals.newly_failing
