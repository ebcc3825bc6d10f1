"""The rows of the table: what each means, in words, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from scoregate.ci.report import numbers
from scoregate.ci.report.text import name
from scoregate.core.compare import Comparison
from scoregate.core.gate import Verdict
from scoregate.core.history import History, Score
from scoregate.core.lineage import digest
from scoregate.core.lost_scores import Reason
from scoregate.core.record import SuiteResult
from scoregate.core.rows import Label, Row
from scoregate.core.rules import Conclusion, Finding

_MOST_LABELS, _LONGEST_LABEL = 5, 30


class State(StrEnum):
    """What a row means to its reader, worst first."""

    FAILED = "failed"
    WORSE = "worse"
    UNMEASURABLE = "unmeasurable"
    UNCERTAIN = "uncertain"
    NOT_COMPARABLE = "not comparable"
    REMOVED = "removed"
    NEW = "new"
    BETTER = "better"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class RowView:
    """One evaluator of one suite: its numbers in `row`, and the same as text.

    `delta` stands without an interval where `low` is empty; `note` explains the label; of the `judged` trials that
    have a threshold, `below` miss it; `gates` are the findings that name this evaluator. `past` is what it gave in the
    runs before this one, empty where none are known, and `made_by` a digest of what the evaluator is, as theirs.
    `uncalibrated` says why scores of a judge did not count; empty where they did.
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
    past: tuple[Score | None, ...] = ()
    made_by: str = ""
    uncalibrated: str = ""

    @property
    def missed(self) -> tuple[Finding, ...]:
        """Its gates that do not hold."""
        return tuple(gate for gate in self.gates if gate.conclusion is not Conclusion.PASSED)

    @property
    def failure(self) -> str:
        """Why a gate fails, where one does: what its sign is about, rather than the change against the base."""
        failed = [gate.title for gate in self.missed if gate.conclusion is Conclusion.FAILED]
        if failed:
            return f"{' and '.join(failed)} gate{'s' if len(failed) > 1 else ''} failed"
        return f"{numbers.count(self.below, 'case')} below threshold" if self.state is State.FAILED else ""

    @property
    def uncertain(self) -> tuple[str, ...]:
        """What gates say that hold although the estimate is beyond their limit."""
        drops = (gate for gate in self.gates if gate.uncertain and gate.rule == "drop")
        return tuple(f"{gate.value.partition(': ')[2]} (required: {gate.limit})" for gate in drops)

    @property
    def significant(self) -> bool:
        """Whether the difference is more than noise."""
        return self.row.label in (Label.BETTER, Label.WORSE)


_STATES = {
    Label.WORSE: State.WORSE,
    Label.UNMEASURABLE: State.UNMEASURABLE,
    Label.NOT_COMPARABLE: State.NOT_COMPARABLE,
    Label.REMOVED: State.REMOVED,
    Label.NEW: State.NEW,
    Label.BETTER: State.BETTER,
}
_ORDER = {state: place for place, state in enumerate(State)}
_ORDER |= dict.fromkeys((State.NEW, State.BETTER, State.HELD), len(_ORDER))


def row_views(comparison: Comparison, verdict: Verdict) -> tuple[RowView, ...]:
    """Every row: failed gates first, then significant drops, then what could not be measured, then by the drop."""
    suites = {suite.label: suite for suite in comparison.run.suites}
    findings = by_suite(verdict)
    left_out = set(comparison.gone) - set(comparison.missed)
    history = comparison.run.history
    views = (
        _remembering(_view(row, suites.get(row.suite), findings.get(row.suite, ())), suites.get(row.suite), history)
        for row in comparison.rows
        if row.suite not in left_out
    )
    told = (_told_uncalibrated(view, verdict) for view in views)
    return tuple(sorted(told, key=_place))


def _told_uncalibrated(view: RowView, verdict: Verdict) -> RowView:
    """The row with a note where it did not count because its judge is not calibrated."""
    why = verdict.uncalibrated.get((view.row.suite, view.row.evaluator), "")
    return replace(view, uncalibrated=why, note=", ".join(filter(None, (view.note, why))))


def by_suite(verdict: Verdict) -> Mapping[str | None, Sequence[Finding]]:
    """The findings of each suite, by its label; those on the whole run under None."""
    found: dict[str | None, list[Finding]] = {}
    for finding in verdict.findings:
        found.setdefault(finding.suite, []).append(finding)
    return found


def _place(view: RowView) -> tuple[int, float, str, str]:
    """By state, then by the drop; what was not compared comes last."""
    row = view.row
    return _ORDER[view.state], 2.0 if row.delta is None else row.gain, row.suite, row.evaluator


def _view(row: Row, suite: SuiteResult | None, findings: Sequence[Finding]) -> RowView:
    below = len(suite.columns.failed.get(row.evaluator, ())) if suite else 0
    measured = row.label is not Label.UNMEASURABLE
    return RowView(
        row=row,
        state=_state(row, findings, below),
        base=_shown(row.base, row.base_labels),
        mean=_shown(row.mean, row.labels),
        delta=numbers.signed(row.delta) if measured and row.delta is not None else numbers.NONE,
        low=numbers.signed(row.low) if measured and row.low is not None else "",
        high=numbers.signed(row.high) if measured and row.high is not None else "",
        counts=f"{row.better:,} / {row.worse:,} of {row.n:,}" if measured and row.n else numbers.NONE,
        label=str(row.label),
        note=_note(row),
        judged=suite.columns.judged.get(row.evaluator, 0) if suite else 0,
        below=below,
        gates=tuple(found for found in findings if found.evaluator == row.evaluator),
    )


def _remembering(view: RowView, suite: SuiteResult | None, history: History) -> RowView:
    row = view.row
    made_by = digest(suite.evaluators.get(row.evaluator)) if suite else ""
    return replace(view, past=history.of(row.suite).scores.get(row.evaluator, ()), made_by=made_by)


def _shown(mean: float | None, labels: Mapping[str, int]) -> str:
    return numbers.score(mean) if mean is not None or not labels else _counted(labels)


def _counted(labels: Mapping[str, int]) -> str:
    """`kind 7, odd 5`, the most frequent first."""
    ordered = sorted(labels.items(), key=lambda each: (-each[1], each[0]))
    told = [f"{name(label, _LONGEST_LABEL)} {count:,}" for label, count in ordered[:_MOST_LABELS]]
    return ", ".join([*told, *(["…"] if len(ordered) > _MOST_LABELS else [])])


def _state(row: Row, findings: Iterable[Finding], below: int) -> State:
    """A suite's own failed gate marks the evaluators that missed thresholds; what it cannot say, none of them can."""
    own = {found.conclusion for found in findings if found.evaluator == row.evaluator}
    shared = {found.conclusion for found in findings if found.evaluator is None}
    if Conclusion.FAILED in own or (Conclusion.FAILED in shared and below):
        return State.FAILED
    state = _STATES.get(row.label, State.HELD)
    uncertain = any(found.uncertain for found in findings if found.evaluator == row.evaluator and found.rule == "drop")
    state = State.UNCERTAIN if uncertain and state is State.HELD else state
    shaky = Conclusion.UNMEASURABLE in own | shared and state in (State.HELD, State.BETTER, State.NEW, State.UNCERTAIN)
    return State.UNMEASURABLE if shaky else state


def _note(row: Row) -> str:
    notes = [_because(row)]
    if row.dropped and not row.reason:
        notes.append(f"{numbers.count(row.dropped, 'pair')} left out for errors")
    if row.lost and not row.lost_too_many:
        notes.append(_lost(row))
    if row.labels and row.mean is not None:
        notes.append(f"without a score: {_counted(row.labels)}")
    if not row.higher_is_better:
        notes.append("lower is better")
    return ", ".join(note for note in notes if note)


def _lost(row: Row) -> str:
    """`lost scores: 3 None, 2 removed`, and how many cases gained one."""
    lost = dict(row.lost)
    if row.label is Label.UNMEASURABLE:
        lost.pop(Reason.ERROR, None)  # the reason of the row counts them
    told = ", ".join(f"{count:,} {'None' if reason == Reason.NONE else reason}" for reason, count in lost.items())
    gained = f"; {row.gained:,} gained one" if row.gained else ""
    return f"lost scores: {told}{gained}" if told else ""


def _because(row: Row) -> str:
    if row.reason:
        return row.reason
    p = row.p if row.q is None else row.q
    match row.label:
        case Label.WORSE | Label.BETTER if p is not None:
            return f"corrected {numbers.p_value(p)}{_exaggerated(row)}"
        case Label.NOISE if row.detectable is not None:
            moved = row.low is not None and row.high is not None and not row.low <= 0 <= row.high
            told = f"corrected {numbers.p_value(p)}, " if moved and p is not None else ""
            return f"{told}could detect ±{row.detectable:.2f} if this were the only row"
        case Label.TOO_FEW:
            return numbers.count(row.n, "pair")
    return ""


def _exaggerated(row: Row) -> str:
    """A drop that few comparisons of this size would detect is found mostly where luck makes it look larger."""
    weak = row.label is Label.WORSE and row.detectable is not None and -row.gain < row.detectable
    return ", the true drop is probably smaller" if weak else ""
