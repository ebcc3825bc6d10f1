"""ReportView: every string and number that a report prints, worst first; built by `build_view`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from scoregate.kernel.gate import Verdict
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.base_runs import EarlierRunView
from scoregate.kernel.report.case_order import FailedGates
from scoregate.kernel.report.cases import ErrorView, FailingCase, merge_errors
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.report.drops import DropView
from scoregate.kernel.report.heading import find_mark, list_unwatched
from scoregate.kernel.report.history import PastRunView
from scoregate.kernel.report.rows import ReportState, RowView
from scoregate.kernel.report.suites import PairedSuite, SuiteView, Totals
from scoregate.kernel.report.text import shorten_list
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.media import ReadMedia
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.confirmations import Confirmation
from scoregate.kernel.types.runs.reuse import ReusedRun
from scoregate.kernel.types.slots import NO_SLOTS, Place, Section, Slots, select_sections
from scoregate.kernel.types.text import natural_sort_key

_STATE_ORDER = tuple(ReportState)


@record
class RunView:
    """The run or the baseline of a report. Times are seconds since the epoch; `name` is `main@a1b2c3d` or the id.

    `message` is the title of the run; `reused_from` is the earlier run whose results it reuses; `selection` are the
    options that left out cases.
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
    selection: str = ""


@record
class BaselineView:
    """What the run is compared with.

    Attributes:
        note: what the baseline is, or why there is none.
        pooled: the number of runs of its commit.
        earlier_runs: runs of other commits whose scores count too.
        runs: describes these runs; empty for a single one.
        gone: the labels of suites that only the baseline has.
    """

    note: str = ""
    pooled: int = 1
    earlier_runs: tuple[EarlierRunView, ...] = ()
    runs: str = ""
    gone: tuple[str, ...] = ()


@record
class NotableCases:
    """The cases that reports show in detail.

    Attributes:
        failing: the newly failing cases, or all failing ones if there are none: those of failed gates first, then
            the largest drops, suites in turn.
        failing_total: how many of these there are.
        drops: the largest drops of scores without a threshold, of cases that are not in `failing`.
        newly_failing: the label of the suite and the key of each trial that passed in the baseline and fails.
        newly_passing: the same for trials that failed in the baseline and pass.
    """

    failing: tuple[FailingCase, ...] = ()
    failing_total: int = 0
    drops: tuple[DropView, ...] = ()
    newly_failing: tuple[tuple[str, CaseKey], ...] = ()
    newly_passing: tuple[tuple[str, CaseKey], ...] = ()


@record
class TrialReaders:
    """Readers of the trials, for reports that list all cases.

    Attributes:
        read: reads every trial, in the order in which they finished.
        read_suite: reads those of one suite, by its index.
        read_base: reads those of the baseline.
        read_media: reads an image or audio of either run.
    """

    read: Callable[[], Iterator[CaseResult]]
    read_suite: Callable[[int], Iterator[CaseResult]]
    read_base: Callable[[], Iterable[CaseResult]]
    read_media: ReadMedia = lambda _: None


@record
class ReportView:
    """Everything that reports print, worst first.

    Attributes:
        context: where the report is read.
        title: the verdict in a few words.
        verdict: the verdict of the gate rules.
        findings: those of the verdict in the order of reports.
        run: the run.
        base: the baseline; None without one.
        baseline: describes it.
        totals: counts over all suites.
        suites: the suites in the order of the run.
        rows: the rows of scores.
        confirmations: the results of newly failing cases that ran again.
        notable: the cases that are shown in detail.
        errors: all errors.
        notices: sentences. Without a baseline, the first one says what to expect.
        models: the models of evaluators.
        trials: reads the trials.
        paired_suites: the scores of the run and of the baseline.
        history: the known earlier runs, oldest first.
        sections: what features say.
        slots: what features add for publishers.
    """

    context: ReportContext
    title: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    run: RunView
    base: RunView | None
    baseline: BaselineView
    totals: Totals
    suites: tuple[SuiteView, ...]
    rows: tuple[RowView, ...]
    confirmations: tuple[Confirmation, ...]
    notable: NotableCases
    errors: tuple[ErrorView, ...]
    notices: tuple[str, ...]
    models: tuple[str, ...]
    trials: TrialReaders
    paired_suites: tuple[PairedSuite, ...]
    history: tuple[PastRunView, ...] = ()
    sections: tuple[Section, ...] = ()
    slots: Slots = NO_SLOTS

    def sections_at(self, *places: Place) -> tuple[Section, ...]:
        """What features say at these places."""
        return tuple(select_sections(self.sections, *places))

    @property
    def has_newly_failing(self) -> bool:
        """Whether cases fail that passed in the baseline."""
        return bool(self.notable.newly_failing)

    @property
    def base_run_count(self) -> int:
        """The number of runs that make up the baseline."""
        return self.baseline.pooled + len(self.baseline.earlier_runs)

    @property
    def base_details(self) -> str:
        """The text after the baseline's name: `2 runs of this commit, 3 days old`; may be empty."""
        if self.base is None:
            return ""
        age = self.context.generated_at - self.base.finished
        known_age = 0 < age < self.context.generated_at
        note, runs = self.baseline.note, self.baseline.runs
        note = note.removeprefix("stored run").removeprefix(", ") if runs else note
        return ", ".join(filter(None, (runs, note, number_format.age(age) if known_age else "")))

    @property
    def compared_part(self) -> str:
        """The cases that the change of the pass rate is of, if results of the base are counted, too; else empty."""
        paired = self.totals.paired
        is_part = any(each.source for each in self.suites) and paired < self.totals.cases
        return f"in the {number_format.count(paired, 'case')} that ran" if is_part else ""

    @property
    def near(self) -> tuple[Finding, ...]:
        """The gates that hold by less than noise, or although the estimate is beyond their limit."""
        return tuple(each for each in self.findings if each.uncertain and each.conclusion is Conclusion.PASSED)

    @property
    def ungated_errors(self) -> tuple[ErrorView, ...]:
        """The errors that no gate reports, and those with advice; one for all messages of an error of cases."""
        return merge_errors(error for error in self.errors if not error.gated or error.advice)

    @property
    def heading(self) -> str:
        """The title of the run, then the verdict."""
        return " · ".join(filter(None, (self.run.message, self.title)))

    @property
    def mark(self) -> Conclusion | ReportState:
        """The mark of the heading: a run that passed has no tick if something is worse without a gate."""
        return find_mark(self.verdict.conclusion, list_unwatched(self.rows, self.verdict.warnings, self.sections))

    @property
    def ordered_suites(self) -> tuple[SuiteView, ...]:
        """The suites, the worst first, then by name, so that the order does not depend on timing."""
        return tuple(
            sorted(self.suites, key=lambda suite: (_STATE_ORDER.index(suite.state), natural_sort_key(suite.label)))
        )

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The gates that do not hold, failed ones first."""
        return tuple(finding for finding in self.findings if finding.conclusion is not Conclusion.PASSED)

    @property
    def listed_gates(self) -> tuple[Finding, ...]:
        """The gates that do not hold, without repeats: what hides all scores of a suite is listed once, for all."""
        groups: dict[tuple[object, ...], list[Finding]] = {}
        for index, each in enumerate(self.failed):
            is_shared = each.conclusion is Conclusion.UNMEASURABLE and each.evaluator is not None
            key = (each.rule, each.suite, each.value, each.limit, each.origin) if is_shared else (index,)
            groups.setdefault(key, []).append(each)
        return tuple(_join_evaluators(group) for group in groups.values())

    @property
    def in_turn(self) -> bool:
        """Whether failing cases come from several suites."""
        return len({case.suite for case in self.notable.failing}) > 1

    @property
    def shows_failed_gates_first(self) -> bool:
        """Whether some failing cases are listed before others because a gate on them failed."""
        gates = FailedGates.from_findings(self.findings)
        places = {gates.rank(each.suite, [miss.evaluator for miss in each.misses]) for each in self.notable.failing}
        return len(places) > 1

    @property
    def is_calm(self) -> bool:
        """Whether nothing needs attention: passed without a warning, no row worse, no case newly failing."""
        quiet = all(row.state in (ReportState.NEW, ReportState.BETTER, ReportState.HELD) for row in self.rows)
        passed = self.verdict.conclusion is Conclusion.PASSED and not self.verdict.warnings
        return passed and quiet and not self.totals.flips.newly_failing


def _join_evaluators(findings: Sequence[Finding]) -> Finding:
    """One finding for several that differ in nothing but their evaluators."""
    first, *others = findings
    if not others:
        return first
    return replace(first, evaluator=shorten_list([each.evaluator or "" for each in findings]))
