"""What the correction of a run's gates depends on, and which limits count as set."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ERROR, ExampleSuite, compared_row, info, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Correction, Row, RowLabel
from scoregate.kernel.compare.estimates import PairSummary
from scoregate.kernel.gate import evaluate_gates, judge_comparison
from scoregate.kernel.gate.families import Shares, SmallRow, SmallRows, correct_scores, count_needed, is_collapse
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import Fingerprint
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy, Severity
from scoregate.kernel.types.runs.run import Run

PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE
ENTRY = AcceptedRegression("*", "2026-12-31", "known", "ana", "*", at_most=1.0)


def few(p: float, *differences: float, accepted: AcceptedRegression | None = None, suite: str = "s") -> Row:
    counts = PairSummary(len(differences), len(differences), differences=dict(enumerate(differences)))
    worse, better = sum(each < 0 for each in differences), sum(each > 0 for each in differences)
    row = replace(compared_row(p, accepted), label=RowLabel.TOO_FEW, suite=suite)
    return replace(row, pairs=replace(counts, worse=worse, better=better))


def test_a_probability_needs_a_number_of_cases() -> None:
    assert [count_needed(level) for level in (0.5, 0.25, 0.2, 0.025, 0.02, 0.005)] == [1, 2, 3, 6, 6, 8]


def test_small_rows_have_one_p_together() -> None:
    nothing = correct_scores([few(1.0, 0.0, 0.0)], Shares())
    assert (nothing.q, nothing.small, nothing.worse, nothing.named) == (1.0, (0,), (None,), frozenset())
    empty = correct_scores([compared_row(0.02)], Shares())
    assert (empty.q, empty.small) == (None, ())
    fallen = [few(2**-3, *[-0.5] * 4, suite=name) for name in "ab"]
    both = correct_scores(fallen, Shares())
    assert both.q == pytest.approx(2 * 2**-8, rel=0.5)
    assert (both.small, both.worse, both.named) == ((0, 1), (None, None), frozenset())


def test_a_small_row_is_named_if_it_is_worse_by_itself() -> None:
    rows = [few(2**-7, *[-0.5] * 8, suite="a"), few(1.0, *[0.5, -0.5] * 4, suite="b")]
    found = correct_scores(rows, Shares())
    assert found.named == {0}
    assert (found.worse[0], found.worse[1]) == (found.q, None)
    sharper = correct_scores(rows, Shares(alpha=0.001))
    assert (sharper.named, sharper.worse) == (frozenset(), (None, None))


def test_an_accepted_small_row_is_not_tested_with_others() -> None:
    rows = [few(2**-7, *[-0.5] * 8, accepted=ENTRY), few(1.0, *[0.5, -0.5] * 4, suite="b")]
    found = correct_scores(rows, Shares())
    assert (found.small, found.named, found.worse) == ((1,), frozenset(), (None, None))
    assert found.q is not None
    assert found.q > 0.5


def test_cases_of_a_suite_count_once_among_small_rows() -> None:
    row = few(1.0, -0.5, -0.5, -0.5)
    rows = [replace(row, pairs=replace(row.pairs, able=able), evaluator=name) for able, name in ((3, "e"), (2, "f"))]
    small = SmallRows(tuple(map(SmallRow, [*rows, replace(rows[1], suite="other")])))
    assert (small.able, small.has_several, SmallRows(small.rows[:1]).has_several) == (5, True, False)


def test_a_collapse_is_a_far_fall_of_every_case() -> None:
    def collapses(
        n: int, gain: float, *, worse: int | None = None, can_fail: bool = False, is_alone: bool = True
    ) -> bool:
        row = compared_row(0.5)
        row = replace(
            row,
            estimate=replace(row.estimate, delta=gain),
            pairs=PairSummary(n, n, worse=n if worse is None else worse),
        )
        return is_collapse(row, can_fail=can_fail, is_alone=is_alone)

    assert [collapses(n, -0.1) for n in (2, 3, 4)] == [False, True, True]
    assert [collapses(n, -0.1, can_fail=True) for n in (4, 5)] == [False, True]
    assert [collapses(3, gain) for gain in (-0.09, -0.1, 0.1)] == [False, True, False]
    assert [collapses(3, gain, is_alone=False) for gain in (-0.49, -0.5)] == [False, True]
    assert not collapses(3, -0.5, worse=2)


def costly(*costs: float) -> Run:
    run = run_of(ExampleSuite(scored(*[1.0] * len(costs))))
    run.suites[0].columns.costs[:] = array("d", costs)
    return run


def judge_costs(new: Run, old: Run, limits: Limits, alpha: float = 0.05) -> tuple[Conclusion, str, bool]:
    found = evaluate_gates(compare(new, old), Policy(limits, criteria=Criteria(alpha=alpha)))
    (one,) = [each for each in (*found.findings, *found.warnings) if each.rule == "cost ratio"]
    return one.conclusion, one.value, one.uncertain


def test_a_ratio_above_its_limit_within_noise_is_uncertain() -> None:
    new, old = costly(*[1.0, 9.0] * 6), costly(*[1.0] * 11, 9.0)
    conclusion, value, uncertain = judge_costs(new, old, Limits(max_cost_ratio=1.2))
    assert (conclusion, uncertain) == (PASSED, True)
    assert value.endswith(": above the limit, within noise at 12 cases")
    conclusion, value, uncertain = judge_costs(old, old, Limits(max_cost_ratio=1.2))
    assert (conclusion, uncertain, value.startswith("1.00 × the baseline's")) == (PASSED, False, True)
    conclusion, _, uncertain = judge_costs(costly(*[2.0] * 12), costly(*[1.0] * 12), Limits(max_cost_ratio=1.2))
    assert (conclusion, uncertain) == (FAILED, False)


def test_few_cases_that_rise_stop_no_run_unless_they_exceed_the_limit() -> None:
    for factor, cases, exit_code in ((1.1, 5, 0), (1.3, 5, 3), (1.3, 3, 3), (1.3, 2, 0)):
        new, old = costly(*[factor] * cases), costly(*[1.0] * cases)
        assert evaluate_gates(compare(new, old), Policy(Limits(max_cost_ratio=1.2))).exit_code == exit_code
    mixed, old = costly(5.0, 5.0, 5.0, 5.0, 1.0), costly(*[1.0] * 5)
    assert evaluate_gates(compare(mixed, old), Policy(Limits(max_cost_ratio=1.2))).exit_code == 0


def test_the_total_of_a_suite_has_the_calls_without_a_case() -> None:
    def with_calls(run: Run, cost: float) -> Run:
        return replace(run, suites=(replace(run.suites[0], usage=Usage(1, cost=cost)),))

    old = costly(*[0.1] * 12)
    limits = Limits(max_cost_ratio=1.5)
    half = with_calls(old, 1.2), with_calls(old, 1.2)
    assert "by the totals" not in judge_costs(*half, limits)[1]  # half of the calls, not more
    assert judge_costs(with_calls(old, 1.3), with_calls(old, 1.3), limits)[1].startswith(
        "1.00 × the baseline's, by the totals"
    )
    unpaired = run_of(ExampleSuite({f"d{at}": {"e": 1.0} for at in range(12)}))
    unpaired.suites[0].columns.costs[:] = array("d", [0.1] * 12)
    conclusion, value, _ = judge_costs(with_calls(unpaired, 0.1), with_calls(old, 0.1), limits)
    assert (conclusion, value) == (PASSED, "1.00 × the baseline's, by the totals of the suite per trial")


def test_a_row_without_a_direction_keeps_the_p_of_all_rows() -> None:
    policy = Policy(Limits(fail_on_regression=True))
    risen, fallen = (run_of(ExampleSuite(scored(*[score] * 20))) for score in (0.9, 0.5))
    plain = compare(risen, fallen)
    judged, _ = judge_comparison(plain, policy)
    assert (judged.rows[0].correction, judged.rows[0].label) == (plain.rows[0].correction, RowLabel.BETTER)
    judged, _ = judge_comparison(compare(fallen, risen), policy)
    assert (judged.rows[0].correction, judged.rows[0].label) == (
        Correction(judged.rows[0].correction.q),
        RowLabel.WORSE,
    )


def test_small_suites_are_named_only_above_the_smallest_effect() -> None:
    base, new = (run_of(ExampleSuite(scored(*[score] * 9), threshold=None)) for score in (0.9, 0.85))
    for min_effect, label in ((0.01, RowLabel.WORSE), (0.05, RowLabel.WORSE), (0.06, RowLabel.TOO_FEW)):
        policy = Policy(Limits(fail_on_regression=True), criteria=Criteria(min_effect=min_effect))
        judged, verdict = judge_comparison(compare(new, base, criteria=policy.criteria), policy)
        assert [each.label for each in judged.rows] == [label], min_effect
        assert verdict.exit_code == (1 if label is RowLabel.WORSE else 0)


def test_new_errors_count_for_every_relative_gate() -> None:
    base = run_of(ExampleSuite(scored(*[1.0] * 100, *[ERROR] * 2)))
    for errors, limits, count in (
        (12, Limits(fail_on_regression=True), 1),
        (12, Limits(max_drop={"*": 0.5}), 1),
        (12, Limits(fail_on_critical=True), 1),
        (12, Limits(), 0),
        (0, Limits(fail_on_regression=True), 0),
    ):
        run = run_of(ExampleSuite(scored(*[ERROR] * errors, *[1.0] * (102 - errors))))
        found = evaluate_gates(compare(run, base), Policy(limits)).findings
        assert len([each for each in found if each.rule == "new errors"]) == count, (errors, limits)
    many = run_of(ExampleSuite(scored(*[1.0] * 52, *[ERROR] * 50)))
    same = evaluate_gates(compare(many, many), Policy(Limits(fail_on_regression=True))).findings
    assert [each for each in same if each.rule == "new errors"] == []


def test_changed_evaluators_fail_under_the_policy_of_the_base() -> None:
    old, new = (run_of(ExampleSuite(scored(*[1.0] * 12), evaluators=[info(prompt=prompt)])) for prompt in "ab")
    for of_base in (True, False):
        found = evaluate_gates(compare(new, old), replace(Policy(), of_base=of_base))
        changed = [each for each in found.findings if each.rule == "evaluators unchanged"]
        assert [(each.conclusion, each.suite, each.evaluator) for each in changed] == [(FAILED, "demo", "e")] * of_base
    assert info(prompt="a").fingerprint == Fingerprint(prompt="a")


def test_a_rule_of_a_suite_has_its_severity() -> None:
    for suite, rule in (
        (ExampleSuite({}), "cases_ran"),
        (ExampleSuite(scored(None, None)), "cases_were_evaluated"),
        (ExampleSuite(scored(1.0), complete=False), "suite_finished"),
    ):
        assert evaluate_gates(compare(run_of(suite), None), Policy()).exit_code == 3
        relaxed = Policy(Limits(severity={rule: Severity.WARN}))
        found = evaluate_gates(compare(run_of(suite), None), relaxed)
        assert [each.declaration.key for each in found.warnings] == [rule]


def test_one_evaluator_with_thresholds_is_enough_for_a_suite_to_fail() -> None:
    run = run_of(ExampleSuite({"c": {"e": 1.0, "f": 1.0}}, evaluators=[info("e"), info("f")]))
    run.suites[0].columns.judged["f"] = 0
    assert evaluate_gates(compare(run, None), Policy(Limits(min_pass_rate=0.5))).ungated == ()
    run.suites[0].columns.judged["e"] = 0
    assert evaluate_gates(compare(run, None), Policy(Limits(min_pass_rate=0.5))).ungated == ("demo",)


def test_only_the_tag_makes_a_case_critical() -> None:
    tags = {"c0": ("critical",), "c1": ("other",)}
    base = run_of(ExampleSuite(scored(1.0, 1.0, 1.0), tags=tags))
    for case, count in (("c0", 1), ("c1", 0), ("c2", 0)):
        cases = {name: scores for name, scores in scored(1.0, 1.0, 1.0).items() if name != case}
        run = run_of(ExampleSuite(cases, tags={name: each for name, each in tags.items() if name != case}))
        for limits, expected in ((Limits(fail_on_critical=True), count), (Limits(), 0)):
            found = evaluate_gates(compare(run, base), Policy(limits)).findings
            assert len([each for each in found if each.rule == "critical cases remain"]) == expected
        selected = evaluate_gates(
            compare(change_run(run, selection="-k x"), base), Policy(Limits(fail_on_critical=True))
        )
        assert [each for each in selected.findings if each.rule == "critical cases remain"] == []
