"""Findings about suites and cases: exact texts, and what happens on each side of a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.runs import change_run
from tests.unit.kernel.builders import ERROR, HALF, ExampleSuite, info, run_of, scored
from tests.unit.kernel.test_row_findings import Shift, describe

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.estimates import NoEstimate
from scoregate.kernel.compare.lost_scores import LostScores
from scoregate.kernel.compare.quarantine import QuarantinedCase
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.gate.baseline_rules import check_model
from scoregate.kernel.gate.case_rules import check_critical_cases, check_critical_cases_remain
from scoregate.kernel.gate.check import describe_rows, explain_judge_agreement, explain_lost_scores
from scoregate.kernel.gate.finding import Finding, SuiteContext
from scoregate.kernel.gate.run_rules import explains_gaps
from scoregate.kernel.gate.suite_rules import (
    check_assertions,
    check_complete,
    check_error_rate,
    check_mean_scores,
    check_pass_rate,
    format_digits,
    format_percent,
)
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import PASS_RATE
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import ErrorInfo, Origin, Setup, SetupPart
from scoregate.kernel.types.exemptions import AcceptedRegression, Exemptions, QuarantinedCases
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import BaseReference, Run, Script

PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE
GOOD = ExampleSuite(scored(*[1.0] * 20))
CRITICAL = Limits(fail_on_critical=True, origin={"fail_on_critical": "x.toml"})
ENTRY = QuarantinedCases("ana", "flaky", "2026-12-31")


def make_context(run: Run, limits: Limits | None = None, *, base: Run | None = None, **fields: Any) -> SuiteContext:
    return of_comparison(compare(run, base), limits or Limits(), **fields)


def of_comparison(comparison: Comparison, limits: Limits, **fields: Any) -> SuiteContext:
    (suite,) = comparison.run.suites
    errored = suite.columns.errored_rows()
    return SuiteContext(0, suite, limits, comparison, comparison.rows, **{"errored": errored, **fields})


def test_a_rate_is_shown_with_one_digit_and_is_exact_only_at_its_ends() -> None:
    shown = [format_percent(rate) for rate in (0, 0.0001, 0.5, 0.9999, 1)]
    assert shown == ["0.0%", "0.1%", "50.0%", "99.9%", "100.0%"]
    assert [format_digits(*each) for each in ((0.5, 2), (0.125, 2), (0.1234567, 1), (90, 1))] == [
        *("0.50", "0.125"),
        *("0.123457", "90.0"),
    ]


def test_a_pass_rate_shows_its_noise_and_its_errors() -> None:
    for scores, limit, value, uncertain in (
        ([1.0] * 9 + [0.0], 0.9, "9 of 10 cases (90.0%), ±19.3% at 10 cases", True),
        ([1.0] * 8 + [0.0], 0.9, "8 of 9 cases (88.9%)", False),
        ([1.0] * 20, 1.0, "20 of 20 cases (100.0%)", False),
        ([1.0] * 20, 0.0, "20 of 20 cases (100.0%)", False),
        ([1.0] * 10 + [ERROR] * 2, 0.5, "10 of 10 cases (100.0%), 2 more met an error", False),
    ):
        (found,) = check_pass_rate(make_context(run_of(ExampleSuite(scored(*scores))), Limits(min_pass_rate=limit)))
        assert (found.value[:40], found.uncertain) == (value[:40], uncertain)
        assert found.bound == limit
    confident = Limits(min_pass_rate=0.9, pass_rate_confidence=0.95)
    (found,) = check_pass_rate(make_context(run_of(GOOD), confident))
    assert found.limit == "≥ 90.0% with 95.0% confidence"
    assert list(check_pass_rate(make_context(run_of(GOOD), Limits()))) == []
    free = run_of(replace(GOOD, threshold=None))
    assert list(check_pass_rate(make_context(free, Limits(min_pass_rate=0.5)))) == []


def test_limits_of_a_run_alone_name_the_shifts_in_it() -> None:
    row = Row("demo", "e", RowLabel.NOISE, adjustment=Shift())
    rows = (row, replace(row, evaluator="f"), replace(row, evaluator="g", adjustment=Shift(None)))
    comparison = replace(compare(run_of(GOOD), run_of(GOOD)), rows=rows)
    limits = Limits(min_pass_rate=0.5, min_score={"e": 0.5})
    (of_rate,) = check_pass_rate(of_comparison(comparison, limits))
    assert of_rate.value == "20 of 20 cases (100.0%), with a provider drift of −0.030, −0.030 in it"
    (of_mean,) = check_mean_scores(of_comparison(comparison, limits))
    assert of_mean.value == "1.000, with a provider drift of −0.030 in it"
    many = tuple(replace(row, evaluator=name, adjustment=Shift(0.01)) for name in "abcde")
    (of_rate,) = check_pass_rate(of_comparison(replace(comparison, rows=many), limits))
    assert of_rate.value.endswith(", with a provider drift of +0.010, +0.010, +0.010 in it")
    elsewhere = tuple(replace(each, suite="other") for each in rows)
    (of_rate,) = check_pass_rate(of_comparison(replace(comparison, rows=elsewhere), limits))
    assert of_rate.value == "20 of 20 cases (100.0%)"


def test_a_mean_has_enough_digits_to_see_on_which_side_it_is() -> None:
    for score, limit, value, conclusion in (
        (0.4996, 0.5, "0.4996", FAILED),
        (0.49996, 0.5, "0.499960", FAILED),
        (0.49, 0.5, "0.490", FAILED),
        (0.5, 0.5, "0.500", PASSED),
    ):
        run = run_of(ExampleSuite(scored(*[score] * 4), threshold=None))
        (found,) = check_mean_scores(make_context(run, Limits(min_score={"e": limit})))
        assert (found.value, found.conclusion, found.limit, found.bound) == (value, conclusion, "≥ 0.50", limit)


def test_the_noise_of_a_mean_counts_from_ten_cases() -> None:
    for scores, uncertain, shown in (
        ([1.0] * 9 + [0.0], True, "0.900, ±0.328 at 10 cases"),
        ([1.0] * 8 + [0.0], False, "0.889"),
        ([0.8, 1.0] * 5, True, "0.900, ±0.072 at 10 cases"),
    ):
        run = run_of(ExampleSuite(scored(*scores), threshold=None))
        (found,) = check_mean_scores(make_context(run, Limits(min_score={"e": 0.85})))
        assert (found.value, found.uncertain) == (shown, uncertain)
    for limit in (0.0, 1.0):
        (found,) = check_mean_scores(make_context(run, Limits(min_score={"e": limit})))
        assert (found.value, found.uncertain) == ("0.900", False)
    unscaled = run_of(ExampleSuite(scored(None, None)))
    unscaled.suites[0].columns.unscaled["e"] = {0, 1}
    (found,) = check_mean_scores(make_context(unscaled, Limits(min_score={"e": 0.5})))
    assert (found.conclusion, found.value) == (
        UNMEASURABLE,
        "scores outside [0, 1], and no scale is set in [evaluators]",
    )
    context = make_context(run, Limits(min_score={"e": 0.5}), uncalibrated={"e": "people disagree"})
    assert list(check_mean_scores(context)) == []


def quarantined(run: Run, *statuses: Status, suite: str = "demo") -> Comparison:
    case = QuarantinedCase(suite, "q", "q", ENTRY, statuses)
    return replace(compare(run, None), quarantined=(case,))


def test_a_suite_without_cases_says_why() -> None:
    empty = run_of(ExampleSuite({}))
    placed = replace(empty, suites=(replace(empty.suites[0], origin=Origin("evals/demo.py", 3)),))
    for comparison, value in (
        (compare(empty, None), "0 cases"),
        (compare(placed, None), "0 cases (evals/demo.py:3)"),
        (quarantined(empty, Status.FAILED), "every case of the suite is quarantined"),
        (quarantined(empty), "0 cases"),
        (quarantined(empty, Status.FAILED, suite="other"), "0 cases"),
    ):
        assert describe(list(check_complete(of_comparison(comparison, Limits())))) == [(UNMEASURABLE, value)]


def test_an_error_of_a_suite_has_its_type_and_place_and_hides_what_follows_from_it() -> None:
    crashed = ErrorInfo("Crashed", "suite 'demo': it stopped")
    run = run_of(ExampleSuite({}, errors=[crashed]))
    (found,) = check_complete(make_context(run))
    assert (found.value, found.limit, found.title) == ("Crashed: it stopped", "no error", "The suite reported an error")
    both = run_of(ExampleSuite(scored(1.0), errors=[crashed, replace(crashed, type="InvalidSuite")], complete=False))
    assert [each.value for each in check_complete(make_context(both))] == [
        "Crashed: it stopped",
        "it stopped",
        "1 of 1 planned cases finished",
    ]


def test_gaps_are_explained_by_a_stop_or_by_their_own_script() -> None:
    run = run_of(GOOD, scripts=[Script("evals/demo.py", exit_code=2), Script("evals/b.py", exit_code=0)])
    assert [explains_gaps(run, script) for script in ("evals/demo.py", "evals/b.py", None)] == [True, False, False]
    stopped = change_run(run, stopped="1 case failed")
    assert [explains_gaps(stopped, script) for script in ("evals/b.py", None)] == [True, True]


def test_an_error_rate_is_reported_once() -> None:
    limits = Limits(max_error_rate=0.05, origin={"max_error_rate": "x.toml"})
    two = run_of(ExampleSuite(scored(1.0, ERROR)))
    (found,) = check_error_rate(make_context(two, limits))
    assert (found.value, found.limit, found.origin) == ("1 of 2 cases (50.0%)", "≤ 5.0%", "x.toml")
    assert list(check_error_rate(make_context(two, Limits()))) == []
    assert list(check_error_rate(make_context(run_of(ExampleSuite({})), limits))) == []
    failed = replace(two, scripts=(Script("evals/demo.py", exit_code=2),))
    for unfinished, count in ((1, 0), (2, 1), (0, 1)):
        open_trials = replace(failed, suites=(replace(failed.suites[0], unfinished=unfinished),))
        assert len(list(check_error_rate(make_context(open_trials, limits)))) == count
    good = run_of(GOOD, scripts=[Script("evals/demo.py", exit_code=2)])
    assert len(list(check_error_rate(make_context(good, limits)))) == 1


def test_a_failed_assertion_counts_what_people_and_entries_leave() -> None:
    def check(suite: ExampleSuite, *statuses: Status, pending: int = 0) -> list[tuple[Conclusion, str]]:
        run = run_of(replace(suite, assertion_failed=True))
        run.suites[0].columns.pending = pending
        comparison = quarantined(run, *statuses) if statuses else compare(run, None)
        return describe(list(check_assertions(of_comparison(comparison, Limits()))))

    both = ExampleSuite({"a": {"e": 0.0, "f": None}, "b": {"e": ERROR}}, evaluators=[info("e"), info("f")])
    assert check(both) == [(FAILED, "1 case failed, 1 met errors")]
    assert check(ExampleSuite(scored(1.0)), Status.FAILED) == []
    assert check(ExampleSuite(scored(1.0)), Status.PASSED) == [(FAILED, "0 cases failed")]
    assert check(ExampleSuite(scored(0.0)), Status.FAILED) == [(FAILED, "1 case failed")]
    assert check(ExampleSuite(scored(1.0, ERROR)), Status.FAILED) == [(FAILED, "0 cases failed, 1 met errors")]
    assert check(ExampleSuite(scored(None, None)), pending=2) == [(FAILED, "0 cases failed")]
    assert check(ExampleSuite({"a": ERROR}), pending=1) == [
        (UNMEASURABLE, "1 case, none of them judged: all met errors")
    ]
    assert check(ExampleSuite({})) == [(FAILED, "0 cases failed")]
    assert list(check_assertions(make_context(run_of(GOOD)))) == []


def critical(*scores: float, **fields: Any) -> Run:
    names = [f"c{at}" for at in range(len(scores))]
    return run_of(ExampleSuite(scored(*scores), tags=dict.fromkeys(names, ("critical",)), **fields))


def test_a_critical_case_that_an_entry_accepts_passes_with_its_terms() -> None:
    new, old = critical(0.0, 0.0), critical(1.0, 1.0)
    entry = AcceptedRegression("demo", "2026-12-31", "known", "ana", case="c0")
    for changes, conclusions in (
        ({}, [PASSED, FAILED]),
        ({"case": "c*"}, [PASSED, PASSED]),
        ({"case": "x"}, [FAILED, FAILED]),
        ({"suite": "other"}, [FAILED, FAILED]),
        ({"case": "", "evaluator": "*", "at_most": 1.0}, [FAILED, FAILED]),
        ({"until": "2026-01-01"}, [FAILED, FAILED]),
    ):
        exemptions = Exemptions((replace(entry, **changes),), today="2026-06-01")
        context = of_comparison(compare(new, old, exemptions=exemptions), CRITICAL)
        found = list(check_critical_cases(context))
        assert [each.conclusion for each in found] == conclusions, changes
        assert [each.value.endswith("; accepted until 2026-12-31 by ana: known") for each in found] == [
            each is PASSED for each in conclusions
        ]
        assert {each.origin for each in found} == {"x.toml"}


def test_a_critical_case_needs_its_limit_and_a_baseline() -> None:
    new, old = critical(0.0, 1.0), critical(1.0, 1.0)
    assert [
        len(list(check_critical_cases(of_comparison(compare(new, base), limits))))
        for base, limits in ((old, CRITICAL), (old, Limits()), (None, CRITICAL))
    ] == [1, 0, 0]


def test_a_critical_case_says_how_often_it_failed_before() -> None:
    new, old = critical(0.0, 0.0), critical(1.0, 1.0)
    columns = old.suites[0].columns
    for repeat, score in ((1, 0.0), (2, 1.0)):
        columns.add(CaseResult(0, "c0", repeat, evaluations={"e": Evaluation(score, HALF)}))
    context = make_context(new, CRITICAL, base=old)
    assert [each.value.partition("; ")[2] for each in check_critical_cases(context)] == [
        "in the baseline it failed 1 of 3 trials)",
        "how often it failed before is unknown)",
    ]


def test_critical_cases_that_are_gone_are_named_up_to_five() -> None:
    for gone, text in (
        (1, "1 critical case of the baseline is gone: c0"),
        (5, "5 critical cases of the baseline are gone: c0, c1, c2, c3, c4"),
        (6, "6 critical cases of the baseline are gone: c0, c1, c2, c3, c4 and 1 more"),
    ):
        cases = {f"c{at}": {"e": 1.0} for at in range(gone, 8)}
        run = run_of(ExampleSuite(cases, tags=dict.fromkeys(cases, ("critical",))))
        context = make_context(run, CRITICAL, base=critical(*[1.0] * 8))
        assert describe(list(check_critical_cases_remain(context))) == [(UNMEASURABLE, text)]
        assert list(check_critical_cases_remain(make_context(run, CRITICAL))) == []
        unfinished = make_context(replace(run, suites=(replace(run.suites[0], complete=False),)), CRITICAL)
        assert list(check_critical_cases_remain(unfinished)) == []


def test_new_critical_cases_are_counted_next_to_those_that_are_gone() -> None:
    def check(*scores: float) -> str:
        new = {f"n{at}": {"e": score} for at, score in enumerate(scores)}
        run = run_of(ExampleSuite(new, tags=dict.fromkeys(new, ("critical",))))
        (found,) = check_critical_cases_remain(make_context(run, CRITICAL, base=critical(1.0, 1.0, 1.0)))
        return found.value.partition("; ")[2]

    assert check(1.0) == "1 is new, and 1 of the new ones pass"
    assert check(1.0, 0.0) == "2 are new, and 1 of the new ones pass"


def test_a_reason_names_what_rows_lack() -> None:
    row = Row("demo", "e", RowLabel.NEW, estimate=NoEstimate("new"))
    lost = replace(row, estimate=NoEstimate("60 of 200 cases lost their score"), lost=LostScores(too_many=True))
    assert describe_rows([], none="no judge") == "no judge"
    assert describe_rows([row, row, replace(row, estimate=NoEstimate())], none="no judge") == "new"
    assert describe_rows([row, lost], none="") == "new; 60 of 200 cases lost their score"
    comparison = replace(compare(run_of(GOOD), run_of(GOOD)), rows=(row, lost))
    assert explain_lost_scores(of_comparison(comparison, Limits())) == "60 of 200 cases lost their score"
    comparison = replace(comparison, rows=(row,))
    assert explain_lost_scores(of_comparison(comparison, Limits())) == "no score is lost"


def find_rule(
    run: Run, rule: str, limits: Limits, base: Run | None = None, **policy: Any
) -> list[tuple[Conclusion, str]]:
    found = evaluate_gates(compare(run, base), Policy(limits, **policy)).findings
    return describe([each for each in found if each.rule == rule])


def test_a_script_without_a_suite_says_how_to_record_one() -> None:
    plain = "{} ended without a call of evaluate or run_test_suite, and without events"
    for name, advice in (
        ("evals/other.py", ""),
        ("pytest evals", "; tests of pytest are recorded with the fixture `scoregate`, its mark, or --junit FILE"),
        ("make evals", "; name a file with its results, --junit FILE or --import FORMAT:FILE, or write events"),
    ):
        run = run_of(GOOD, scripts=[Script("evals/demo.py", exit_code=0), Script(name, exit_code=0)])
        assert find_rule(run, "scripts run suites", Limits()) == [(UNMEASURABLE, plain.format(name) + advice)]
        for excuse in ({"filters": ("*",)}, {"selection": "-k x"}):
            assert find_rule(change_run(run, **excuse), "scripts run suites", Limits()) == []
    ended = run_of(GOOD, scripts=[Script("evals/demo.py", exit_code=0), Script("t", exit_code=1, tests_failed=True)])
    assert len(find_rule(ended, "scripts run suites", Limits())) == 1


def test_a_cluster_that_matches_no_case_is_reported() -> None:
    run, limits = run_of(GOOD), Limits(cluster="document", origin={"cluster": "x.toml"})
    text = [(UNMEASURABLE, "no case has a cluster by document")]
    assert find_rule(run, "limits apply", limits) == text
    assert find_rule(run, "limits apply", Limits(), suites={"demo": limits}) == text
    assert find_rule(change_run(run, narrowed=True), "limits apply", limits) == []
    assert find_rule(run_of(ExampleSuite({})), "limits apply", limits) == []
    clustered = run_of(GOOD)
    clustered.suites[0].columns.clusters = {0: "a"}
    assert find_rule(clustered, "limits apply", limits) == []


def test_a_baseline_that_is_there_is_not_missing() -> None:
    run = replace(run_of(GOOD), compared_with=BaseReference("base"))
    limits = Limits(fail_on_regression=True)
    assert find_rule(run, "base present", limits, base=run_of(GOOD)) == []
    assert find_rule(run, "base present", limits) == [(UNMEASURABLE, "no baseline")]


def test_a_policy_of_the_base_that_is_missing_is_reported() -> None:
    found = evaluate_gates(compare(run_of(GOOD), None), Policy(), policy_problem="it has no settings").failed
    assert describe(found) == [(UNMEASURABLE, "it has no settings; judged by the settings of the change")]
    assert [each.rule for each in found] == ["policy available"]


def test_reports_show_the_limit_of_a_rule_with_a_setting() -> None:
    finding = Finding(PASS_RATE, PASSED, "", "")
    assert [replace(finding, origin=origin).has_limit for origin in ("always", "default", "x.toml")] == [
        *(False, True, True),
    ]


def test_an_agreement_needs_a_judge() -> None:
    assert explain_judge_agreement(make_context(run_of(GOOD))) == "no scorer is a judge"
    judged = run_of(replace(GOOD, evaluators=[info("e"), info("j", model="large", prompt="p")]))
    assert explain_judge_agreement(make_context(judged)) == ""


def test_another_model_under_test_fails_if_it_has_to_be_the_same() -> None:
    def tested(model: str) -> Run:
        run = run_of(GOOD)
        setup = Setup("demo", "s", model=SetupPart(model, model))
        return replace(run, suites=(replace(run.suites[0], setup=setup),))

    for new, conclusions in (("a", []), ("b", [FAILED]), ("", [UNMEASURABLE])):
        found = list(check_model(make_context(tested(new), base=tested("a"))))
        assert [each.conclusion for each in found] == conclusions
    assert list(check_model(make_context(tested("b")))) == []
