"""Rows of scores that a gate watches: what the gate's p changes, and which evaluators count as silent."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.kernel.builders import ERROR, ExampleSuite, compared, compared_row, info, run_of, scored

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.compare.estimates import PairSummary
from scoregate.kernel.gate import evaluate_gates, judge_comparison
from scoregate.kernel.gate.baseline_rules import check_drop
from scoregate.kernel.gate.finding import SuiteContext
from scoregate.kernel.types.declarations.kernel import DROP
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy

OLD = run_of(ExampleSuite(scored(*[0.9] * 20)))
REGRESSION = Policy(Limits(fail_on_regression=True))


def explain(new: ExampleSuite, old: ExampleSuite) -> Comparison:
    """A comparison whose change another cause explains."""
    found = compared(new, old)
    return replace(found, rows=tuple(replace(row, label=RowLabel.EXPLAINED) for row in found.rows))


def test_an_explained_change_stays_explained_unless_the_rest_is_certain() -> None:
    old = ExampleSuite(scored(*[0.9, 0.8] * 10))
    for scores, label, exit_code in (
        ([0.9, 0.7] * 10, RowLabel.WORSE, 1),
        ([0.8, 0.85] * 10, RowLabel.EXPLAINED, 0),
        ([0.9, 0.9] * 10, RowLabel.EXPLAINED, 0),
    ):
        judged, verdict = judge_comparison(explain(ExampleSuite(scored(*scores)), old), REGRESSION)
        assert ([row.label for row in judged.rows], verdict.exit_code) == ([label], exit_code), scores


def test_a_row_without_a_gate_keeps_its_p_and_its_label() -> None:
    cases = [0.9] * 14 + [0.8] * 6
    old = run_of(*(ExampleSuite(scored(*[0.9] * 20), id=name) for name in "abcdef"))
    new = run_of(
        ExampleSuite(scored(*cases), id="a"), *(ExampleSuite(scored(*[0.9] * 20), id=name) for name in "bcdef")
    )
    plain = compare(new, old)
    for policy in (Policy(), Policy(Limits(), {"b": Limits(fail_on_regression=True)})):
        judged, _ = judge_comparison(plain, policy)
        assert judged.rows[0] == plain.rows[0]
    judged, verdict = judge_comparison(plain, Policy(Limits(), {"a": Limits(fail_on_regression=True)}))
    assert (judged.rows[0].label, verdict.exit_code) == (RowLabel.WORSE, 1)


def test_an_evaluator_that_returned_none_is_silent_whatever_the_error_rate() -> None:
    """If all that it gives are errors, these are reported as such."""
    both = (info("e"), info("tone"))

    def find_silent(*tone: float | ErrorInfo | None) -> list[str]:
        cases = {f"c{index}": {"e": 1.0, "tone": score} for index, score in enumerate(tone)}
        new = run_of(ExampleSuite(cases, evaluators=both))
        verdict = evaluate_gates(compare(new, None), Policy(Limits(max_error_rate=0.5)))
        return [each.value for each in verdict.failed if each.rule == "scores remain"]

    assert find_silent(None, *[ERROR] * 11) == ["no score of any case"]
    assert find_silent(*[ERROR] * 12) == []
    assert find_silent(*[None] * 12) == ["no score of any case"]
    assert find_silent(1.0, *[None] * 11) == []


def test_the_smallest_effect_of_a_small_row_can_be_zero() -> None:
    old, new = (ExampleSuite(scored(*[score] * 9), threshold=None) for score in (0.9, 0.899))
    for min_effect, label in ((0.0, RowLabel.WORSE), (0.01, RowLabel.TOO_FEW)):
        criteria = Criteria(min_effect=min_effect)
        comparison = compare(run_of(new), run_of(old), criteria=criteria)
        judged, _ = judge_comparison(comparison, replace(REGRESSION, criteria=criteria))
        assert [row.label for row in judged.rows] == [label], min_effect


def test_a_number_of_cases_has_two_digits() -> None:
    """How many would decide is an estimate."""
    row = replace(compared_row(0.3), pairs=PairSummary(20, 20, able=20, better=5, worse=15))
    for detectable, text in ((0.1495, "about 45 cases"), (0.33, "about 220 cases"), (1.0, "about 2,000 cases")):
        shown = replace(row, estimate=replace(row.estimate, detectable=detectable))
        context = SuiteContext(0, OLD.suites[0], Limits(), compare(OLD, OLD), (shown,))
        (finding,) = check_drop(DROP, shown, context, most=0.05, origin="x")
        assert finding.value.endswith(f": above the limit, within noise; {text} would decide"), detectable


def test_a_collapse_within_its_limit_is_allowed() -> None:
    """Every case of a few fell: more than chance, less than the limit."""
    old, new = (ExampleSuite(scored(*[score] * 4), threshold=None) for score in (0.9, 0.7))
    for most, exit_code in ((0.1, 3), (0.3, 0)):
        assert evaluate_gates(compared(new, old), Policy(Limits(max_drop={"*": most}))).exit_code == exit_code, most
