"""Checks that features add: their places, and limits that they leave without a finding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.unit.kernel.builders import ExampleSuite, info, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.gate.check import SuiteCheck, apply_checks
from scoregate.kernel.gate.finding import Finding, SuiteContext
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.declaration import AMOUNT, BY_EVALUATOR, Limit, Rule
from scoregate.kernel.types.declarations.kernel import ERROR_RATE
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Limits, LimitValue, Policy
from scoregate.kernel.types.runs.run import Run

TRIAL = Rule("trial")
LENGTH, BY_NAME = Limit("max_length", AMOUNT), Limit("max_change", BY_EVALUATOR, is_relative=True)
RUN = run_of(ExampleSuite(scored(1.0, 1.0)))


def find_nothing(_: SuiteContext) -> Iterator[Finding]:
    return iter(())


def find_something(context: SuiteContext) -> Iterator[Finding]:
    yield Finding(TRIAL, Conclusion.PASSED, "3", "≤ 5", suite=context.suite.label)


SILENT = SuiteCheck(find_nothing, (TRIAL,), limits=(LENGTH, BY_NAME))


def judge(check: SuiteCheck, *, base: Run | None = None, run: Run = RUN, **more: LimitValue) -> Verdict:
    return evaluate_gates(compare(run, base), Policy(Limits(more=more, max_error_rate=0.05)), checks=(check,))


def test_a_limit_that_is_set_and_not_checked_is_unmeasurable() -> None:
    verdict = judge(SILENT, max_length=5.0)
    (found,) = verdict.failed
    assert (verdict.exit_code, found.rule, found.suite) == (3, "trial", "demo")
    assert found.value == "max_length is set, but was not checked"
    assert judge(SILENT, base=RUN, max_change={"e": 0.1}).exit_code == 3


def test_a_limit_of_zero_is_set() -> None:
    assert judge(SILENT, max_length=0.0).exit_code == 3
    assert (
        judge(replace(SILENT, limits=(replace(LENGTH, is_enough=True),), find=find_something), max_length=0.0).ungated
        == ()
    )


def test_a_limit_without_a_check_is_unmeasurable() -> None:
    verdict = judge(SILENT, max_other=1.0)
    assert (verdict.exit_code, [each.rule for each in verdict.failed]) == (3, ["limits apply"])
    several = judge(SILENT, **dict.fromkeys(("max_d", "max_b", "max_a", "max_c"), 1.0))
    assert [each.value[:5] for each in several.failed] == ["max_a", "max_b", "max_c", "max_d"]


@pytest.mark.parametrize(
    "verdict",
    [
        judge(SILENT),
        judge(SILENT, max_change={"e": 0.1}),
        judge(replace(SILENT, explain=lambda _: "a reason"), max_length=5.0),
        judge(replace(SILENT, find=find_something), max_length=5.0),
    ],
    ids=["not set", "no baseline", "with a reason", "with a finding"],
)
def test_a_limit_needs_a_finding_or_a_reason(verdict: Verdict) -> None:
    assert verdict.exit_code == 0


def test_another_rule_can_be_the_reason() -> None:
    empty = judge(SILENT, run=run_of(ExampleSuite({})), max_length=5.0)
    assert [each.rule for each in empty.failed] == ["cases ran"]


def test_a_finding_that_applies_nothing_is_the_reason() -> None:
    def find_unapplied(context: SuiteContext) -> Iterator[Finding]:
        yield Finding(TRIAL, Conclusion.PASSED, "", "", suite=context.suite.label, applied=False)

    other = SuiteCheck(find_unapplied, (TRIAL,))
    context = judge_context(max_length=5.0)
    assert [each.applied for each in apply_checks(context, [SILENT, other], ())] == [False]
    assert [each.conclusion for each in apply_checks(context, [SILENT], ())] == [Conclusion.UNMEASURABLE]


def test_a_check_applies_to_an_arm_without_a_skill_only_if_it_says_so() -> None:
    suite = replace(RUN.suites[0], params={"task": "without"}, evaluators={"expectations": info()})
    assert suite.role is TrialRole.WITHOUT
    context = replace(judge_context(), suite=suite)
    check = SuiteCheck(find_something, (TRIAL,))
    assert [len(list(apply_checks(context, [each], ()))) for each in (check, replace(check, in_arms=True))] == [0, 1]


def judge_context(**more: LimitValue) -> SuiteContext:
    return SuiteContext(0, RUN.suites[0], Limits(more=more), compare(RUN, None), ())


def test_a_check_comes_before_the_rule_that_it_names() -> None:
    first = judge(replace(SILENT, find=find_something, before=ERROR_RATE), max_length=5.0)
    last = judge(replace(SILENT, find=find_something), max_length=5.0)
    names = [each.rule for each in first.findings], [each.rule for each in last.findings]
    assert (names[0][0], names[1][-1]) == ("trial", "trial")


@pytest.mark.parametrize("limits", [Limits(max_drop={"*": 0.1}), Limits(fail_on_regression=True)])
def test_an_evaluator_that_is_not_compared_passes_no_relative_gate(limits: Limits) -> None:
    compared = compare(RUN, RUN)
    assert evaluate_gates(compared, Policy(limits)).exit_code == 0
    (found,) = evaluate_gates(replace(compared, rows=()), Policy(limits)).failed
    assert (found.conclusion, found.value.partition(" ")[2]) == (
        Conclusion.UNMEASURABLE,
        "is set, but was not checked",
    )


def test_a_new_evaluator_is_the_reason_that_its_drop_has_no_finding() -> None:
    both = ExampleSuite({"c0": {"e": 1.0, "f": 1.0}, "c1": {"e": 1.0, "f": 1.0}}, evaluators=(info("e"), info("f")))
    verdict = evaluate_gates(compare(run_of(both), RUN), Policy(Limits(max_drop={"f": 0.1})))
    assert (verdict.exit_code, [each.rule for each in verdict.findings if each.rule == "drop"]) == (0, [])
