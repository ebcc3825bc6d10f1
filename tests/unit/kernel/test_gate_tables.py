"""The checks of the gate: each rule has one, and a limit without a finding needs a reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tests.unit.kernel.builders import ExampleSuite, compared_row, info, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.estimates import NoEstimate, PairSummary
from scoregate.kernel.gate import RUN_CHECKS, SUITE_CHECKS, Verdict, evaluate_gates
from scoregate.kernel.gate.check import describe_rows
from scoregate.kernel.gate.families import Shares, correct_scores
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import RULES
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.runs.policy import Limits, Policy

GOOD = ExampleSuite(scored(*[1.0] * 12))
ENTRY = AcceptedRegression("*", "2026-12-31", "known", "ana", "*", at_most=1.0)


def judge(limits: Limits, base: ExampleSuite | None = None) -> Verdict:
    return evaluate_gates(compare(run_of(GOOD), None if base is None else run_of(base)), Policy(limits))


def test_every_rule_has_one_check_and_every_finding_is_of_such_a_rule() -> None:
    checked = Counter(rule for check in (*RUN_CHECKS, *SUITE_CHECKS) for rule in check.rules)
    assert checked == Counter(RULES)
    found = judge(Limits(min_pass_rate=0.5, max_error_rate=0.1, max_drop={"*": 0.1}, max_cost=1.0), GOOD).findings
    assert {each.declaration for each in found} <= checked.keys()


def test_a_limit_that_is_switched_off_needs_no_check() -> None:
    for value, exit_code in ((None, 0), (False, 0), ({}, 0), (0.0, 3), (True, 3)):
        assert judge(Limits(more={"max_other": value})).exit_code == exit_code, value


def test_an_evaluator_without_a_row_has_no_reason() -> None:
    """A new evaluator is the reason that its limit has no finding. An evaluator that is not compared is none."""
    both = ExampleSuite({f"c{case}": {"e": 1.0, "f": 1.0} for case in range(12)}, evaluators=(info("e"), info("f")))
    compared = compare(run_of(both), run_of(ExampleSuite({"other": {"g": 1.0}}, evaluators=(info("g"),))))
    rows = [row for row in compared.rows if row.label is RowLabel.NEW]
    assert [row.evaluator for row in rows] == ["e", "f"]
    limits = Limits(max_drop={"e": 0.1, "f": 0.1}, max_error_rate=0.1)
    for known, count in ((rows, 0), (rows[:1], 1), ([], 1)):
        found = evaluate_gates(replace(compared, rows=tuple(known)), Policy(limits)).failed
        assert len([each for each in found if each.value == "max_drop is set, but was not checked"]) == count, known


def test_rows_without_a_change_have_a_reason() -> None:
    changed = compared_row(0.5)
    new, lost = (Row("s", "e", RowLabel.NEW, estimate=NoEstimate(why)) for why in ("no baseline score yet", ""))
    assert describe_rows([new, lost, new], none="no row") == "no baseline score yet; new"
    assert describe_rows([new, changed], none="no row") == ""
    assert describe_rows([], none="no row") == "no row"


def test_a_pass_rate_of_its_limit_is_within_noise_unless_the_limit_is_a_bound() -> None:
    for passing, limit, uncertain in ((0, 0.0, False), (12, 1.0, False), (6, 0.5, True), (6, 0.01, False)):
        run = run_of(ExampleSuite(scored(*[1.0] * passing, *[0.0] * (12 - passing))))
        verdict = evaluate_gates(compare(run, None), Policy(Limits(min_pass_rate=limit)))
        (finding,) = [each for each in verdict.findings if each.rule == "pass rate"]
        assert (finding.conclusion, finding.uncertain) == (Conclusion.PASSED, uncertain), limit


def test_an_accepted_row_can_only_make_the_small_rows_less_certain() -> None:
    def few(*differences: float, suite: str, accepted: AcceptedRegression | None = None) -> Row:
        counts = PairSummary(len(differences), len(differences), differences=dict(enumerate(differences)))
        worse, better = sum(each < 0 for each in differences), sum(each > 0 for each in differences)
        pairs = replace(counts, worse=worse, better=better)
        return replace(compared_row(0.5, accepted), label=RowLabel.TOO_FEW, suite=suite, pairs=pairs)

    fallen = few(*[-0.5] * 8, suite="a")
    alone = correct_scores([fallen], Shares()).q
    risen = correct_scores([fallen, few(*[0.9] * 8, suite="b", accepted=ENTRY)], Shares()).q
    lower = correct_scores([fallen, few(*[-0.9] * 8, suite="b", accepted=ENTRY)], Shares()).q
    assert alone is not None
    assert risen is not None
    assert risen > alone == lower


def test_small_rows_count_as_one_test_also_if_they_only_rose() -> None:
    """Otherwise the direction of their change would decide how strict the gate is for others."""
    large = compared_row(0.02)
    risen = replace(compared_row(1.0), label=RowLabel.TOO_FEW, suite="b", pairs=PairSummary(
        4, 4, differences=dict.fromkeys("abcd", 0.5), better=4))  # fmt: skip
    (alone,), (with_risen, _) = (correct_scores(rows, Shares()).worse for rows in ([large], [large, risen]))
    assert alone is not None
    assert with_risen == 2 * alone


def test_only_rows_with_too_few_pairs_are_tested_together() -> None:
    large = replace(compared_row(0.02), pairs=PairSummary(12, 12, differences=dict.fromkeys(range(12), -0.5), worse=12))
    found = correct_scores([large, replace(large, label=RowLabel.TOO_FEW, suite="b")], Shares())
    assert (found.small, found.named) == ((1,), {1})


def test_a_mean_is_shown_on_its_side_of_the_limit() -> None:
    for mean, limit, value in (
        (0.8, 0.9, "0.800"),
        (0.8996, 0.9, "0.8996"),
        (0.899996, 0.9, "0.899996"),
        (0.8999999, 0.9, "0.900000"),  # no six digits could say it
        (0.9, 0.9, "0.900"),
    ):
        run = run_of(ExampleSuite(scored(*[mean] * 3)))
        verdict = evaluate_gates(compare(run, None), Policy(Limits(min_score={"e": limit})))
        (finding,) = [each for each in verdict.findings if each.rule == "mean score"]
        assert (finding.value, finding.conclusion is Conclusion.PASSED) == (value, mean == limit)
