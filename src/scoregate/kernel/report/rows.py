"""The rows of the table of evaluators: state, numbers and explanation, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.lost_scores import Reason
from scoregate.kernel.gate import Verdict
from scoregate.kernel.gate.baseline_rules import describe_few
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.gate.suite_rules import format_digits
from scoregate.kernel.report.text import display_name
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.history import evaluator_digest
from scoregate.kernel.types.runs.past_runs import Score
from scoregate.kernel.types.runs.run import SuiteResult

_MAX_LABELS, _MAX_LABEL_LENGTH = 5, 30


class ReportState(StrEnum):
    """The state of a row or a suite, worst first."""

    FAILED = "failed"
    WORSE = "worse"
    UNMEASURABLE = "unmeasurable"
    UNCERTAIN = "uncertain"
    ACCEPTED = "accepted"
    EXPLAINED = "drift"  # as the label of the row
    NOT_COMPARABLE = "not comparable"
    REMOVED = "removed"
    NEW = "new"
    BETTER = "better"
    HELD = "held"


@record
class RowView:
    """One evaluator of one suite: its numbers in `row`, and as text.

    `delta` has no interval if `low` is empty. `note` explains the label. `judged` is the number of trials with a
    threshold, `below` the number of those that miss it, and `below_cases` that of their cases. With
    `has_repeats` a case has several trials. `gates` are the findings about this evaluator. `past` holds its
    scores in earlier runs, empty if none are known. `made_by` is a digest of the evaluator, as in `Score`.
    `uncalibrated` says why scores of a judge did not count; empty if they did.
    """

    row: Row
    state: ReportState
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
    below_cases: int
    has_repeats: bool
    gates: tuple[Finding, ...] = ()
    past: tuple[Score | None, ...] = ()
    made_by: str = ""
    uncalibrated: str = ""

    @property
    def missed(self) -> tuple[Finding, ...]:
        """The gates of this evaluator that do not hold."""
        return tuple(gate for gate in self.gates if gate.conclusion is not Conclusion.PASSED)

    @property
    def failure(self) -> str:
        """Why a gate fails, if one does; the icon of the row shows this failure, not the change from the baseline."""
        failed = [gate.title for gate in self.missed if gate.conclusion is Conclusion.FAILED]
        if failed:
            return f"{' and '.join(failed)} gate{'s' if len(failed) > 1 else ''} failed"
        is_failed = self.state is ReportState.FAILED
        return f"{number_format.count(self.below_cases, 'case')} below threshold" if is_failed else ""

    @property
    def missed_thresholds(self) -> str:
        """How many miss the threshold: `2 of 9`, or `2 of 9 trials` with repeats."""
        return f"{self.below:,} of {self.judged:,}{' trials' if self.has_repeats else ''}"

    @property
    def uncertain(self) -> tuple[str, ...]:
        """The values of gates that hold although the estimate is beyond their limit."""
        drops = (gate for gate in self.gates if gate.uncertain and gate.is_drop)
        return tuple(f"{gate.value.rpartition(': ')[2]} (required: {gate.limit})" for gate in drops)

    @property
    def significant(self) -> bool:
        """Whether the difference is more than noise."""
        return self.row.label in (RowLabel.BETTER, RowLabel.WORSE)


_STATES = {
    RowLabel.WORSE: ReportState.WORSE,
    RowLabel.UNMEASURABLE: ReportState.UNMEASURABLE,
    RowLabel.NOT_COMPARABLE: ReportState.NOT_COMPARABLE,
    RowLabel.REMOVED: ReportState.REMOVED,
    RowLabel.NEW: ReportState.NEW,
    RowLabel.BETTER: ReportState.BETTER,
    RowLabel.EXPLAINED: ReportState.EXPLAINED,
}
_ORDER = {state: place for place, state in enumerate(ReportState)}
_ORDER |= dict.fromkeys((ReportState.NEW, ReportState.BETTER, ReportState.HELD), len(_ORDER))
_ORDER[ReportState.REMOVED] = len(_ORDER) + 1  # after the rows of this run


def build_rows(comparison: Comparison, verdict: Verdict) -> tuple[RowView, ...]:
    """Build every row: failed gates first, then significant drops, unmeasurable rows and others; removed rows last."""
    suites = {suite.label: suite for suite in comparison.run.suites}
    findings = findings_by_suite(verdict)
    powerless = {(each.suite, each.evaluator): each.value for each in verdict.left_out if each.part is None}
    # A finding without a suite is about all small rows, none of which is certain alone.
    has_fallen = any(each.declaration.drop_from for each in verdict.failed if each.suite is None)
    filtered = set(comparison.gone) - set(comparison.unexcused_missing_suites)
    history = comparison.run.history
    views = []
    for row in comparison.rows:
        if row.suite not in filtered:
            of_suite = [finding for finding in findings.get(row.suite, ()) if finding.part is None]
            view = build_row(row, suites.get(row.suite), of_suite, is_partial=bool(comparison.run.scope.selection))
            past = history.suite_history(row.suite).scores.get(row.evaluator, ())
            uncalibrated = verdict.uncalibrated.get((row.suite, row.evaluator), "")
            why = powerless.get((row.suite, row.evaluator), "")
            is_open = why or (has_fallen and row.label is RowLabel.TOO_FEW and row.gain < 0)
            state = ReportState.UNCERTAIN if is_open and view.state is ReportState.HELD else view.state
            note = ", ".join(filter(None, (view.note, why, uncalibrated)))
            views.append(replace(view, state=state, past=past, uncalibrated=uncalibrated, note=note))
    return tuple(sorted(views, key=row_order))


def findings_by_suite(verdict: Verdict) -> Mapping[str | None, Sequence[Finding]]:
    """The findings of each suite by its label; those on the whole run under None."""
    findings: dict[str | None, list[Finding]] = {}
    for finding in verdict.findings:
        findings.setdefault(finding.suite, []).append(finding)
    return findings


def row_order(view: RowView) -> tuple[int, float, str, str]:
    """By state, then by the drop; rows that were not compared come last."""
    row = view.row
    return _ORDER[view.state], 2.0 if row.delta is None else row.gain, row.suite, row.evaluator


def build_row(row: Row, suite: SuiteResult | None, findings: Sequence[Finding], *, is_partial: bool = False) -> RowView:
    """Build one row.

    Args:
        row: the row.
        suite: its suite; None for a row whose cases are not counted.
        findings: the findings about its suite, or about its part.
        is_partial: whether the run leaves out cases on purpose, so that their scores aren't lost.
    """
    failed = suite.columns.failed.get(row.evaluator, ()) if suite else ()
    below_cases = len({suite.columns.hashes[trial] for trial in failed}) if suite else 0
    counts, measured = row.pairs, row.label is not RowLabel.UNMEASURABLE
    interval = row.estimate.interval if measured else None
    low, high = ("", "") if interval is None else map(number_format.difference, interval)
    return RowView(
        row=row,
        state=_row_state(row, findings, len(failed)),
        base=_format_score(row.base, row.labels.base),
        mean=_format_score(row.mean, row.labels.run),
        delta=number_format.difference(row.delta) if measured and row.delta is not None else number_format.NONE,
        low=low,
        high=high,
        counts=f"{counts.better:,} / {counts.worse:,} of {counts.n:,}" if measured and counts.n else number_format.NONE,
        label=str(row.label),
        note=_row_note(row, is_partial=is_partial),
        judged=suite.columns.judged.get(row.evaluator, 0) if suite else 0,
        below=len(failed),
        below_cases=below_cases,
        has_repeats=suite is not None and suite.columns.has_repeats,
        gates=tuple(finding for finding in findings if finding.evaluator == row.evaluator),
        made_by=evaluator_digest(suite.evaluators.get(row.evaluator)) if suite else "",
    )


def _format_score(mean: float | None, labels: Mapping[str, int]) -> str:
    return number_format.score(mean) if mean is not None or not labels else _format_labels(labels)


def _format_labels(labels: Mapping[str, int]) -> str:
    """`kind 7, odd 5`, the most frequent first."""
    ordered = sorted(labels.items(), key=lambda each: (-each[1], each[0]))
    shown = [f"{display_name(label, _MAX_LABEL_LENGTH)} {count:,}" for label, count in ordered[:_MAX_LABELS]]
    return ", ".join([*shown, *(["…"] if len(ordered) > _MAX_LABELS else [])])


def _row_state(row: Row, findings: Iterable[Finding], below: int) -> ReportState:
    """The state of a row.

    A failed gate of the whole suite marks only the evaluators with missed thresholds; an unmeasurable one marks all.
    """
    own = {finding.conclusion for finding in findings if finding.evaluator == row.evaluator}
    shared = {finding.conclusion for finding in findings if finding.evaluator is None}
    if Conclusion.FAILED in own or (Conclusion.FAILED in shared and below):
        return ReportState.FAILED
    state = ReportState.ACCEPTED if row.is_accepted else _STATES.get(row.label, ReportState.HELD)
    uncertain = any(finding.uncertain for finding in findings if finding.evaluator == row.evaluator and finding.is_drop)
    state = ReportState.UNCERTAIN if uncertain and state is ReportState.HELD else state
    shaky = Conclusion.UNMEASURABLE in own | shared and state in (
        ReportState.HELD,
        ReportState.BETTER,
        ReportState.NEW,
        ReportState.UNCERTAIN,
    )
    return ReportState.UNMEASURABLE if shaky else state


def _row_note(row: Row, *, is_partial: bool) -> str:
    adjusted = "" if row.adjustment is None else row.adjustment.describe(row.label)
    notes = [row.setup_change, _explain_label(row), adjusted]
    if row.cases.kept:
        results = number_format.count(row.cases.kept, "result")
        notes.append(f"compares only cases that ran; the means include {results} of the base")
    if row.pairs.dropped and not row.reason:
        notes.append(f"{number_format.count(row.pairs.dropped, 'pair')} skipped for errors")
    if row.lost.reasons and not row.lost.too_many:
        lost = dict(row.lost.reasons)
        if row.label is RowLabel.UNMEASURABLE:
            lost.pop(Reason.ERROR, None)  # the reason of the row counts them
        if is_partial:
            lost.pop(Reason.REMOVED, None)
        reasons = [f"{count:,} {'None' if reason == Reason.NONE else reason}" for reason, count in lost.items()]
        gained = f"; {row.lost.gained:,} gained one" if row.lost.gained else ""
        notes.append(f"lost scores: {', '.join(reasons)}{gained}" if reasons else "")
    if row.labels.run and row.mean is not None:
        notes.append(f"without a score: {_format_labels(row.labels.run)}")
    if not row.higher_is_better:
        notes.append("lower is better")
    return ", ".join(note for note in notes if note)


def _describe_acceptance(row: Row, entry: AcceptedRegression) -> str:
    """The limit and the last day; the list of entries has the reason."""
    if row.is_accepted:
        return f"accepted up to {format_digits(entry.at_most, 3)} until {entry.until}"
    return f"more than the accepted {format_digits(entry.at_most, 3)}"


def _explain_label(row: Row) -> str:
    if row.reason:
        return row.reason
    estimate, q, smallest = row.estimate, row.correction.q, row.correction.min_effect
    p = f"{'corrected ' if row.accepted is None else ''}{number_format.p_value(estimate.p if q is None else q)}"
    match row.label:
        case RowLabel.WORSE | RowLabel.BETTER:
            # A drop below what the comparison can detect is significant mostly when chance makes it look larger.
            weak = row.label is RowLabel.WORSE and -row.gain < (estimate.detectable or 0.0)
            accepted = f", {_describe_acceptance(row, row.accepted)}" if row.accepted and row.gain < 0 else ""
            smaller = ", the true drop is probably smaller" if weak else ""
            return f"{p}{smaller}{accepted}"
        case RowLabel.NOISE if smallest is not None:
            return f"{p}, smaller than min_effect = {format_digits(smallest, 3)}"
        case RowLabel.NOISE if estimate.detectable is not None:
            low, high = estimate.interval or (0.0, 0.0)
            significance = "" if low <= 0 <= high else f"{p}, "
            return f"{significance}could detect ±{estimate.detectable:.2f} if this were the only row"
        case RowLabel.TOO_FEW:
            return describe_few(row)
    return ""
