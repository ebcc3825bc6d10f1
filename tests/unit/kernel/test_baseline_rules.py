"""Relative gates: a baseline that can't be read, and what counts as a relative gate."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, info, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import BaseReference, Run

PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE
RELATIVE = {
    "max_drop": Limits(max_drop={"*": 0.1}),
    "fail_on_regression": Limits(fail_on_regression=True),
    "fail_on_critical": Limits(fail_on_critical=True),
    "max_cost_ratio": Limits(max_cost_ratio=1.5),
    "max_tokens_ratio": Limits(max_tokens_ratio=1.5),
    "max_p95_ratio": Limits(max_p95_ratio=1.5),
}
GOOD = run_of(ExampleSuite(scored(*[1.0] * 20), tags={"c0": ("critical",)}))


def make_run(passing: int, cases: int = 100, *, commit: str | None = None) -> Run:
    scores = [1.0] * passing + [0.0] * (cases - passing)
    return change_run(run_of(ExampleSuite(scored(*scores), threshold=None)), commit=commit)


def list_rule(found: Verdict, rule: str) -> list[Finding]:
    return [each for each in found.findings if each.rule == rule]


@pytest.mark.parametrize("name", RELATIVE)
def test_a_relative_gate_with_an_unreadable_baseline_is_unmeasurable(name: str) -> None:
    unreadable = compare(GOOD, None, "the artifact can't be read", unreadable=True)
    for policy in (Policy(RELATIVE[name]), Policy(suites={"*": RELATIVE[name]})):
        found = evaluate_gates(unreadable, policy)
        (one,) = list_rule(found, "base readable")
        assert (found.exit_code, one.value) == (
            3,
            f"the artifact can't be read; {name} can't be applied without it",
        )
        assert found.not_applied == (name,)


@pytest.mark.parametrize("name", RELATIVE)
def test_a_relative_gate_needs_the_baseline_that_the_run_had(name: str) -> None:
    known = replace(GOOD, compared_with=BaseReference("base"))
    policy = Policy(RELATIVE[name])
    (one,) = list_rule(evaluate_gates(compare(known, None), policy), "base present")
    assert (one.conclusion, one.value, one.limit) == (UNMEASURABLE, "no baseline", "the baseline of this run")
    never = evaluate_gates(compare(GOOD, None), policy)
    assert list_rule(never, "base present") == []
    assert never.not_applied == (name,)


def test_an_unreadable_baseline_does_not_matter_without_relative_gates() -> None:
    unreadable = compare(GOOD, None, "the artifact can't be read", unreadable=True)
    for limits in (Limits(), Limits(fail_on_regression=False, fail_on_critical=False, max_drop={})):
        found = evaluate_gates(unreadable, Policy(limits))
        assert (found.exit_code, found.not_applied) == (0, ())


def test_a_required_baseline_is_reported_once() -> None:
    policy = Policy(RELATIVE["max_drop"], require_baseline=True)
    found = evaluate_gates(compare(GOOD, None, "it is gone", unreadable=True), policy)
    assert [(one.rule, one.value) for one in found.failed] == [("base present", "it is gone")]
    assert evaluate_gates(compare(GOOD, GOOD), policy).exit_code == 0


def test_a_suite_in_which_nothing_can_fail_is_named() -> None:
    run = make_run(20, 20)
    for limits in (*RELATIVE.values(), Limits(min_score={"e": 0.5}), Limits(max_cost=1.0)):
        assert evaluate_gates(compare(run, run), Policy(limits)).ungated == ()
    for limits in (Limits(), Limits(min_score={"other": 0.5}), Limits(fail_on_regression=False, max_error_rate=0.0)):
        assert evaluate_gates(compare(run, run), Policy(limits)).ungated == ("demo",)
    assert evaluate_gates(compare(GOOD, GOOD), Policy(Limits(min_pass_rate=0.5))).ungated == ()
    assert evaluate_gates(compare(GOOD, GOOD), Policy(Limits(min_pass_rate=0.0))).ungated == ("demo",)


def test_the_mean_of_one_evaluator_is_enough_to_fail() -> None:
    both = run_of(ExampleSuite({"c0": {"e": 1.0, "f": 1.0}}, evaluators=(info("e"), info("f")), threshold=None))
    for limits, named in ((Limits(), ("demo",)), (Limits(min_score={"f": 0.5}), ())):
        assert evaluate_gates(compare(both, None), Policy(limits)).ungated == named


def test_an_arm_without_a_skill_is_not_named_as_a_suite_that_cannot_fail() -> None:
    run = run_of(ExampleSuite({"c0": {"expectations": 1.0}}, evaluators=(info("expectations"),)))
    assert evaluate_gates(compare(run, None), Policy(Limits(min_pass_rate=0.0))).ungated == ("demo",)
    arm = replace(run, suites=(replace(run.suites[0], params={"task": "without"}),))
    assert evaluate_gates(compare(arm, None), Policy(Limits(min_pass_rate=0.0))).ungated == ()


def test_an_unfinished_suite_is_not_named_as_one_that_cannot_fail() -> None:
    policy = Policy(Limits(min_pass_rate=0.0))
    done, stopped = (ExampleSuite(scored(1.0, 1.0), name, complete=name == "done") for name in ("done", "stopped"))
    assert evaluate_gates(compare(run_of(done, stopped), None), policy).ungated == ("done",)


@pytest.mark.parametrize(
    ("before", "value"), [(1.0, "no score, though the baseline has some"), (None, "no score of any case")]
)
def test_an_evaluator_without_scores_says_whether_it_had_some(before: float | None, value: str) -> None:
    new, base = (
        run_of(
            ExampleSuite(
                {f"c{case}": {"e": 1.0, "tone": tone} for case in range(12)}, evaluators=(info(), info("tone"))
            )
        )
        for tone in (None, before)
    )
    verdict = evaluate_gates(compare(new, base), Policy(Limits(fail_on_regression=True)))
    assert value in [each.value for each in verdict.failed]
