"""The verdict: an empty run is never green, and every finding names the origin of its limit."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ERROR, ExampleSuite, info, run_of, scored

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import Verdict, evaluate_gates, judge_comparison
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import PASS_RATE, RULES
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy, Severity
from scoregate.kernel.types.runs.run import Run, Script

RULE_BY_NAME = {rule.name: rule for rule in RULES}
PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE
GOOD = ExampleSuite(scored(1.0, 1.0))
LENIENT = Policy(Limits())


def with_other_scores(*scores: float | ErrorInfo | None) -> dict[str, Any]:
    """The cases of `scored`, with another evaluator that scores each of them."""
    return {case: {**given, "other": 1.0} for case, given in scored(*scores).items()}


def verdict(*suites: ExampleSuite, policy: Policy | None = None, base: Run | None = None, **run: Any) -> Verdict:
    return evaluate_gates(compare(run_of(*suites, **run), base), policy or Policy())


def finding(found: Verdict, rule: str) -> Finding:
    (one,) = [finding for finding in found.findings if finding.rule == rule]
    return one


def test_a_good_run_passes() -> None:
    result = verdict(GOOD)
    assert (result.conclusion, result.exit_code, result.failed) == (PASSED, 0, ())
    assert result.findings


NOTHING: dict[str, Any] = {
    "no suites": (),
    "no cases": (ExampleSuite({}),),
    "no evaluators": (ExampleSuite({"a": {}, "b": {}}),),
    "every case errs": (ExampleSuite({"a": ERROR, "b": ERROR}),),
    "every evaluation errs": (ExampleSuite(scored(ERROR, ERROR)),),
    "a suite that never finished": (ExampleSuite(scored(1.0), complete=False),),
    "a suite with a problem": (ExampleSuite(scored(1.0), errors=[ErrorInfo("InvalidSuite", "duplicate hash 'a'")]),),
    "one of two suites without cases": (GOOD, ExampleSuite({}, id="empty")),
}


@pytest.mark.parametrize("suites", NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize(
    "policy",
    [Policy(), LENIENT, Policy(Limits(max_error_rate=1.0)), Policy(Limits(min_pass_rate=0.0, max_error_rate=1.0))],
    ids=["default", "no limits", "any errors", "anything goes"],
)
def test_no_result_is_never_green(suites: tuple[ExampleSuite, ...], policy: Policy) -> None:
    result = verdict(*suites, policy=policy)
    assert (result.conclusion, result.exit_code) == (UNMEASURABLE, 3)


def test_an_evaluator_without_scores_is_never_green() -> None:
    result = verdict(ExampleSuite(with_other_scores(None, None)))
    assert (result.exit_code, finding(result, "scores remain").value) == (3, "no score of any case")


def test_scores_without_a_threshold_count_as_evaluations() -> None:
    assert verdict(ExampleSuite(scored(0.1, 0.2), threshold=None)).conclusion is PASSED


@pytest.mark.parametrize(
    ("limit", "conclusion"), [(1.0, FAILED), (0.76, FAILED), (0.75, PASSED), (0.0, PASSED), (None, PASSED)]
)
def test_the_pass_rate_has_a_limit(limit: float | None, conclusion: Conclusion) -> None:
    result = verdict(ExampleSuite(scored(1.0, 1.0, 1.0, 0.0)), policy=Policy(Limits(min_pass_rate=limit)))
    assert result.conclusion is conclusion
    assert result.exit_code == (1 if conclusion is FAILED else 0)


def test_a_finding_has_the_value_and_the_origin_of_the_limit() -> None:
    limits = Limits(min_pass_rate=0.9, origin={"min_pass_rate": "pyproject.toml"})
    one = finding(verdict(ExampleSuite(scored(1.0, 0.0)), policy=Policy(limits)), "pass rate")
    assert one == Finding(PASS_RATE, FAILED, "1 of 2 cases (50.0%)", "≥ 90.0%", "pyproject.toml", "demo", bound=0.9)


def test_unset_limits_are_called_default() -> None:
    assert finding(verdict(GOOD), "pass rate").origin == "default"
    assert finding(verdict(GOOD), "error rate").origin == "default"


@pytest.mark.parametrize(("errors", "conclusion"), [(1, PASSED), (2, UNMEASURABLE)])
def test_too_many_errors_cannot_be_measured(errors: int, conclusion: Conclusion) -> None:
    """At most 5 of 100 by default; one of 20 is just that."""
    result = verdict(ExampleSuite(scored(*[1.0] * (20 - errors), *[ERROR] * errors)))
    assert result.conclusion is conclusion


@pytest.mark.parametrize("evaluators", [(), (info("a"),)])
def test_errors_of_all_cases_are_one_finding(evaluators: tuple[EvaluatorInfo, ...]) -> None:
    result = verdict(ExampleSuite(scored(ERROR, ERROR), evaluators=evaluators))
    (found,) = result.failed
    assert (found.title, found.value) == ("Nothing was evaluated", "0 evaluations: every case has an error")


def test_errors_of_all_cases_count_although_nothing_has_to_be_evaluated() -> None:
    relaxed = Policy(Limits(max_error_rate=0.05, severity={"cases_were_evaluated": Severity.WARN}))
    result = verdict(ExampleSuite(scored(ERROR, ERROR)), policy=relaxed)
    assert result.conclusion is UNMEASURABLE
    assert [each.rule for each in result.failed] == ["error rate"]


def test_errors_of_one_evaluator_count_despite_other_scores() -> None:
    cases = {f"c{index}": {"a": 1.0, "b": ERROR} for index in range(4)}
    result = verdict(ExampleSuite(cases, evaluators=[info("a"), info("b")]))
    assert finding(result, "error rate").value == "4 of 4 cases (100.0%)"
    assert result.conclusion is UNMEASURABLE


@pytest.mark.parametrize(("limit", "conclusion"), [(0.5, PASSED), (0.51, FAILED)])
def test_the_mean_score_has_a_limit(limit: float, conclusion: Conclusion) -> None:
    policy = Policy(Limits(min_score={"e": limit}, origin={"min_score.e": "scoregate.toml"}))
    one = finding(verdict(ExampleSuite(scored(0.25, 0.75), threshold=None), policy=policy), "mean score")
    assert (one.conclusion, one.value, one.evaluator, one.origin) == (conclusion, "0.500", "e", "scoregate.toml")


def test_a_mean_without_scores_is_unmeasurable() -> None:
    result = verdict(ExampleSuite(scored(None)), policy=Policy(Limits(min_score={"e": 0.1})))
    assert finding(result, "mean score").conclusion is UNMEASURABLE


def test_a_failed_assertion_fails_the_gate() -> None:
    suite = ExampleSuite(scored(1.0, 0.0), assertion_failed=True)
    result = verdict(suite, policy=LENIENT, scripts=[Script("evals/demo.py", exit_code=1)])
    assert (result.conclusion, result.exit_code) == (FAILED, 1)
    assert finding(result, "assert_test").value == "1 case failed"


def test_an_assertion_without_cases_is_unmeasurable() -> None:
    script = Script("evals/demo.py", exit_code=1)
    for cases, value in (
        (scored(None, None), "2 cases, none of them judged"),
        ({"a": ERROR, "b": ERROR}, "2 cases, none of them judged: all met errors"),
        ({**scored(None), "b": ERROR}, "2 cases, none of them judged"),
    ):
        result = verdict(ExampleSuite(cases, assertion_failed=True), policy=LENIENT, scripts=[script])
        one = finding(result, "assert_test")
        assert (result.exit_code, one.conclusion, one.value) == (3, UNMEASURABLE, value)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (Script("evals/demo.py", exit_code=2), "exited with 2"),
        (Script("evals/demo.py", exit_code=-9), "exited with -9"),
        (Script("evals/demo.py", exit_code=None), "did not start"),
        (Script("evals/demo.py", error=ErrorInfo("Interrupted", "it was stopped")), "evals/demo.py: it was stopped"),
        (Script("evals/demo.py", exit_code=-15, timed_out=True, duration_s=61), "was stopped after 61 s"),
    ],
)
def test_a_failed_script_is_unmeasurable(script: Script, message: str) -> None:
    result = verdict(GOOD, scripts=[script])
    assert result.exit_code == 3
    assert message in finding(result, "scripts end well").value


def test_a_run_that_failing_cases_stopped_has_this_problem_only() -> None:
    script = Script("evals/demo.py", error=ErrorInfo("Interrupted", "it was stopped before its end"))
    crashed = replace(script, name="evals/other.py", error=ErrorInfo("Crashed", "it crashed"))
    unfinished = ExampleSuite({"a": {"e": 0.0}, "b": {"e": 1.0}}, complete=False)
    for scripts, rules in (([script], ["stopped early"]), ([script, crashed], ["stopped early", "scripts end well"])):
        run = change_run(run_of(unfinished, scripts=scripts), complete=False, stopped="1 case failed")
        found = evaluate_gates(compare(run, None), LENIENT)
        assert (found.exit_code, [one.rule for one in found.failed]) == (1, rules)
    run = change_run(run, stopped="")
    assert {one.rule for one in evaluate_gates(compare(run, None), LENIENT).failed} == {
        "run complete",
        "scripts end well",
    }


def test_one_cause_is_one_problem() -> None:
    script = Script("evals/demo.py", exit_code=0, error=ErrorInfo("InvalidEvents", "a line can't be read"))
    problem = ErrorInfo("InvalidSuite", "suite 'demo': the data has no cases")
    for found, rule, value in (
        (verdict(scripts=[script]), "scripts end well", "evals/demo.py: a line can't be read"),
        (verdict(ExampleSuite({}, errors=[problem])), "suite is valid", "the data has no cases"),
        (
            verdict(ExampleSuite({"a": {}}, evaluators=[])),
            "cases were evaluated",
            "0 evaluations: the suite has no scorers",
        ),
    ):
        assert found.exit_code == 3
        assert [one.rule for one in found.failed] == [rule]
        assert found.failed[0].value.startswith(value)


def test_a_failure_wins_over_an_unmeasurable_gate() -> None:
    result = verdict(ExampleSuite(scored(0.0)), ExampleSuite({}, id="empty"))
    assert (result.conclusion, result.exit_code) == (FAILED, 1)
    assert {one.conclusion for one in result.failed} == {FAILED, UNMEASURABLE}


def test_a_removed_suite_is_unmeasurable() -> None:
    base = run_of(GOOD, ExampleSuite(scored(1.0), id="old"))
    result = verdict(GOOD, base=base)
    assert result.exit_code == 3
    assert finding(result, "suites remain").value == "old is gone"


@pytest.mark.parametrize(
    ("new", "old", "evaluator", "conclusion"),
    [
        (with_other_scores(None, None), with_other_scores(1.0, None), info(), UNMEASURABLE),
        (with_other_scores(None, ERROR), with_other_scores(1.0, 1.0), info(), UNMEASURABLE),
        (with_other_scores(None, 1.0), with_other_scores(1.0, 1.0), info(), PASSED),
        (with_other_scores(None, None), with_other_scores(None, None), info(), UNMEASURABLE),
        (with_other_scores(None, None), with_other_scores(1.0, 1.0), EvaluatorInfo("e", battles=True), PASSED),
    ],
    ids=["all silent", "the rest errs", "some left", "never any", "battles"],
)
def test_an_evaluator_that_lost_all_scores_is_unmeasurable(
    new: dict[str, Any], old: dict[str, Any], evaluator: EvaluatorInfo, conclusion: Conclusion
) -> None:
    policy = Policy(Limits(max_error_rate=1.0))
    result = verdict(
        ExampleSuite(new, evaluators=[evaluator]), policy=policy, base=run_of(ExampleSuite(old, evaluators=[evaluator]))
    )
    assert result.conclusion is conclusion
    assert [one.rule for one in result.failed] == (["scores remain"] if conclusion is UNMEASURABLE else [])


def test_a_pending_evaluator_has_no_scores_yet() -> None:
    run = run_of(ExampleSuite(with_other_scores(None, None)))
    run.suites[0].columns.deferred["e"] = array("l", [0])
    assert (
        evaluate_gates(compare(run, run_of(ExampleSuite(with_other_scores(1.0, 1.0)))), Policy()).conclusion is PASSED
    )


@pytest.mark.parametrize(
    ("evaluator", "reason"),
    [
        (info(), "0 evaluations: every scorer returned None"),
        (EvaluatorInfo("e", battles=True), "0 evaluations: a battle needs the output of a run before it"),
    ],
)
def test_a_suite_without_scores_is_unmeasurable(evaluator: EvaluatorInfo, reason: str) -> None:
    result = verdict(ExampleSuite(scored(None, None), evaluators=[evaluator]))
    assert result.exit_code == 3
    assert [(one.rule, one.value) for one in result.failed] == [("cases were evaluated", reason)]


def test_a_suite_waiting_for_reviews_is_pending_unless_its_severity_differs() -> None:
    run = run_of(ExampleSuite(scored(None, None)))
    run.suites[0].columns.pending, run.suites[0].columns.unscored = 2, 0
    found = evaluate_gates(compare(run, None), Policy())
    assert found.exit_code == 3
    assert [(one.rule, one.value) for one in found.failed] == [
        ("evaluations pending", "all 2 evaluations wait for people")
    ]
    relaxed = Policy(Limits(severity={"evaluations_pending": Severity.WARN}))
    assert evaluate_gates(compare(run, None), relaxed).exit_code == 0


@pytest.mark.parametrize(("watch", "code"), [(Limits(max_error_rate=0.05), 0), (Limits(fail_on_regression=True), 3)])
def test_lost_scores_make_a_watched_row_unmeasurable(watch: Limits, code: int) -> None:
    """60 of 200 cases that failed now return None, so the others look perfect."""
    new = ExampleSuite(scored(*[None] * 60, *[1.0] * 140), threshold=None)
    old = ExampleSuite(scored(*[0.0] * 60, *[1.0] * 140), threshold=None)
    comparison = compare(run_of(new), run_of(old))
    (row,) = comparison.rows
    assert (row.label, row.lost.reasons, row.pairs.n) == (RowLabel.UNMEASURABLE, {"none": 60}, 140)
    assert (row.mean, row.base) == (1.0, 1.0), "both means are over the pairs"
    assert row.reason == "60 of 200 cases lost their score: the scorer returned None"
    assert evaluate_gates(comparison, Policy(watch)).exit_code == code


def test_random_loss_of_scores_is_allowed() -> None:
    """An evaluator that scores 8 of 10 cases, depending on the output, loses as many as it gains."""
    new = ExampleSuite(scored(*[None] * 40, *[1.0] * 160), threshold=None)
    old = ExampleSuite(scored(*[1.0] * 160, *[None] * 40), threshold=None)
    (row,) = compare(run_of(new), run_of(old)).rows
    assert (row.label, row.lost.reasons, row.lost.gained, row.pairs.n) == (RowLabel.UNCHANGED, {"none": 40}, 40, 120)


def test_removed_redefined_or_errored_cases_are_no_lost_scores() -> None:
    new = ExampleSuite(
        {"c0": {"e": None}, "c1": {"e": ERROR}, **{f"c{index}": {"e": 1.0} for index in range(20, 60)}},
        digests={"c0": "edited"},
    )
    old = ExampleSuite({f"c{index}": {"e": 1.0} for index in range(60)}, digests={"c0": "first"})
    comparison = compare(run_of(new), run_of(old))
    (row,) = comparison.rows
    assert (row.label, row.lost.reasons) == (RowLabel.UNCHANGED, {"redefined": 1, "error": 1, "removed": 18})
    assert evaluate_gates(comparison, Policy(Limits(fail_on_regression=True))).exit_code == 0


def test_a_filtered_suite_is_not_removed() -> None:
    base = run_of(GOOD, ExampleSuite(scored(1.0), id="old"))
    assert verdict(GOOD, base=base, filters=("demo",)).conclusion is PASSED


RELATIVE = Limits(max_drop={"*": 0.0}, fail_on_regression=True, max_error_rate=None)


def against(
    new: dict[str, Any], old: dict[str, Any], *, policy: Policy | None = None, **fields: Any
) -> tuple[Comparison, Verdict]:
    policy = policy or Policy(RELATIVE)
    comparison = compare(
        run_of(ExampleSuite(new, threshold=None, **fields)),
        run_of(ExampleSuite(old, threshold=None, **fields)),
        criteria=policy.criteria,
    )
    return comparison, evaluate_gates(comparison, policy)


def test_a_watched_row_with_too_many_errors_is_reported_once() -> None:
    _, found = against(scored(*[1.0] * 30), scored(*[1.0] * 24, *[ERROR] * 6))
    assert finding(found, "drop").conclusion is UNMEASURABLE
    cure = "run the baseline again, or compare with another one (--baseline)"
    assert finding(found, "drop").value == f"6 of 30 pairs have an error in the baseline; {cure}"
    assert [one.rule for one in found.findings if one.rule == "regression"] == []
    assert found.exit_code == 3


def test_pairs_with_errors_say_on_which_side_they_are() -> None:
    _, found = against(scored(*[1.0] * 24, *[ERROR] * 6), scored(*[1.0] * 30))
    assert finding(found, "drop").value == "6 of 30 pairs have an error in this run"
    _, found = against(scored(*[ERROR] * 6, *[1.0] * 24), scored(*[1.0] * 25, *[ERROR] * 5))
    assert finding(found, "drop").value == "11 of 30 pairs have an error (6 in this run, 5 in the baseline)"


def test_a_gate_and_a_label_never_disagree() -> None:
    """p = 1/32 of one gated evaluator among eleven others."""
    names = [f"e{index}" for index in range(11)]
    fields = {"id": "rest", "evaluators": [info(name) for name in names]}
    rest = [
        ExampleSuite({f"c{index}": dict.fromkeys(names, (index + side) % 2.0) for index in range(20)}, **fields)
        for side in (0, 1)
    ]
    new = run_of(ExampleSuite(scored(*[0.0] * 5, *[1.0] * 15), "gated"), rest[0])
    policy = Policy(Limits(), {"gated": Limits(fail_on_regression=True)})
    comparison = compare(new, run_of(ExampleSuite(scored(*[1.0] * 20), "gated"), rest[1]))
    row = comparison.rows[0]
    assert (row.estimate.p, row.correction.q, row.label) == (
        pytest.approx(1 / 32),
        pytest.approx(12 / 32),
        RowLabel.NOISE,
    )
    # The gate watches one row, so only that one counts; the row gets the gate's p and label.
    judged, result = judge_comparison(comparison, policy)
    assert (judged.rows[0].correction.q, judged.rows[0].label) == (pytest.approx(1 / 32), RowLabel.WORSE)
    assert finding(result, "regression").conclusion is FAILED
    assert [each.correction.q for each in judged.rows[1:]] == [each.correction.q for each in comparison.rows[1:]]
    judged, result = judge_comparison(comparison, Policy(Limits(fail_on_regression=True)))
    assert (judged.rows[0].correction.q, judged.rows[0].label) == (pytest.approx(12 / 32), RowLabel.NOISE)
    assert result.conclusion is PASSED
    alone = compare(run_of(ExampleSuite(scored(*[0.0] * 5, *[1.0] * 15), "gated")), comparison.base)
    assert alone.rows[0].label is RowLabel.WORSE
    assert finding(evaluate_gates(alone, policy), "regression").conclusion is FAILED


def test_an_estimate_above_the_limit_within_noise_is_uncertain() -> None:
    policy = Policy(Limits(max_drop={"*": 0.03}))
    _, found = against(scored(*[0.0] * 7, *[1.0] * 53), scored(*[1.0] * 57, *[0.0] * 3), policy=policy)
    one = finding(found, "drop")
    assert (one.conclusion, one.uncertain) == (PASSED, True)
    assert "above the limit, within noise; about " in one.value
    assert one.value.endswith("cases would decide")
    _, small = against(scored(*[0.0] * 1, *[1.0] * 59), scored(*[1.0] * 60), policy=policy)
    assert finding(small, "drop").uncertain is False


@pytest.mark.parametrize(("min_effect", "conclusion"), [(0.01, FAILED), (0.3, PASSED)])
def test_a_gate_needs_a_relevant_effect_and_uses_its_policy(min_effect: float, conclusion: Conclusion) -> None:
    policy = Policy(RELATIVE, criteria=Criteria(min_effect=min_effect))
    _, found = against(scored(*[0.0] * 5, *[1.0] * 15), scored(*[1.0] * 20), policy=policy)
    assert {finding(found, rule).conclusion for rule in ("drop", "regression")} == {conclusion}


def test_a_watched_evaluator_missing_in_the_run_is_reported() -> None:
    base = run_of(ExampleSuite({"c0": {"e": 1.0, "f": 1.0}}, evaluators=[info("e"), info("f")]))
    found = evaluate_gates(compare(run_of(ExampleSuite({"c1": {"e": 1.0}})), base), Policy(RELATIVE))
    values = {one.evaluator: one.value for one in found.findings if one.rule == "comparable"}
    assert values == {"e": "new: no case has a score in both runs", "f": "removed: this scorer is gone"}


@pytest.mark.parametrize(
    ("new", "old", "cases", "conclusion", "value"),
    [
        (0.03, 0.02, 12, FAILED, "1.50 × the baseline's [1.50, 1.50]"),
        (0.03, 0.02, 4, UNMEASURABLE, "1.50 × the baseline's [1.50, 1.50]: can't fail with 4 cases (6 are needed)"),
        (0.02, 0.02, 12, PASSED, "1.00 × the baseline's [1.00, 1.00]"),
        (None, 0.02, 12, UNMEASURABLE, "unknown, though the baseline knows it"),
        (0.02, None, 12, PASSED, "unknown in the baseline"),
        (0.02, 0.0, 12, PASSED, "unknown in the baseline"),
    ],
)
def test_a_cost_is_limited_to_a_ratio_of_the_base(
    new: float | None, old: float | None, cases: int, conclusion: Conclusion, value: str
) -> None:
    run, base = (run_of(ExampleSuite(scored(*[1.0] * cases))) for _ in range(2))
    for each, cost in ((run, new), (base, old)):
        columns = each.suites[0].columns
        columns.costs[:] = array("d", [float("nan") if cost is None else cost] * len(columns))
    one = finding(evaluate_gates(compare(run, base), Policy(Limits(max_cost_ratio=1.2))), "cost ratio")
    assert (one.conclusion, one.value) == (conclusion, value)


def test_p95_is_limited_to_a_ratio_of_the_same_quantity() -> None:
    """Eight of a hundred cases take five times as long: no average would show it."""
    run, base = (run_of(ExampleSuite(scored(*[1.0] * 100))) for _ in range(2))
    for each, slow in ((run, 8), (base, 0)):
        each.suites[0].columns.durations_ms[:] = array(
            "d", [(100.0 + index % 7) * (5.0 if index < slow else 1.0) for index in range(100)]
        )
    policy = Policy(Limits(max_p95_ratio=1.5))
    one = finding(evaluate_gates(compare(run, base), policy), "p95 latency ratio")
    assert (one.conclusion, one.value) == (FAILED, "4.76 × the baseline's")
    assert finding(evaluate_gates(compare(base, run), policy), "p95 latency ratio").conclusion is PASSED


@pytest.mark.parametrize(
    ("passed", "confidence", "conclusion", "uncertain"),
    [
        (44, None, FAILED, True),
        (44, 0.95, PASSED, True),
        (38, 0.95, FAILED, False),
        (46, None, PASSED, True),
        (50, None, PASSED, False),
    ],
)
def test_a_pass_rate_within_noise_is_reported(
    passed: int, confidence: float | None, conclusion: Conclusion, uncertain: bool
) -> None:
    limits = Limits(min_pass_rate=0.9, pass_rate_confidence=confidence)
    result = verdict(ExampleSuite(scored(*[1.0] * passed, *[0.0] * (50 - passed))), policy=Policy(limits))
    one = finding(result, "pass rate")
    assert (one.conclusion, one.uncertain, "at 50 cases" in one.value) == (conclusion, uncertain, uncertain)


def test_a_confidence_has_no_effect_on_a_limit_of_1() -> None:
    limits = Limits(min_pass_rate=1.0, pass_rate_confidence=0.95)
    assert verdict(ExampleSuite(scored(*[1.0] * 49, 0.0)), policy=Policy(limits)).conclusion is FAILED


def test_a_base_is_not_required() -> None:
    assert verdict(GOOD, base=None).conclusion is PASSED


@pytest.mark.parametrize(
    ("rule", "failed", "passed", "preposition"),
    [
        ("stopped early", "The run was stopped", "Run not stopped", "in"),
        ("scripts run suites", "A script ran no suite", "Scripts", "in"),
        ("critical case", "A critical case fails", "Critical case", "in"),
        ("p95 latency ratio", "p95 latency ratio", "p95 latency ratio", "of"),
        ("pass rate", "Pass rate", "Pass rate", "of"),
    ],
)
def test_a_finding_has_a_title(rule: str, failed: str, passed: str, preposition: str) -> None:
    findings = [Finding(RULE_BY_NAME[rule], conclusion, "", "") for conclusion in (FAILED, UNMEASURABLE, PASSED)]
    assert [each.title for each in findings] == [failed, failed, passed]
    assert [each.preposition for each in findings] == [preposition, preposition, "of"]


@pytest.mark.parametrize(("limit", "uncertain"), [(0.0, False), (0.9, True), (0.97, True), (1.0, False), (0.5, False)])
def test_a_mean_near_its_limit_is_within_noise(limit: float, uncertain: bool) -> None:
    scores = [1.0] * 19 + [0.0]
    one = finding(verdict(ExampleSuite(scored(*scores)), policy=Policy(Limits(min_score={"e": limit}))), "mean score")
    assert (one.uncertain, "at 20 cases" in one.value) == (uncertain, uncertain)
    few = finding(
        verdict(ExampleSuite(scored(*scores[-9:])), policy=Policy(Limits(min_score={"e": 0.9}))), "mean score"
    )
    assert few.uncertain is False, "with fewer than ten cases every mean is"
