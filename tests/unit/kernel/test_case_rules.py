"""Gates on single cases: what a change breaks, removes or no longer measures is never green."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.runs import change_run
from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.confirmations import Confirmation, with_confirmations
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy
from scoregate.kernel.types.runs.run import Run

CRITICAL = Policy(Limits(min_pass_rate=0.0, fail_on_critical=True))
REGRESSION = Policy(Limits(min_pass_rate=0.0, max_error_rate=0.05, fail_on_regression=True))


def tagged(*cases: str, tag: str = "critical") -> Mapping[str, tuple[str, ...]]:
    return dict.fromkeys(cases, (tag,))


def judge(new: ExampleSuite, old: ExampleSuite, policy: Policy, **run: str) -> Verdict:
    base: Run = run_of(old)
    return evaluate_gates(compare(change_run(run_of(new), **run), base), policy)  # type: ignore[arg-type]


def problems(verdict: Verdict) -> list[tuple[str, str]]:
    return [(each.rule, each.value) for each in verdict.failed]


def test_an_unmeasured_critical_case_is_not_green() -> None:
    base = ExampleSuite(scored(*[1.0] * 20), tags=tagged("c0", "c1"))
    assert judge(base, base, CRITICAL).exit_code == 0
    for broken in (ERROR, None):
        cases: dict[str, float | ErrorInfo | None] = {"e": broken}
        other = {"c0": {"e": 1.0, "other": 1.0}, "c1": {**cases, "other": None}}
        run = ExampleSuite({**scored(*[1.0] * 20), **other}, tags=tagged("c0", "c1"))
        judged = judge(run, base, CRITICAL)
        assert judged.exit_code == 3
        ((rule, value),) = problems(judged)
        assert rule == "critical cases remain"
        assert value.startswith("c1 passed in the baseline, and met an error")


def test_an_undeclared_evaluator_that_returns_none_everywhere_is_not_gone() -> None:
    """Imported suites and other SDKs declare no evaluators, so those with scores were all that a run had."""
    before = ExampleSuite({f"c{number}": {"e": 1.0, "other": 1.0} for number in range(12)})
    after = ExampleSuite({f"c{number}": {"e": 1.0, "other": None} for number in range(12)})
    judged = judge(after, before, Policy())
    assert (judged.exit_code, problems(judged)) == (3, [("scores remain", "no score, though the baseline has some")])
    without = judge(ExampleSuite(scored(*[1.0] * 12)), before, Policy())
    assert without.exit_code == 0


def test_newly_failing_critical_cases_are_in_the_order_of_their_names() -> None:
    """Cases finish in any order, and a report of shards has the order of one machine."""
    names = ("c10", "c2", "c1")
    base = ExampleSuite(scored(*[1.0] * 20), tags=tagged(*names))
    cases = {name: {"e": 0.0} for name in names} | {f"d{index}": {"e": 1.0} for index in range(17)}
    found = [judge(ExampleSuite(dict(each), tags=tagged(*names)), base, CRITICAL)
             for each in (cases.items(), reversed(cases.items()))]  # fmt: skip
    assert [value.split()[0] for _, value in problems(found[0])] == ["c1", "c2", "c10"]
    assert problems(found[0]) == problems(found[1])


def test_critical_cases_can_be_replaced_but_not_removed() -> None:
    base = ExampleSuite(scored(*[1.0] * 20), tags=tagged("c0", "c1", "c2"))
    cases = {f"c{index}": {"e": 1.0} for index in range(2, 20)}
    fewer = ExampleSuite(cases, tags=tagged("c2"))
    judged = judge(fewer, base, CRITICAL)
    assert (judged.exit_code, problems(judged)[0][1]) == (3, "2 critical cases of the baseline are gone: c0, c1")
    in_other_order = replace(base, cases=dict(reversed(base.cases.items())))
    assert problems(judge(fewer, in_other_order, CRITICAL)) == problems(judged)
    one = judge(ExampleSuite({"c1": {"e": 1.0}, **cases}, tags=tagged("c1", "c2")), base, CRITICAL)
    assert problems(one)[0][1] == "1 critical case of the baseline is gone: c0"
    replaced = ExampleSuite({**cases, "new-0": {"e": 1.0}, "new-1": {"e": 1.0}}, tags=tagged("c2", "new-0", "new-1"))
    assert judge(replaced, base, CRITICAL).exit_code == 0
    assert judge(fewer, base, CRITICAL, selection="-k c2").exit_code == 0


def test_only_a_passing_new_case_replaces_a_critical_case_that_passed() -> None:
    """A change may reword the inputs of all critical cases, and break them."""
    base = ExampleSuite(scored(*[1.0] * 20), tags=tagged("c0", "c1"))
    kept = {f"c{index}": {"e": 1.0} for index in range(2, 20)}
    for replacements, code, gone in (
        ((1.0, 1.0), 0, ""),
        ((1.0, 0.0), 3, "2 are new, and 1 of the new ones pass"),
        ((0.0, 0.0), 3, "2 are new, and 0 of the new ones pass"),
        ((1.0, ERROR), 3, "2 are new, and 1 of the new ones pass"),
        ((1.0, 1.0, 0.0), 0, ""),
    ):
        new = {f"new-{index}": {"e": score} for index, score in enumerate(replacements)}
        judged = judge(ExampleSuite({**kept, **new}, tags=tagged(*new)), base, CRITICAL)
        assert judged.exit_code == code, replacements
        assert [value for rule, value in problems(judged) if rule == "critical cases remain"] == (
            [f"2 critical cases of the baseline are gone: c0, c1; {gone}"] if gone else []
        )


def test_a_critical_case_that_failed_may_be_reworded() -> None:
    base = ExampleSuite(scored(0.0, *[1.0] * 19), tags=tagged("c0"))
    kept = {f"c{index}": {"e": 1.0} for index in range(1, 20)}
    assert judge(ExampleSuite({**kept, "new": {"e": 0.0}}, tags=tagged("new")), base, CRITICAL).exit_code == 0
    assert judge(ExampleSuite(kept), base, CRITICAL).exit_code == 3


def test_a_change_cannot_lower_a_case_that_it_breaks() -> None:
    base = ExampleSuite(scored(*[1.0] * 20), tags=tagged("c0"))
    untagged = ExampleSuite(scored(0.0, *[1.0] * 19), tags=tagged("c1"))
    judged = judge(untagged, base, CRITICAL)
    assert (judged.exit_code, problems(judged)[0][0]) == (1, "critical case")


def test_a_misspelled_tag_does_not_switch_the_limit_off() -> None:
    run = ExampleSuite(scored(*[1.0] * 20), tags=tagged("c0", tag="critcal"))
    judged = judge(run, run, CRITICAL)
    assert problems(judged) == [
        ("limits apply", "fail_on_critical: no case has the tag 'critical'; the tags are critcal")
    ]
    assert judge(run, run, Policy(Limits(min_pass_rate=0.0))).exit_code == 0


def test_significantly_more_errors_than_in_the_baseline_are_not_green() -> None:
    base = ExampleSuite(scored(*[1.0] * 300))
    for errors, code in ((5, 0), (6, 3), (9, 3)):
        run = ExampleSuite(scored(*[ERROR] * errors, *[1.0] * (300 - errors)))
        judged = judge(run, base, REGRESSION)
        assert judged.exit_code == code, errors
        if code:
            value = f"{errors} of 300 cases newly meet an error, 0 don't any more"
            assert problems(judged) == [("new errors", value)]
        assert judge(run, base, Policy(Limits(min_pass_rate=0.0, max_error_rate=0.05))).exit_code == 0
    flaky_base = ExampleSuite(scored(*[1.0] * 100, *[ERROR] * 7, *[1.0] * 193))
    assert judge(ExampleSuite(scored(*[ERROR] * 7, *[1.0] * 293)), flaky_base, REGRESSION).exit_code == 0


def test_few_more_errors_than_in_the_baseline_are_below_the_smallest_effect() -> None:
    base, run = ExampleSuite(scored(*[1.0] * 1000)), ExampleSuite(scored(*[ERROR] * 9, *[1.0] * 991))
    assert judge(run, base, REGRESSION).exit_code == 0
    sharper = Policy(Limits(min_pass_rate=0.0, fail_on_regression=True), criteria=Criteria(min_effect=0.005))
    assert judge(run, base, sharper).exit_code == 3


def test_nine_drops_of_nine_are_red() -> None:
    base = ExampleSuite(scored(*[1.0] * 9))
    for limits in (Limits(fail_on_regression=True), Limits(max_drop={"*": 0.05})):
        policy = Policy(replace(limits, min_pass_rate=0.0))
        judged = judge(ExampleSuite(scored(*[0.0] * 9)), base, policy)
        assert judged.exit_code == 1
        ((_, value),) = problems(judged)
        assert value.endswith("corrected p = 0.0039")  # 1 of 2^9 outcomes, on one side of two
        one_fell = judge(ExampleSuite(scored(0.0, *[1.0] * 8)), base, policy)
        (passed,) = [each.value for each in one_fell.findings if each.rule in ("drop", "regression")]
        assert passed.endswith("9 pairs are too few to decide alone")


def test_few_drops_have_an_exact_probability() -> None:
    # Without a change, five of five scores fall in 1 of 32 runs: more than half of alpha. Six of six in 1 of 64.
    for n, code in ((5, 3), (6, 1)):
        judged = judge(ExampleSuite(scored(*[0.5] * n)), ExampleSuite(scored(*[1.0] * n)), REGRESSION)
        assert judged.exit_code == code, n


def test_further_tries_decide_whether_a_critical_case_fails() -> None:
    base, new = (ExampleSuite(scored(score, *[1.0] * 19), tags=tagged("c0")) for score in (1.0, 0.0))
    for tries, base_tries, code, text in (
        ((), (), 3, "open: failed 0 of 0 further tries"),
        ((False, False), (), 3, "open: failed 2 of 2 further tries"),
        ((False, False, False), (), 1, "confirmed: failed 3 of 3 further tries"),
        ((True, True), (), 0, "cleared: failed 0 of 2 further tries"),
        ((False, False, False), (False, False, False), 0, "fails in the base too: failed 3 of 3 further tries"),
    ):
        run = with_confirmations(run_of(new), [Confirmation("demo", "c0", tries, base_tries)])
        judged = evaluate_gates(compare(run, run_of(base)), CRITICAL)
        (finding,) = [each for each in judged.findings if each.rule == "critical case"]
        assert (judged.exit_code, text in finding.value) == (code, True), finding.value
        other = with_confirmations(run, [Confirmation("other", "c0", tries, base_tries)])
        assert evaluate_gates(compare(other, run_of(base)), CRITICAL).exit_code == 1


def test_a_finding_calls_a_case_by_its_name_and_hash() -> None:
    base, new = (ExampleSuite(scored(score, *[1.0] * 19), tags=tagged("c0")) for score in (1.0, 0.0))
    for name, shown in (("", "c0"), ("c0", "c0"), ("refund", "refund (c0)"), ("x" * 100, f"{'x' * 80} (c0)")):
        known = [CaseResult(1, "c0", name="other"), CaseResult(0, "c1", name="one"), CaseResult(0, "c0", name=name)]
        run = replace(run_of(new), read=lambda known=known: iter(known))
        ((_, value),) = problems(evaluate_gates(compare(run, run_of(base)), CRITICAL))
        assert value.startswith(f"{shown} newly fails (not run again; ")
