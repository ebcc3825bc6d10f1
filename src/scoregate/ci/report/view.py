"""ReportView: every string and number that a report prints, worst first; made by `make_view`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from scoregate.ci.report.context import Context
from scoregate.core.case import CaseKey, CaseResult
from scoregate.core.rows import Label, Row
from scoregate.core.rules import Conclusion, Finding


class State(StrEnum):
    """What a row means to its reader, worst first."""

    FAILED = "failed"
    WORSE = "worse"
    UNMEASURABLE = "unmeasurable"
    NOT_COMPARABLE = "not comparable"
    REMOVED = "removed"
    NEW = "new"
    BETTER = "better"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class RunView:
    """Which run, or base, is spoken of. Times are seconds since the epoch; `name` is `main@a1b2c3d` or its id."""

    id: str
    name: str
    commit: str | None
    branch: str | None
    started: float
    finished: float
    version: str
    attempt: int
    dirty: bool
    complete: bool


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of trials over all suites; `cases` counts a case once, however often it was repeated.

    `pass_rate` is of the trials that met or missed a threshold; `pass_rate_change` is over the `paired` trials
    that did so in both runs. Costs are US dollars, `cost_change` over the suites of both runs.
    """

    suites: int
    cases: int
    trials: int
    passed: int
    failed: int
    errored: int
    scored: int
    unscored: int
    with_errors: int
    pending: int
    newly_failing: int
    newly_passing: int
    pass_rate: float | None
    pass_rate_change: float | None
    paired: int
    cost: float | None
    cost_change: float | None
    tokens: float | None
    duration_s: float


@dataclass(frozen=True, slots=True)
class Spend:
    """What a suite took: milliseconds a trial, tokens, US dollars; None where nothing is known."""

    p50_ms: float | None = None
    p95_ms: float | None = None
    tokens: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class SpendText:
    """A `Spend` ready to print, each with its change from the base: `812 ms (+4%)`."""

    p50: str
    p95: str
    tokens: str
    cost: str


@dataclass(frozen=True, slots=True)
class SuiteView:
    """One suite. `index` is its place within the run; counts are of trials; `time_s` sums what the trials took.

    `moved` names what of latency, tokens and cost differs from the base by more than noise.
    """

    index: int
    id: str
    label: str
    state: State
    file: str | None
    line: int | None
    evaluators: tuple[str, ...]
    trials: int
    planned: int | None
    passed: int
    failed: int
    errored: int
    scored: int
    unscored: int
    complete: bool
    duration_s: float | None
    time_s: float
    passes: str
    spend: Spend
    base_spend: Spend | None
    spend_text: SpendText
    moved: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowView:
    """One evaluator of one suite: its numbers in `row`, and the same as text.

    `delta` stands without an interval where `low` is empty; `note` explains the label; of the `judged` trials that
    have a threshold, `below` miss it; `gates` are the findings that name this evaluator.
    """

    row: Row
    state: State
    base: str
    mean: str
    delta: str
    low: str
    high: str
    counts: str
    label: str
    note: str
    judged: int
    below: int
    gates: tuple[Finding, ...] = ()

    @property
    def significant(self) -> bool:
        """Whether the difference is more than noise."""
        return self.row.label in (Label.BETTER, Label.WORSE)


@dataclass(frozen=True, slots=True)
class Miss:
    """One evaluator whose threshold a case missed; `base` is its score in the base, None where unknown.

    `shown` is the score in as many digits as it takes to see that it misses.
    """

    evaluator: str
    base: float | None
    score: float
    shown: str
    threshold: str
    why: str


@dataclass(frozen=True, slots=True)
class FailingCase:
    """A case that fails, with the reasons.

    `diff` holds the lines in which its output differs from the base's, each led by `+`, `-` or a space; where there
    is no such output, `output` holds the beginning of its own. Both stay empty where outputs may not be shown.
    """

    suite: str
    key: CaseKey
    name: str
    newly: bool
    drop: float
    misses: tuple[Miss, ...]
    url: str | None = None
    diff: tuple[str, ...] = ()
    output: str = ""
    same_output: bool = False


@dataclass(frozen=True, slots=True)
class ErrorView:
    """One error and how many trials met it, `case` being the first; without a case it concerns more than one."""

    where: str
    evaluator: str | None
    type: str
    message: str
    advice: str
    trials: int
    case: str | None = None


@dataclass(frozen=True, slots=True)
class ReportView:
    """Everything that reports print, and the readers of cases for those that list all of them.

    `quantities` compare latency, tokens and cost; `pooled` runs make up the base. Where there is none, the first of
    the `notices` says what to expect.
    `failing` are the newly failing cases, or, where there are none, the failing ones: the largest drops of
    `failing_total`. `cases` reads every trial, in the order in which they finished; `cases_of` those of one suite.
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

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that do not hold, failed ones first."""
        return tuple(finding for finding in self.findings if finding.conclusion is not Conclusion.PASSED)

    @property
    def calm(self) -> bool:
        """Whether nothing asks for attention: passed, no row worse, no case newly failing."""
        quiet = all(row.state in (State.NEW, State.BETTER, State.HELD) for row in self.rows)
        return self.conclusion is Conclusion.PASSED and quiet and not self.totals.newly_failing
