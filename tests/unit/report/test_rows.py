"""The rows of the table of evaluators: their states, notes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Correction, LabelCounts, Row, RowLabel
from scoregate.kernel.compare.estimates import Estimate, NoEstimate, PairSummary
from scoregate.kernel.compare.lost_scores import CaseChanges, LostScores, Reason
from scoregate.kernel.gate import Verdict
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.rows import ReportState, RowView, build_row, build_rows
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.declaration import Rule
from scoregate.kernel.types.declarations.kernel import DROP, ERROR_RATE, MEAN_SCORE, PASS_RATE, REGRESSION
from scoregate.kernel.types.exemptions import AcceptedRegression

PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE
ESTIMATE = Estimate(-0.08, 0.02, 0.01, 0.99, -0.12, -0.04, 0.05, smallest_p=0.0001, smallest_margin=0.2)
ROW = Row("demo", "e", RowLabel.NOISE, mean=0.5, base=0.58, estimate=ESTIMATE, pairs=PairSummary(20, 20, 3, 7))
ENTRY = AcceptedRegression("*", "2026-12-31", "known", "ana", "*", at_most=0.1)
FAILING = run_of(ExampleSuite(scored(0.0, 0.0, 1.0))).suites[0]


def find(rule: Rule = DROP, conclusion: Conclusion = PASSED, evaluator: str | None = "e", **fields: Any) -> Finding:
    return Finding(rule, conclusion, "Drop: 0.080", "at most 0.050", suite="demo", evaluator=evaluator, **fields)


def build(label: RowLabel = RowLabel.NOISE, findings: Sequence[Finding] = (), **fields: Any) -> RowView:
    return build_row(replace(ROW, label=label, **fields), None, findings)


STATES: Sequence[tuple[RowLabel, Sequence[Finding], ReportState]] = [
    (RowLabel.NOISE, [], ReportState.HELD),
    (RowLabel.WORSE, [], ReportState.WORSE),
    (RowLabel.WORSE, [find(DROP, FAILED)], ReportState.FAILED),
    (RowLabel.WORSE, [find(DROP, FAILED, "other")], ReportState.WORSE),
    (RowLabel.NOISE, [find(PASS_RATE, FAILED, None)], ReportState.HELD),  # no threshold of this evaluator is missed
    (RowLabel.NOISE, [find(uncertain=True)], ReportState.UNCERTAIN),
    (RowLabel.NOISE, [find(MEAN_SCORE, uncertain=True)], ReportState.HELD),
    (RowLabel.NOISE, [find(evaluator="other", uncertain=True)], ReportState.HELD),
    (RowLabel.WORSE, [find(uncertain=True)], ReportState.WORSE),
    (RowLabel.NOISE, [find(DROP, UNMEASURABLE)], ReportState.UNMEASURABLE),
    (RowLabel.NOISE, [find(ERROR_RATE, UNMEASURABLE, None)], ReportState.UNMEASURABLE),
    (RowLabel.BETTER, [find(ERROR_RATE, UNMEASURABLE, None)], ReportState.UNMEASURABLE),
    (RowLabel.NEW, [find(ERROR_RATE, UNMEASURABLE, None)], ReportState.UNMEASURABLE),
    (RowLabel.NOISE, [find(uncertain=True), find(ERROR_RATE, UNMEASURABLE, None)], ReportState.UNMEASURABLE),
    (RowLabel.WORSE, [find(ERROR_RATE, UNMEASURABLE, None)], ReportState.WORSE),
    (RowLabel.NOISE, [find(DROP, UNMEASURABLE, "other")], ReportState.HELD),
]


def test_the_state_of_a_row_is_that_of_its_findings() -> None:
    for label, findings, state in STATES:
        assert build(label, findings).state is state


def test_a_failed_gate_of_the_suite_marks_the_evaluators_with_missed_thresholds() -> None:
    view = build_row(ROW, FAILING, [find(PASS_RATE, FAILED, None)])
    assert (view.state, view.below, view.below_cases, view.judged) == (ReportState.FAILED, 2, 2, 3)
    assert (view.failure, view.missed_thresholds) == ("2 cases below threshold", "2 of 3")
    assert replace(view, has_repeats=True).missed_thresholds == "2 of 3 trials"
    assert build_row(ROW, FAILING, []).failure == ""


def test_the_failure_of_a_row_names_its_failed_gates() -> None:
    one = build(RowLabel.WORSE, [find(DROP, FAILED), find(MEAN_SCORE, PASSED), find(REGRESSION, UNMEASURABLE)])
    assert one.failure == f"{find(DROP, FAILED).title} gate failed"
    assert [gate.rule for gate in one.missed] == ["drop", "regression"]
    two = build(RowLabel.WORSE, [find(DROP, FAILED), find(MEAN_SCORE, FAILED), find(DROP, FAILED, "other")])
    assert two.failure == f"{find(DROP, FAILED).title} and {find(MEAN_SCORE, FAILED).title} gates failed"


def test_an_uncertain_drop_shows_its_value_and_its_limit() -> None:
    view = build(findings=[find(uncertain=True), find(), find(MEAN_SCORE, uncertain=True)])
    assert view.uncertain == ("0.080 (required: at most 0.050)",)


def test_only_better_and_worse_are_more_than_noise() -> None:
    assert [label for label in RowLabel if build(label).significant] == ["better", "worse"]


def test_the_state_of_a_row_is_that_of_its_label() -> None:
    assert {label: build(label).state for label in RowLabel if label in set(ReportState)} == {
        label: label for label in RowLabel if label in set(ReportState)
    }
    assert {build(label).state for label in RowLabel if label not in set(ReportState)} == {ReportState.HELD}


NOTES: Sequence[tuple[dict[str, Any], str]] = [
    ({}, "p = 0.02, could detect ±0.05 if this were the only row"),
    ({"correction": Correction(0.031)}, "p = 0.03, could detect ±0.05 if this were the only row"),
    (
        {"estimate": replace(ESTIMATE, low=-0.04, high=0.0)},
        "could detect ±0.05 if this were the only row",
    ),
    ({"estimate": replace(ESTIMATE, low=0.0, high=0.1)}, "could detect ±0.05 if this were the only row"),
    ({"estimate": replace(ESTIMATE, detectable=None)}, ""),
    ({"label": RowLabel.WORSE}, "p = 0.02"),
    ({"label": RowLabel.WORSE, "estimate": replace(ESTIMATE, detectable=None)}, "p = 0.02"),
    ({"label": RowLabel.WORSE, "estimate": replace(ESTIMATE, detectable=0.08)}, "p = 0.02"),
    (
        {"label": RowLabel.WORSE, "estimate": replace(ESTIMATE, detectable=0.09)},
        "p = 0.02, the true drop is probably smaller",
    ),
    (
        {"label": RowLabel.BETTER, "estimate": replace(ESTIMATE, delta=0.08, detectable=0.09)},
        "p = 0.02",
    ),
    ({"label": RowLabel.TOO_FEW}, "20 pairs"),
    ({"label": RowLabel.TOO_FEW, "pairs": PairSummary(20, 6)}, "6 clusters"),
    ({"label": RowLabel.UNCHANGED}, ""),
    ({"label": RowLabel.NEW, "estimate": NoEstimate("no baseline score yet")}, "no baseline score yet"),
    ({"label": RowLabel.UNCHANGED, "higher_is_better": False}, "lower is better"),
    ({"label": RowLabel.UNCHANGED, "setup_change": "model a → b"}, "model a → b"),
    (
        {"label": RowLabel.UNCHANGED, "cases": CaseChanges(kept=1)},
        "compares only cases that ran; the means include 1 result of the base",
    ),
    ({"label": RowLabel.UNCHANGED, "pairs": PairSummary(20, 20, dropped=2)}, "2 pairs skipped for errors"),
    (
        {"label": RowLabel.UNMEASURABLE, "pairs": PairSummary(20, 20, dropped=2), "estimate": NoEstimate("why")},
        "why",
    ),
    ({"label": RowLabel.UNCHANGED, "labels": LabelCounts({"a": 2})}, "without a score: a 2"),
    ({"label": RowLabel.UNCHANGED, "labels": LabelCounts({"a": 2}), "mean": None}, ""),
]


def test_the_note_of_a_row_explains_its_label() -> None:
    for fields, note in NOTES:
        corrected = note.replace("p = ", "corrected p = ")
        assert build_row(replace(ROW, **fields), None, ()).note == corrected


LOST: Sequence[tuple[RowLabel, LostScores, bool, str]] = [
    (
        RowLabel.UNCHANGED,
        LostScores({Reason.NONE: 1_200, Reason.ERROR: 1}, gained=3),
        False,
        "lost scores: 1,200 None, 1 error; 3 gained one",
    ),
    (RowLabel.UNCHANGED, LostScores({Reason.REMOVED: 2}), False, "lost scores: 2 removed"),
    (RowLabel.UNCHANGED, LostScores({Reason.REMOVED: 2}, gained=3), True, ""),
    (RowLabel.UNCHANGED, LostScores({Reason.REMOVED: 2, Reason.ERROR: 1}), True, "lost scores: 1 error"),
    (RowLabel.UNMEASURABLE, LostScores({Reason.NONE: 1, Reason.ERROR: 2}), False, "lost scores: 1 None"),
    (RowLabel.UNCHANGED, LostScores({Reason.NONE: 5}, too_many=True), False, ""),
    (RowLabel.UNCHANGED, LostScores(gained=3), False, ""),
]


def test_the_note_of_a_row_counts_lost_scores() -> None:
    for label, lost, is_partial, note in LOST:
        row = replace(ROW, label=label, lost=lost, estimate=NoEstimate())
        assert build_row(row, None, (), is_partial=is_partial).note == note


@pytest.mark.parametrize(
    ("drop", "state", "text"),
    [
        (0.08, ReportState.ACCEPTED, "p = 0.02, accepted up to 0.100 until 2026-12-31"),
        (0.3, ReportState.WORSE, "p = 0.02, more than the accepted 0.100"),
        (-0.3, ReportState.BETTER, "p = 0.02"),
    ],
)
def test_an_accepted_drop_is_named_with_its_last_day(drop: float, state: ReportState, text: str) -> None:
    estimate = replace(ESTIMATE, delta=-drop, low=-drop - 0.04, high=-drop + 0.04)
    label = RowLabel.WORSE if drop > 0 else RowLabel.BETTER
    view = build(label, estimate=estimate, accepted=ENTRY)
    assert (view.state, view.note) == (state, text)


def test_the_numbers_of_a_row() -> None:
    view = build()
    assert (view.base, view.mean, view.delta, view.low, view.high) == ("0.580", "0.500", "−0.080", "−0.120", "−0.040")
    assert (view.counts, view.judged, view.below, view.made_by) == ("3 / 7 of 20", 0, 0, "")
    hidden = build(RowLabel.UNMEASURABLE)
    assert (hidden.delta, hidden.low, hidden.high, hidden.counts) == ("–", "", "", "–")
    alone = build(RowLabel.NEW, estimate=NoEstimate(), pairs=PairSummary(), base=None)
    assert (alone.base, alone.delta, alone.low, alone.counts) == ("–", "–", "", "–")


def test_labels_stand_for_a_mean() -> None:
    counts = {"odd": 5, "kind": 7, "also": 5, "x" * 40: 1, "rare": 1_000, "sixth": 0}
    view = build(RowLabel.LABELS, mean=None, base=None, labels=LabelCounts(counts, {"kind": 7}))
    assert view.mean == f"rare 1,000, kind 7, also 5, odd 5, {'x' * 29}… 1, …"
    assert view.base == "kind 7"
    del counts["sixth"]
    assert not build(RowLabel.LABELS, mean=None, labels=LabelCounts(counts)).mean.endswith("…")


def build_table(rows: Sequence[Row], verdict: Verdict) -> list[tuple[str, str, ReportState]]:
    run = run_of(ExampleSuite(scored(*[1.0] * 12)))
    comparison = replace(compare(run, run), rows=tuple(rows))
    return [(each.row.suite, each.row.evaluator, each.state) for each in build_rows(comparison, verdict)]


def test_rows_are_sorted_by_state_then_by_drop_then_by_name() -> None:
    small, rise = replace(ESTIMATE, delta=-0.01), replace(ESTIMATE, delta=1.0)
    rows = [
        replace(ROW, suite="a", evaluator="new", label=RowLabel.NEW, estimate=NoEstimate()),
        replace(ROW, suite="b", estimate=rise, label=RowLabel.BETTER),
        replace(ROW, suite="a", estimate=small),
        replace(ROW, suite="c", evaluator="f"),
        replace(ROW, suite="c"),
        replace(ROW, suite="d", label=RowLabel.REMOVED),
        replace(ROW, suite="e", label=RowLabel.WORSE, estimate=small),
    ]
    places = ["e e", "c e", "c f", "a e", "b e", "a new", "d e"]
    assert [f"{suite} {evaluator}" for suite, evaluator, _ in build_table(rows, Verdict(()))] == places


def test_a_row_without_a_decision_is_uncertain() -> None:
    few = replace(ROW, label=RowLabel.TOO_FEW)
    together = Finding(REGRESSION, FAILED, "12 rows fell together", "no regression")
    alone, of_rate = replace(together, suite="demo"), replace(together, declaration=ERROR_RATE)
    risen = replace(few, estimate=replace(ESTIMATE, delta=0.08))
    for row, finding, state in (
        (few, together, ReportState.UNCERTAIN),
        (few, alone, ReportState.HELD),
        (few, of_rate, ReportState.HELD),
        (ROW, together, ReportState.HELD),
        (replace(few, estimate=replace(ESTIMATE, delta=0.0)), together, ReportState.HELD),
        (risen, together, ReportState.HELD),
    ):
        assert build_table([row], Verdict((finding,))) == [("demo", "e", state)]


def test_a_row_says_why_its_gate_can_not_fail() -> None:
    run = run_of(ExampleSuite(scored(*[1.0] * 12)))
    comparison = compare(run, run)
    weak = replace(find(), value="can't fail with 5 cases")
    for left_out, state, note in (
        (weak, ReportState.UNCERTAIN, "can't fail with 5 cases"),
        (replace(weak, part="language=fr"), ReportState.HELD, ""),
        (replace(weak, evaluator="other"), ReportState.HELD, ""),
    ):
        (view,) = build_rows(comparison, Verdict((), left_out=(left_out,)))
        assert (view.state, view.note) == (state, note)
    worse = replace(comparison, rows=(replace(ROW, label=RowLabel.WORSE),))
    (view,) = build_rows(worse, Verdict((), left_out=(weak,)))
    assert view.state is ReportState.WORSE
    uncalibrated = Verdict((), uncalibrated={("demo", "e"): "people disagree"})
    (view,) = build_rows(comparison, uncalibrated)
    assert (view.state, view.note, view.uncalibrated) == (ReportState.HELD, "people disagree", "people disagree")


def test_findings_about_parts_are_not_of_the_row() -> None:
    run = run_of(ExampleSuite(scored(*[1.0] * 12)))
    part = find(DROP, FAILED, part="language=fr")
    (view,) = build_rows(compare(run, run), Verdict((part,)))
    assert (view.state, view.gates) == (ReportState.HELD, ())
