"""The suites of a run: passed cases, latency, tokens, cost and errors; and the totals of all suites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.estimates import Estimate, NoEstimate, estimate_difference
from scoregate.kernel.compare.flips import pair_pass_rates
from scoregate.kernel.compare.pairing import Pairs
from scoregate.kernel.compare.statistics.significance import sign_flip_test
from scoregate.kernel.gate import Verdict
from scoregate.kernel.report.context import ReportContext, source_url
from scoregate.kernel.report.rows import ReportState, findings_by_suite
from scoregate.kernel.report.spending import (
    Spending,
    SpendingText,
    format_spending,
    measure_spending,
)
from scoregate.kernel.types.amounts import Conclusion, find_known
from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.case_columns import Columns, known_values
from scoregate.kernel.types.runs.case_means import PassRate, count_passes, describe_weights
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.evidence import TrialOrigin, Use
from scoregate.kernel.types.runs.past_runs import SuiteMetrics
from scoregate.kernel.types.runs.run import SuiteResult, sum_costs, sum_tokens


@record
class TrialCounts:
    """The number of trials by their status."""

    trials: int
    passed: int
    failed: int
    errored: int
    scored: int
    unscored: int

    @classmethod
    def from_columns(cls, suites: Sequence[Columns]) -> TrialCounts:
        """Count the trials of suites."""
        statuses = (Status.PASSED, Status.FAILED, Status.ERRORED, Status.SCORED, Status.UNSCORED)
        return cls(sum(map(len, suites)), *(sum(each.count(status) for each in suites) for status in statuses))

    @property
    def judged(self) -> int:
        """The number of trials that met or missed a threshold."""
        return self.passed + self.failed


@record
class SuiteSpending:
    """What a suite used, in the run and in the baseline, and the text of both.

    `changed` are the measures of latency, tokens and cost that changed significantly.
    """

    now: Spending
    base: Spending | None
    text: SpendingText
    changed: tuple[str, ...] = ()


@record
class SuiteView:
    """One suite. `index` is its position in the run; `time_s` is the sum of the durations of its trials.

    `pass_rate` is the share of a case's trials that passed, of those that passed or failed, averaged over cases.
    `reused` trials come from an earlier run. `past` holds the results of earlier runs, empty if none are known.
    `carried` is the run that the results come from, if no change can affect the suite and it did not run. `kept` is the
    same for the `reused` trials of a suite of which only cases with changed rows ran.
    """

    index: int
    id: str
    label: str
    state: ReportState
    origin: Origin | None
    evaluators: tuple[str, ...]
    counts: TrialCounts
    planned: int | None
    pass_rate: float | None
    complete: bool
    duration_s: float | None
    time_s: float
    passes: str
    spending: SuiteSpending
    reused: int = 0
    problems: tuple[str, ...] = ()
    past: tuple[SuiteMetrics | None, ...] = ()
    carried: CarriedFrom | None = None
    kept: CarriedFrom | None = None

    @property
    def source(self) -> str:
        """Which results are those of the base's run; empty if there are none."""
        if self.kept is not None:
            return f"{self.reused:,} of {self.counts.trials:,} results are those of {self.kept.name}"
        return "" if self.carried is None else f"results of {self.carried.name}"


_CHANGES = (RowLabel.BETTER, RowLabel.WORSE)
_STATES = {Conclusion.FAILED: ReportState.FAILED, Conclusion.UNMEASURABLE: ReportState.UNMEASURABLE}  # the worst first


def build_suites(comparison: Comparison, verdict: Verdict) -> Iterator[SuiteView]:
    """Build every suite, in the order of the run."""
    base = comparison.base
    pairs = {new: base.suites[old] for new, old in comparison.pairs} if base else {}
    findings = findings_by_suite(verdict)
    for index, suite in enumerate(comparison.run.suites):
        columns, base_suite = suite.columns, pairs.get(index)
        quantities = [row for row in comparison.quantities if row.suite == suite.label]
        conclusions = {finding.conclusion for finding in findings.get(suite.label, ())}
        counted = count_passes([columns])
        yield SuiteView(
            index=index,
            id=suite.id,
            label=suite.label,
            state=_find_state(suite, conclusions),
            origin=suite.origin,
            evaluators=tuple(suite.evaluators),
            counts=TrialCounts.from_columns([columns]),
            planned=suite.planned,
            pass_rate=counted.rate,
            complete=suite.complete,
            duration_s=suite.duration_s,
            time_s=sum(known_values(columns.durations_ms)) / 1000,
            passes=_format_passes(counted),
            spending=SuiteSpending(
                measure_spending(suite),
                measure_spending(base_suite) if base_suite else None,
                format_spending(suite, base_suite, quantities),
                tuple(str(row.measure) for row in quantities if row.label in _CHANGES),
            ),
            reused=columns.reused,
            problems=tuple(f"{error.type}: {error.message}\n{error.traceback}".rstrip() for error in suite.errors),
            past=comparison.run.history.suite_history(suite.label).took,
            carried=suite.trials.find_run(TrialOrigin.CARRIED),
            kept=suite.trials.find_run(TrialOrigin.KEPT),
        )


def _find_state(suite: SuiteResult, conclusions: Collection[Conclusion]) -> ReportState:
    """The state of a suite by its findings. One that did not finish held nothing, also if its script is to blame."""
    unknown = ReportState.HELD if suite.complete else ReportState.UNMEASURABLE
    return next((state for conclusion, state in _STATES.items() if conclusion in conclusions), unknown)


def _format_passes(counted: PassRate) -> str:
    if counted.rate is None:
        return number_format.NONE
    share = f"{number_format.percent(counted.rate)}{counted.weights}"
    return f"{counted.passed:,} of {counted.judged:,} ({share})"


_ALPHA = 0.05
# With fewer flips, even the most uneven split is not significant at 5%.
_FEW_FLIPS = 5


@record
class FlipTotals:
    """The newly failing and newly passing cases. `p` tests whether chance explains their difference (McNemar)."""

    newly_failing: int
    newly_passing: int
    p: float

    @property
    def matter(self) -> bool:
        """Whether significantly more cases newly fail than newly pass."""
        return self.newly_failing > self.newly_passing and self.p <= _ALPHA

    @property
    def text(self) -> str:
        """Whether chance explains their balance, which says nothing about one score; empty without any."""
        flips = self.newly_failing + self.newly_passing
        if not flips:
            return ""
        if self.p <= _ALPHA:
            return "significant"
        return "too few to decide alone" if flips < _FEW_FLIPS else "their balance alone may be chance"


@record
class Totals:
    """Counts of all suites; `cases` counts a case once, however often it was repeated.

    `pass_rate` is the share of a case's trials that met a threshold, of those that met or missed one, averaged over
    cases. `change` is that over the `paired` cases that did so in both runs, by the same evaluators. `with_errors`
    counts the trials that had an error, also of those that have a score. `cost_change` is over the suites whose cost is
    known in both runs.
    """

    suites: int
    cases: int
    counts: TrialCounts
    with_errors: int
    pending: int
    flips: FlipTotals
    pass_rate: float | None
    change: Estimate | NoEstimate
    paired: int
    cost: float | None
    cost_change: float | None
    tokens: float | None
    duration_s: float

    @property
    def weights(self) -> str:
        """Why the pass rate isn't the share of trials that pass: `, each case counts once`; empty if it is."""
        return describe_weights(self.pass_rate, self.counts.passed, self.counts.judged)

    @property
    def has_moved(self) -> bool:
        """Whether the change of the pass rate is significant."""
        return self.change.p <= _ALPHA


def build_totals(comparison: Comparison) -> Totals:
    """Count the trials, costs and flips of a comparison."""
    run, suites = comparison.run, [suite.columns for suite in comparison.run.suites]
    newly_failing, newly_passing = len(comparison.newly_failing), len(comparison.newly_passing)
    flips_p = sign_flip_test([-1.0] * newly_failing + [1.0] * newly_passing) or 0.0  # McNemar's mid-p
    changes = tuple((change, 1) for change in _list_pass_rate_changes(comparison))
    return Totals(
        suites=len(suites),
        cases=sum(columns.case_count for columns in suites),
        counts=TrialCounts.from_columns(suites),
        with_errors=sum(len(columns.errored_rows()) for columns in suites),
        pending=sum(columns.pending for columns in suites),
        flips=FlipTotals(newly_failing, newly_passing, flips_p),
        pass_rate=count_passes(suites).rate,
        change=estimate_difference(Pairs(len(changes), changes), scale=1.0) if changes else NoEstimate(),
        paired=len(changes),
        cost=sum_costs(run),
        cost_change=_cost_change(comparison),
        tokens=sum_tokens(run),
        duration_s=max(0.0, run.end.finished - run.started),
    )


def _list_pass_rate_changes(comparison: Comparison) -> Iterator[float]:
    """The changes of the cases' pass rates; none if they are biased, see `scoregate.kernel.compare.quarantine`."""
    if comparison.base is None or any(case.is_compared for case in comparison.quarantined):
        return
    for now, before in pair_pass_rates(comparison.run, comparison.base, comparison.pairs_for(Use.PASS_RATE)):
        yield now - before


def paired_suites(comparison: Comparison) -> Iterator[tuple[SuiteResult, SuiteResult]]:
    """Pairs of a suite in the run and the same suite in the baseline."""
    if comparison.base is not None:
        for new, old in comparison.pairs:
            yield comparison.run.suites[new], comparison.base.suites[old]


def _cost_change(comparison: Comparison) -> float | None:
    changes = [
        now - before
        for new, old in paired_suites(comparison)
        if (now := find_known(new.cost)) is not None and (before := find_known(old.cost)) is not None
    ]
    return sum(changes) if changes else None


@record
class PairedSuite:
    """One suite: its trials in the run and in the baseline. `base_index` is its position in the baseline, if any.

    `higher_is_better` says it for each evaluator, `incomparable` names those that can't be compared. `url` is
    where the suite is defined.
    """

    label: str
    url: str | None
    now: Columns
    before: Columns | None = None
    base_index: int | None = None
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    incomparable: frozenset[str] = frozenset()


def build_paired_suites(comparison: Comparison, context: ReportContext) -> Iterator[PairedSuite]:
    """Pair every suite of the run with that of the baseline, in the order of the run."""
    pairs, base = dict(comparison.pairs), comparison.base
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    for row in comparison.rows:
        rows[row.suite].append(row)
    for index, suite in enumerate(comparison.run.suites):
        suite_rows, base_index = rows[suite.label], pairs.get(index)
        yield PairedSuite(
            label=suite.label,
            url=source_url(suite.origin, context),
            now=suite.columns,
            before=base.suites[base_index].columns if base is not None and base_index is not None else None,
            base_index=base_index,
            higher_is_better={row.evaluator: row.higher_is_better for row in suite_rows},
            incomparable=frozenset(row.evaluator for row in suite_rows if row.label is RowLabel.NOT_COMPARABLE),
        )
