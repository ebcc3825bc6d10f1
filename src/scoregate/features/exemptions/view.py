"""The accepted regressions and the cases in quarantine, with their effect on the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from scoregate.features.exemptions.stable_cases import bound_failure_rate
from scoregate.kernel.compare.comparison import Comparison, accepts_row
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.quarantine import QuarantinedCase
from scoregate.kernel.gate.baseline_rules import describe_change
from scoregate.kernel.gate.case_rules import find_accepted_case
from scoregate.kernel.gate.suite_rules import format_digits
from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.text import display_name
from scoregate.kernel.types.exemptions import AcceptedRegression, Exemption, ExemptionState, matches_case
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.policy import matches_suite

_TITLES = {
    ExemptionState.EXCEEDED: "Larger than accepted",
    ExemptionState.ACCEPTED: "Accepted regression",
    ExemptionState.IGNORED: "Doesn't count",
    ExemptionState.EXPIRED: "Expired",
    ExemptionState.UNMATCHED: "Matches nothing",
    ExemptionState.NOT_NEEDED: "Not needed",
}
_ORDER = tuple(_TITLES)
_SIGNS = {ExemptionState.ACCEPTED: ReportState.ACCEPTED, ExemptionState.EXCEEDED: ReportState.WORSE}


@record
class ExemptionView:
    """One entry and its effect: on one row or case, or without one.

    `kind` is `accepted` or `quarantine`. `suite`, `evaluator` and `case` are names if the entry has an effect, else the
    globs of the entry. `by` is the owner of an entry of the quarantine. `at_most` is 0 without a limit. `text` is a
    sentence.
    """

    kind: str
    suite: str
    evaluator: str | None
    case: str | None
    state: ExemptionState
    until: str
    by: str
    reason: str
    issue: str
    at_most: float
    place: str
    text: str

    @property
    def title(self) -> str:
        """The state in a few words."""
        return _TITLES[self.state]

    @property
    def sign(self) -> ReportState:
        """The state whose icon reports show."""
        return _SIGNS.get(self.state, ReportState.UNMEASURABLE)

    @property
    def needs_attention(self) -> bool:
        """Whether reports for people show it: it has an effect, or should be removed."""
        return self.state is not ExemptionState.NOT_NEEDED


@record
class QuarantinedView:
    """One case in quarantine, with its status in the run and in the baseline as text.

    `fails` is whether it failed or had an error in the run, `stable_runs` in how many runs in a row it
    passed, and `stable` whether these are so many that it can leave the quarantine. `compared` is whether the
    comparison of scores still counts it, because the baseline may have been measured before the entry.
    """

    suite: str
    case: str
    name: str
    status: str
    base_status: str
    fails: bool
    stable: bool
    stable_runs: int
    until: str
    owner: str
    reason: str
    place: str
    ran: bool
    compared: bool

    @property
    def stability(self) -> str:
        """What reports say about a stable case; empty for others."""
        if not self.stable:
            return ""
        bound = number_format.percent(bound_failure_rate(self.stable_runs))
        passed = f"passed {self.stable_runs:,} runs in a row, so it can leave the quarantine"
        return f"{passed}: it fails in at most {bound} of runs (95% confidence)"

    @property
    def sign(self) -> ReportState:
        """The state whose icon reports show."""
        return ReportState.ACCEPTED if self.fails or not self.ran else ReportState.HELD


def build_exemptions(comparison: Comparison) -> tuple[ExemptionView, ...]:
    """Describe every entry: those with an effect first, those that nothing needs last."""
    views = [*_accepted_views(comparison), *_quarantine_views(comparison)]
    views += [_view(each.entry, ExemptionState.IGNORED, each.why) for each in comparison.exemptions.ignored]
    return tuple(sorted(views, key=lambda view: _ORDER.index(view.state)))


def _accepted_views(comparison: Comparison) -> Iterator[ExemptionView]:
    for entry in comparison.exemptions.accepted:
        if comparison.exemptions.is_expired(entry):
            yield _expired(entry)
        elif entry.case:
            yield from _case_views(entry, comparison)
        else:
            yield from _row_views(entry, comparison)


def _row_views(entry: AcceptedRegression, comparison: Comparison) -> Iterator[ExemptionView]:
    worse = [row for row in comparison.rows if row.accepted is entry and row.label is RowLabel.WORSE]
    for row in worse:
        state = ExemptionState.ACCEPTED if row.is_accepted else ExemptionState.EXCEEDED
        limit = f"up to {format_digits(entry.at_most, 3)} is accepted {entry.terms}"
        yield _view(entry, state, f"{describe_change(row)}; {limit}", row=row)
    if worse:
        return
    suites = {suite.label: suite for suite in comparison.run.suites}
    if any(row.suite in suites and accepts_row(entry, suites[row.suite], row) for row in comparison.rows):
        yield _view(entry, ExemptionState.NOT_NEEDED, "no score that it covers is worse")
    elif not _is_partial(comparison):
        yield _view(entry, ExemptionState.UNMATCHED, "no score has this suite and scorer")


def _case_views(entry: AcceptedRegression, comparison: Comparison) -> Iterator[ExemptionView]:
    failing = []
    for flip in comparison.newly_failing:
        suite = comparison.run.suites[flip.suite]
        case = suite.columns.hashes[flip.row]
        if find_accepted_case(comparison, suite, case) is entry:
            failing.append((suite.label, case))
    for label, case in failing:
        yield _view(entry, ExemptionState.ACCEPTED, f"newly fails; accepted {entry.terms}", place=(label, case))
    if failing:
        return
    suites = [suite for suite in comparison.run.suites if matches_suite(suite, entry.suite)]
    if any(matches_case(entry.case, [case]) for suite in suites for case in suite.columns.hashes):
        yield _view(entry, ExemptionState.NOT_NEEDED, "no case that it covers newly fails")
    elif not _is_partial(comparison):
        yield _view(entry, ExemptionState.UNMATCHED, "no suite has this case")


def _quarantine_views(comparison: Comparison) -> Iterator[ExemptionView]:
    used = [case.entry for case in comparison.quarantined]
    for entry in comparison.exemptions.quarantined:
        if comparison.exemptions.is_expired(entry):
            yield _expired(entry)
        elif not any(each is entry for each in used) and not _is_partial(comparison):
            yield _view(entry, ExemptionState.UNMATCHED, "it covers no case")


def _is_partial(comparison: Comparison) -> bool:
    """Whether only a part of the project ran, so that an entry may be for another part."""
    run, scope = comparison.run, comparison.run.scope
    return bool(scope.filters or scope.skipped or scope.narrowed or scope.selection) or not run.end.complete


def _expired(entry: Exemption) -> ExemptionView:
    return _view(entry, ExemptionState.EXPIRED, f"expired on {entry.until}: {entry.reason}")


def _view(
    entry: Exemption,
    state: ExemptionState,
    text: str,
    *,
    row: Row | None = None,
    place: tuple[str, str] | None = None,
) -> ExemptionView:
    common: dict[str, Any] = {
        "state": state,
        "until": entry.until,
        "reason": entry.reason,
        "place": entry.place,
        "text": text,
    }
    if not isinstance(entry, AcceptedRegression):
        cases = entry.case or f"tags {', '.join(entry.tags)}"
        return ExemptionView("quarantine", entry.suite, None, cases, by=entry.owner, issue="", at_most=0.0, **common)
    suite, case = place or (entry.suite, entry.case or None)
    evaluator = entry.evaluator or None
    if row is not None:
        suite, evaluator = row.suite, row.evaluator
    return ExemptionView(
        *("accepted", suite, evaluator, case), by=entry.by, issue=entry.issue, at_most=entry.at_most, **common
    )


def build_quarantined(cases: Sequence[QuarantinedCase]) -> tuple[QuarantinedView, ...]:
    """Describe the cases in quarantine: those that fail first."""
    views = (
        QuarantinedView(
            *(case.suite, case.case, display_name(case.name)),
            status=_describe_statuses(case.statuses, "didn't run"),
            base_status=_describe_statuses(case.base_statuses, "unknown"),
            fails=case.fails,
            stable=case.is_stable,
            stable_runs=case.stable_runs,
            until=case.entry.until,
            owner=case.entry.owner,
            reason=case.entry.reason,
            place=case.entry.place,
            ran=bool(case.statuses),
            compared=case.is_compared,
        )
        for case in cases
    )
    return tuple(sorted(views, key=lambda view: not view.fails))


def describe_compared(cases: Sequence[QuarantinedCase]) -> Iterator[str]:
    """A sentence for each suite with cases in quarantine that the comparison of scores still counts."""
    for suite, number in Counter(case.suite for case in cases if case.is_compared).items():
        them, their = ("it", "its entry") if number == 1 else ("them", "their entries")
        yield (
            f"{suite}: the comparison of scores still counts {number_format.count(number, 'case')} in quarantine. The"
            f" baseline may have been measured before {their}; leaving {them} out now would bias the change."
        )


def _describe_statuses(statuses: Sequence[Status], missing: str) -> str:
    """`failed`, or of several trials `failed 2 of 3`."""
    if not statuses:
        return missing
    if len(set(statuses)) == 1:
        return str(statuses[0])
    counts = Counter(statuses)
    worst = next(each for each in (Status.FAILED, Status.ERRORED, *counts) if counts[each])
    return f"{worst} {counts[worst]:,} of {len(statuses):,}"
