"""ReportView: every string and number that a report prints, worst first; built by `build_view`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from scoregate.ci.report import number_format
from scoregate.ci.report.alert import Alert
from scoregate.ci.report.arms import ArmView
from scoregate.ci.report.base_runs import EarlierRunView
from scoregate.ci.report.cases import ErrorView, FailingCase, merge_errors
from scoregate.ci.report.context import ReportContext
from scoregate.ci.report.coverage import CoverageView
from scoregate.ci.report.drops import DropView
from scoregate.ci.report.exemptions import ExemptionView, QuarantinedView
from scoregate.ci.report.heading import find_mark, find_unwatched
from scoregate.ci.report.history import PastRunView
from scoregate.ci.report.model_calls import CallsTable
from scoregate.ci.report.rows import ReportState, RowView
from scoregate.ci.report.run_start import RunStart
from scoregate.ci.report.slices import SliceView
from scoregate.ci.report.suites import PairedSuite, SuiteView, Totals
from scoregate.ci.report.variants_view import VariantTable
from scoregate.core.comparison.comparison_rows import Row
from scoregate.core.comparison.slice_rows import UncomparedValues
from scoregate.core.gate.finding import Conclusion, Finding
from scoregate.core.media import ReadMedia
from scoregate.core.records import record
from scoregate.core.runs.cases import CaseKey, CaseResult
from scoregate.core.runs.cost_estimates import RunEstimate
from scoregate.core.runs.run import Confirmation, ReusedRun
from scoregate.core.text import natural_sort_key

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
class ReportView:
    """Everything that reports print, and readers of cases for reports that list all cases.

    `base` is the baseline, of `pooled` runs of its commit and of `earlier_runs`; `base_runs` describes them. Without a
    baseline, the first of the `notices` says what to expect.
    `quantities` compare latency, tokens and cost. `warnings` are findings that do not fail the gate; `policy_changes`
    are the differences between the gates and those of the baseline.
    `failing` are the newly failing cases, or all failing cases if there are none: the largest drops of
    `failing_total`, suites in turn. `drops` are the largest drops of scores without a threshold.
    `cases` reads every trial, in the order in which they finished; `cases_of` those of one suite, `base_cases` those
    of the baseline; `read_media` reads an image or audio of either. `paired_suites` hold the scores of both. `history`
    lists the known earlier runs, oldest first. `variants` rank the variants of suites with several tasks or parameters.
    `start` says how the run was started.
    `not_applied` names relative gates that are set without a baseline. `ungated_note` is the notice about suites in
    which nothing can fail. `slices` are the rows of slices, worst first;
    `slices_left_out` are the values that are not compared. `model_calls` are the calls that the gateway counted,
    `estimate` is what the run was expected to use.
    `exemptions` are the accepted regressions and all entries without an effect; `quarantined` are the cases in
    quarantine, which nothing else in the view counts. `alert` is what a run of the base branch alerts about. `arms`
    are the effects of skills and other files for agents. `coverage` is what no case uses of the listed tools and
    prompts.
    """

    context: ReportContext
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
    drops: tuple[DropView, ...]
    failing_total: int
    newly_failing: tuple[tuple[str, CaseKey], ...]
    newly_passing: tuple[tuple[str, CaseKey], ...]
    gone: tuple[str, ...]
    errors: tuple[ErrorView, ...]
    notices: tuple[str, ...]
    models: tuple[str, ...]
    cases: Callable[[], Iterator[CaseResult]]
    cases_of: Callable[[int], Iterator[CaseResult]]
    base_cases: Callable[[], Iterable[CaseResult]]
    paired_suites: tuple[PairedSuite, ...]
    history: tuple[PastRunView, ...] = ()
    not_applied: tuple[str, ...] = ()
    ungated_note: str = ""
    slices: tuple[SliceView, ...] = ()
    slices_left_out: tuple[UncomparedValues, ...] = ()
    variants: tuple[VariantTable, ...] = ()
    model_calls: CallsTable = CallsTable()
    estimate: RunEstimate | None = None
    exemptions: tuple[ExemptionView, ...] = ()
    quarantined: tuple[QuarantinedView, ...] = ()
    earlier_runs: tuple[EarlierRunView, ...] = ()
    base_runs: str = ""
    alert: Alert | None = None
    arms: tuple[ArmView, ...] = ()
    coverage: CoverageView | None = None
    start: RunStart = RunStart()
    read_media: ReadMedia = lambda _: None

    @property
    def has_newly_failing(self) -> bool:
        """Whether cases fail that passed in the baseline."""
        return bool(self.newly_failing)

    @property
    def base_run_count(self) -> int:
        """The number of runs that make up the baseline."""
        return self.pooled + len(self.earlier_runs)

    @property
    def base_details(self) -> str:
        """The text after the baseline's name: `2 runs of this commit, 3 days old`; may be empty."""
        if self.base is None:
            return ""
        age = self.context.generated_at - self.base.finished
        known_age = 0 < age < self.context.generated_at
        note = self.base_note.removeprefix("stored run").removeprefix(", ") if self.base_runs else self.base_note
        return ", ".join(filter(None, (self.base_runs, note, number_format.age(age) if known_age else "")))

    @property
    def compared_part(self) -> str:
        """The cases that the change of the pass rate is of, if results of the base are counted, too; else empty."""
        paired = self.totals.paired
        is_part = any(each.source for each in self.suites) and paired < self.totals.cases
        return f"in the {number_format.count(paired, 'case')} that ran" if is_part else ""

    @property
    def shown_exemptions(self) -> tuple[ExemptionView, ...]:
        """The entries that reports for people show."""
        return tuple(each for each in self.exemptions if each.needs_attention)

    @property
    def quarantine_effect(self) -> str:
        """Which gates the cases in quarantine are left out of."""
        if compared := sum(each.compared for each in self.quarantined):
            them = "it" if len(self.quarantined) == 1 else "them"
            still = them if compared == len(self.quarantined) else f"{compared:,} of them"
            return f"left out of the gates, but gates that compare scores still count {still}"
        return "left out of every gate"

    @property
    def worst_slices(self) -> tuple[SliceView, ...]:
        """The slices that were compared or miss a gate, worst first."""
        return tuple(each for each in self.slices if each.compared or each.is_bad)

    @property
    def bad_slices(self) -> int:
        """The number of rows of slices that are worse or miss a gate."""
        return sum(each.is_bad for each in self.slices)

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
        return find_mark(self.conclusion, find_unwatched(self.rows, self.slices, self.warnings))

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
    def in_turn(self) -> bool:
        """Whether failing cases come from several suites."""
        return len({case.suite for case in self.failing}) > 1

    @property
    def is_calm(self) -> bool:
        """Whether nothing needs attention: passed without a warning, no row worse, no case newly failing."""
        quiet = all(row.state in (ReportState.NEW, ReportState.BETTER, ReportState.HELD) for row in self.rows)
        passed = self.conclusion is Conclusion.PASSED and not self.warnings
        return passed and quiet and not self.totals.newly_failing
