"""A run fell if what compares it with its baseline makes it red, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored

from scoregate.features.broken_cases.declare import FAIL_ON_BROKEN_CASES
from scoregate.features.broken_cases.declare import RULE as BROKEN_CASE
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import SUITE_CHECKS, Finding, Verdict, evaluate_gates
from scoregate.kernel.gate.check import SuiteCheck
from scoregate.kernel.gate.fallen import has_fallen
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations import kernel
from scoregate.kernel.types.declarations.declaration import Rule
from scoregate.kernel.types.runs.policy import Limits, Policy, Severity

FAILED, UNMEASURABLE = Conclusion.FAILED, Conclusion.UNMEASURABLE
GATED = Policy(Limits(fail_on_regression=True))
GOOD, BAD, BROKEN = scored(*[1.0] * 30), scored(*[0.0] * 30), scored(*[ERROR] * 30)
PARTLY_BROKEN = scored(*[1.0] * 15, *[ERROR] * 15)
RELATIVE = {
    "suites remain", "base readable", "evaluators unchanged", "new errors", "drop", "regression", "comparable",
    "same model", "scores remain", "cost ratio", "tokens ratio", "p95 latency ratio", "critical case",
    "critical cases remain",
}  # fmt: skip


def has_drop(cases: dict[str, dict[str, object]], base: dict[str, dict[str, object]], policy: Policy = GATED) -> bool:
    comparison = compare(run_of(ExampleSuite(cases)), run_of(ExampleSuite(base)))  # type: ignore[arg-type]
    return has_fallen(comparison, evaluate_gates(comparison, policy))


def is_fall(rule: Rule, checks: Sequence[SuiteCheck] = ()) -> bool:
    run = run_of(ExampleSuite(GOOD))
    return has_fallen(compare(run, run), Verdict((Finding(rule, FAILED, "", "", suite="demo"),)), checks)


def test_a_rule_that_needs_a_baseline_makes_a_run_fall() -> None:
    assert {rule.name for rule in kernel.RULES if is_fall(rule)} == RELATIVE


def test_each_relative_limit_of_the_kernel_is_of_such_a_rule() -> None:
    limited = [check for check in SUITE_CHECKS if any(limit.is_relative for limit in check.limits)]
    assert {rule.name for check in limited for rule in check.rules} <= RELATIVE


def test_a_relative_limit_of_a_feature_counts() -> None:
    check = SuiteCheck(lambda _: iter(()), (BROKEN_CASE,), limits=(FAIL_ON_BROKEN_CASES,))
    assert (is_fall(BROKEN_CASE), is_fall(BROKEN_CASE, [check])) == (False, True)


def test_one_relative_limit_among_others_is_enough() -> None:
    absolute = next(limit for each in SUITE_CHECKS for limit in each.limits if not limit.is_relative)
    check = SuiteCheck(lambda _: iter(()), (BROKEN_CASE,), limits=(absolute, FAIL_ON_BROKEN_CASES))
    assert is_fall(BROKEN_CASE, [check])


def test_missing_pairs_are_blamed_on_the_baseline_only_if_it_met_errors() -> None:
    lost = Verdict((Finding(kernel.DROP, UNMEASURABLE, "", "", suite="demo"),))
    good, broken = run_of(ExampleSuite(GOOD)), run_of(ExampleSuite(PARTLY_BROKEN))
    for new, base, expected in ((good, good, True), (good, broken, False), (broken, broken, True)):
        assert has_fallen(compare(new, base), lost) is expected


@pytest.mark.parametrize(
    ("cases", "base", "expected"),
    [
        (GOOD, GOOD, False),
        (BAD, GOOD, True),
        (BAD, BAD, False),
        (BROKEN, GOOD, True),
        (GOOD, BROKEN, False),  # otherwise every later run would be compared with the errors
        (PARTLY_BROKEN, PARTLY_BROKEN, True),
    ],
)
def test_a_drop_and_errors_of_its_own_make_a_run_fall(
    cases: dict[str, dict[str, object]], base: dict[str, dict[str, object]], expected: bool
) -> None:
    assert has_drop(cases, base) is expected


def test_a_gate_that_only_warns_does_not_count() -> None:
    assert not has_drop(BAD, GOOD, Policy(Limits(fail_on_regression=True, severity={"regression": Severity.WARN})))
    assert not has_drop(BAD, GOOD, Policy(Limits(min_pass_rate=1.0)))


def test_without_a_baseline_only_one_that_could_not_be_read_counts() -> None:
    run = run_of(ExampleSuite(GOOD))
    for unreadable in (False, True):
        comparison = compare(run, None, "why", unreadable=unreadable)
        policy = Policy(Limits(fail_on_regression=True), require_baseline=not unreadable)
        found = evaluate_gates(comparison, policy)
        assert (found.exit_code, has_fallen(comparison, found)) == (3, unreadable)
