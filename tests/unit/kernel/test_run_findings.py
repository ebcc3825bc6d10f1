"""Findings about scripts, filters and limits: each names what is wrong, and what excuses it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, info, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.quarantine import QuarantinedCase
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.event_values import INTERRUPTED, ErrorInfo, Setup
from scoregate.kernel.types.exemptions import QuarantinedCases
from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria, Limits, Policy
from scoregate.kernel.types.runs.run import Run, Script
from scoregate.kernel.types.sharding.partition import MISSING_SHARD

GOOD = ExampleSuite(scored(*[1.0] * 12))
NAME = "evals/demo.py"


def find_values(run: Run, rule: str, policy: Policy | None = None, base: Run | None = None) -> list[str]:
    findings = evaluate_gates(compare(run, base), policy or Policy(Limits())).findings
    return [each.value for each in findings if each.rule == rule]


def describe_failure(*, stopped: str = "", **script: Any) -> str:
    """Why a script failed; empty if it didn't."""
    run = change_run(run_of(GOOD, scripts=[Script(NAME, **script)]), stopped=stopped)
    return find_script_failures(run).get(NAME, "")


def test_a_failed_script_says_how_it_ended() -> None:
    error = ErrorInfo("OSError", "no such file")
    for found, expected in (
        (describe_failure(exit_code=2), f"{NAME} exited with 2"),
        (describe_failure(exit_code=-9), f"{NAME} exited with -9"),
        (describe_failure(exit_code=None), f"{NAME} did not start"),
        (describe_failure(exit_code=None, error=error), f"{NAME}: no such file"),
        (describe_failure(exit_code=1, error=error), f"{NAME}: no such file"),
        (describe_failure(exit_code=0, error=error), f"{NAME}: no such file"),
        (describe_failure(exit_code=0, error=ErrorInfo("E", f"{NAME}: it names itself")), f"{NAME}: it names itself"),
        (describe_failure(timed_out=True, duration_s=61.7, exit_code=-15), f"{NAME} was stopped after 62 s"),
        (describe_failure(exit_code=0), ""),
    ):
        assert found == expected


def test_failed_tests_are_no_failure_of_their_runner() -> None:
    assert describe_failure(exit_code=5, tests_failed=True) == ""
    assert describe_failure(exit_code=5, tests_failed=True, timed_out=True) != "", "it ran out of time"


def test_a_script_that_failing_cases_stopped_has_not_failed() -> None:
    interrupted, other = ErrorInfo(INTERRUPTED, "stopped"), ErrorInfo("OSError", "no such file")
    for stopped, error, expected in (
        ("1 case failed", interrupted, ""),
        ("", interrupted, f"{NAME}: stopped"),
        ("1 case failed", other, f"{NAME}: no such file"),
    ):
        assert describe_failure(stopped=stopped, exit_code=None, error=error) == expected
    assert describe_failure(stopped="1 case failed", exit_code=2) == f"{NAME} exited with 2"


def test_a_script_without_a_suite_says_how_to_get_one() -> None:
    start = "ended without a call of evaluate or run_test_suite, and without events"
    for name, more in (
        ("evals/other.py", ""),
        ("pytest evals", "; tests of pytest are recorded with the fixture `scoregate`, its mark, or --junit FILE"),
        ("npm test", "; name a file with its results, --junit FILE or --import FORMAT:FILE, or write events"),
    ):
        run = run_of(GOOD, scripts=[Script(NAME, exit_code=0), Script(name, exit_code=0)])
        assert find_values(run, "scripts run suites") == [f"{name} {start}{more}"]
        for excused in (change_run(run, filters=("demo",)), change_run(run, selection="-k x")):
            assert find_values(excused, "scripts run suites") == []
    failed_tests = run_of(GOOD, scripts=[Script(NAME, exit_code=0), Script("npm test", exit_code=1, tests_failed=True)])
    assert len(find_values(failed_tests, "scripts run suites")) == 1
    crashed = run_of(GOOD, scripts=[Script(NAME, exit_code=0), Script("npm test", exit_code=2)])
    assert find_values(crashed, "scripts run suites") == [], "that it failed is another rule's"


def test_every_filter_matches_a_suite_that_ran_or_was_skipped() -> None:
    run = change_run(run_of(GOOD), filters=("d*", "refnd*"), left_out=("refunds", "chat"))
    assert find_values(run, "filters match") == ["the filter refnd* matched none of demo, refunds, chat"]
    assert find_values(change_run(run, skipped=("refnd-1",)), "filters match") == []
    empty = change_run(run_of(scripts=[]), filters=("refnd*",))
    assert find_values(empty, "filters match") == ["the filter refnd* matched nothing"]
    assert find_values(empty, "something ran") == [], "the filter is the reason"
    many = change_run(run_of(GOOD), filters=("x",), left_out=tuple(f"s{number}" for number in range(30)))
    assert find_values(many, "filters match")[0].endswith("s17, s18"), "twenty names"


def test_a_limit_of_a_suite_that_ran_is_meant_for_this_run() -> None:
    """A pattern may mean suites that are not in this run, and have the evaluator. The name of a suite doesn't."""
    run = change_run(run_of(GOOD, replace(GOOD, id="demo-small"), replace(GOOD, id="a[b]")), narrowed=True)
    variant = replace(run.suites[1], setup=Setup("demo"))  # `demo` matches it, too
    run = replace(run, suites=(run.suites[0], variant, run.suites[2]))
    for glob, count in (("demo", 1), ("dem*", 0), ("a[[]b]", 1), ("a[[]b]*", 0)):
        policy = Policy(Limits(), {glob: Limits(max_drop={"accuracy": 0.1})})
        assert len(find_values(run, "limits apply", policy)) == count, glob


def test_a_limit_for_some_suites_needs_an_evaluator_of_these() -> None:
    other = replace(GOOD, id="other", cases={f"c{index}": {"f": 1.0} for index in range(3)}, evaluators=(info("f"),))
    run = run_of(GOOD, other)
    for glob, values in (
        ("demo", ["f in min_score matches no scorer"]),
        ("other", []),
        ("*", []),
        ("nothing", ["nothing matches none of the suites that ran: demo, other"]),
    ):
        assert find_values(run, "limits apply", Policy(Limits(), {glob: Limits(min_score={"f": 0.1})})) == values


def test_a_threshold_of_no_evaluator_is_reported() -> None:
    def policy(glob: str, **criteria: Any) -> Policy:
        return Policy(Limits(), criteria=Criteria(evaluators={glob: EvaluatorCriteria(**criteria)}))

    half = Threshold(gte=0.5)
    assert find_values(run_of(GOOD), "limits apply", policy("tone", threshold=half)) == [
        "tone matches no scorer, and has a threshold"
    ]
    for other in (policy("e", threshold=half), policy("*", threshold=half), policy("tone", min_effect=0.1)):
        assert find_values(run_of(GOOD), "limits apply", other) == []
    silent = run_of(ExampleSuite({"c0": {}}, evaluators=()))
    assert find_values(silent, "limits apply", policy("tone", threshold=half)) == [], "nothing was evaluated"


def test_a_cluster_of_no_case_is_reported() -> None:
    policy = Policy(Limits(cluster="customer", origin={"cluster": "x.toml"}))
    run = run_of(GOOD, replace(GOOD, id="other"))
    assert find_values(run, "limits apply", policy) == ["no case has a cluster by customer"]
    run.suites[1].columns.clusters[0] = "ana"
    assert find_values(run, "limits apply", policy) == [], "one suite has it"
    assert find_values(run_of(ExampleSuite({})), "limits apply", policy) == [], "no case ran"


def test_the_policy_of_the_base_is_needed_if_it_should_apply() -> None:
    verdict = evaluate_gates(compare(run_of(GOOD), None), Policy(), policy_problem="the file is broken")
    assert [(each.rule, each.value) for each in verdict.failed] == [
        ("policy available", "the file is broken; judged by the settings of the change")
    ]
    assert verdict.exit_code == 3


def test_an_incomplete_run_has_one_reason() -> None:
    run = change_run(run_of(GOOD), complete=False)
    assert find_values(run, "run complete") == ["a part is missing"]
    stopped = change_run(run, stopped="1 case failed")
    assert (find_values(stopped, "run complete"), find_values(stopped, "stopped early")) == ([], ["1 case failed"])
    assert evaluate_gates(compare(stopped, None), Policy()).exit_code == 1


def test_a_suite_of_the_baseline_that_is_gone_is_reported() -> None:
    base = run_of(GOOD, replace(GOOD, id="other", script="evals/other.py"))
    assert find_values(run_of(GOOD), "suites remain", base=base) == ["other is gone"]
    assert find_values(run_of(GOOD), "suites remain", base=run_of(GOOD)) == []


def test_a_quarantined_case_may_have_had_the_critical_tag() -> None:
    policy = Policy(Limits(fail_on_critical=True))
    compared, entry = compare(run_of(GOOD), None), QuarantinedCases("ana", "flaky", "2026-12-31")
    quarantined = replace(compared, quarantined=(QuarantinedCase("demo", "c0", "c0", entry),))
    for each, count in ((compared, 1), (quarantined, 0)):
        found = evaluate_gates(each, policy).findings
        assert len([one for one in found if one.rule == "limits apply"]) == count


def test_a_suite_may_be_in_a_shard_that_is_missing() -> None:
    ended = Script(NAME, exit_code=0, expected=("demo", "gone"))
    lost = Script("shard 2 of 2", error=ErrorInfo(MISSING_SHARD, "it sent no result"))
    for scripts, values in (([ended], [f"gone in {NAME}"]), ([ended, lost], [])):
        run = run_of(GOOD, scripts=scripts)
        assert find_values(run, "suites report") == values
    assert find_values(run, "scripts end well") == ["shard 2 of 2: it sent no result"]
