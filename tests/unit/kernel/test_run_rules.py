"""Rules about the whole run: which suites must report, and which limits must match something."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.runs.model_calls import ModelCalls
from scoregate.kernel.types.runs.policy import Limits, Policy, Severity
from scoregate.kernel.types.runs.run import Run, Script
from scoregate.kernel.types.runs.run_scope import RunShard

GOOD = ExampleSuite(scored(*[1.0] * 12))


def find_values(run: Run, rule: str, policy: Policy | None = None, base: Run | None = None) -> list[str]:
    findings = evaluate_gates(compare(run, base), policy or Policy(Limits())).findings
    return [each.value for each in findings if each.rule == rule]


def run_script(*expected: str, exit_code: int = 0) -> Run:
    return run_of(GOOD, scripts=[Script("evals/demo.py", exit_code=exit_code, expected=expected)])


def test_every_suite_that_a_script_starts_reports() -> None:
    assert find_values(run_script("demo"), "suites report") == []
    assert find_values(run_script("demo", "gone", "lost"), "suites report") == [
        "gone in evals/demo.py",
        "lost in evals/demo.py",
    ]
    assert find_values(run_script("gone", exit_code=2), "suites report") == [], "another rule reports the script"


def test_a_suite_of_another_script_is_no_report() -> None:
    scripts = [Script(name, exit_code=0, expected=("demo",)) for name in ("evals/demo.py", "evals/other.py")]
    run = run_of(GOOD, ExampleSuite(GOOD.cases, id="more", script="evals/other.py"), scripts=scripts)
    assert find_values(run, "suites report") == ["demo in evals/other.py"]
    silent = run_of(GOOD, scripts=scripts)
    assert find_values(silent, "suites report") == [], "a script without any suite is another rule's"
    assert len(find_values(silent, "scripts run suites")) == 1


def test_a_suite_may_be_missing_for_a_reason() -> None:
    run = run_script("demo", "gone")
    shard = RunShard("p", 1, 2, "id", contents=("a", "b"))
    for excused in (
        change_run(run, skipped=("gone",)),
        change_run(run, selection="--last-failed"),
        change_run(run, filters=("demo",)),
    ):
        assert find_values(excused, "suites report") == []
    assert find_values(change_run(run, filters=("*o*",)), "suites report") == ["gone in evals/demo.py"]
    assert find_values(change_run(run, shard=shard), "run complete") == ["it is shard 1 of 2"]


def test_most_calls_through_the_gateway_are_answered() -> None:
    for calls, values in (
        ([{"calls": 10, "failed": 5}], []),
        ([{"calls": 10, "failed": 6}], ["6 of 10 calls of a.py through the gateway got no answer"]),
        ([{"calls": 30, "failed": 20, "recovered": 20}], []),  # each was asked three times
        ([{"calls": 9, "failed": 8, "recovered": 2}], ["6 of 7 calls of a.py through the gateway got no answer"]),
        ([{"calls": 4, "failed": 4}, {"calls": 4, "model": "judge"}], []),
    ):
        rows = tuple(ModelCalls("a.py", "", "openai", **{"model": "gpt-4o", **each}) for each in calls)  # type: ignore[arg-type]
        run = replace(run_of(GOOD), model_calls=(*rows, ModelCalls("b.py", "", "openai", "gpt-4o", calls=1_000)))
        assert find_values(run, "calls answered") == values
        verdict = evaluate_gates(compare(run, None), Policy(Limits()))
        assert verdict.exit_code == (3 if values else 0)
        relaxed = Policy(Limits(severity={"calls_answered": Severity.OFF}))
        assert evaluate_gates(compare(run, None), relaxed).exit_code == 0


MISSPELT = {
    "max_drop": Limits(max_drop={"accuracy": 0.1}),
    "min_score": Limits(min_score={"accuracy": 0.1}),
}


@pytest.mark.parametrize("name", MISSPELT)
def test_a_limit_that_matches_nothing_is_reported(name: str) -> None:
    run = run_of(GOOD)
    (glob,) = getattr(MISSPELT[name], name)
    for policy in (
        Policy(MISSPELT[name]),
        Policy(Limits(), {"*": MISSPELT[name]}),
        Policy(Limits(), {"demo": MISSPELT[name]}),
    ):
        assert find_values(run, "limits apply", policy) == [f"{glob} in {name} matches no scorer"]


@pytest.mark.parametrize("name", MISSPELT)
def test_other_suites_may_have_what_a_limit_names_if_files_were_named(name: str) -> None:
    narrowed = change_run(run_of(GOOD), narrowed=True)
    for policy in (
        Policy(MISSPELT[name]),
        Policy(Limits(), {"*": MISSPELT[name]}),
        Policy(Limits(), {"d*": MISSPELT[name]}),
    ):
        assert find_values(narrowed, "limits apply", policy) == []
    exact = find_values(narrowed, "limits apply", Policy(Limits(), {"demo": MISSPELT[name]}))
    assert len(exact) == 1, "it names the suite that ran"


def test_a_limit_of_the_command_line_is_meant_for_this_run() -> None:
    limits = Limits(min_score={"accuracy": 0.5}, origin={"min_score.accuracy": "--min-score"})
    narrowed = change_run(run_of(GOOD), narrowed=True)
    assert find_values(narrowed, "limits apply", Policy(limits)) == ["accuracy in min_score matches no scorer"]


def test_a_pattern_that_matches_no_suite_is_reported() -> None:
    run, policy = run_of(GOOD), Policy(Limits(), {"dmo": Limits(min_pass_rate=0.5, origin={"min_pass_rate": "x.toml"})})
    assert find_values(run, "limits apply", policy) == ["dmo matches none of the suites that ran: demo"]
    unfinished = replace(run, scripts=(*run.scripts, Script("evals/other.py", exit_code=2)))
    for other in (
        change_run(run, narrowed=True),
        change_run(run, filters=("demo",)),
        change_run(run, skipped=("dmo",)),
        change_run(run, complete=False),
        unfinished,
    ):
        assert find_values(other, "limits apply", policy) == []
    assert find_values(run, "limits apply", Policy(Limits(), {"dmo": Limits(origin={"x": "y"})})) == []


def test_a_critical_limit_without_a_critical_case_is_reported() -> None:
    policy = Policy(Limits(fail_on_critical=True))
    value = "fail_on_critical: no case has the tag 'critical'"
    tagged = run_of(replace(GOOD, tags={"c0": ("critical",)}))
    misspelt = run_of(replace(GOOD, tags={"c0": ("critcal", "b")}))
    assert find_values(run_of(GOOD), "limits apply", policy) == [value]
    assert find_values(misspelt, "limits apply", policy) == [f"{value}; the tags are b, critcal"]
    for run, base in ((tagged, None), (run_of(GOOD), tagged)):
        assert find_values(run, "limits apply", policy, base) == []
    assert find_values(change_run(run_of(GOOD), selection="--sample"), "limits apply", policy) == []
    assert find_values(change_run(run_of(GOOD), narrowed=True), "limits apply", policy) == []


def test_a_trial_that_never_ended_leaves_the_run_unmeasurable() -> None:
    suite = run_of(GOOD).suites[0]
    for run, progress in (
        (run_of(replace(GOOD, complete=False)), "12 of 12 planned cases finished"),
        (replace(run_of(GOOD), suites=(replace(suite, complete=False, planned=None, unfinished=1),)),
         "11 cases finished, then no more"),
        (replace(run_of(GOOD), suites=(replace(suite, complete=False, planned=None, unfinished=11),)),
         "1 case finished, then no more"),
    ):  # fmt: skip
        found = evaluate_gates(compare(run, None), Policy(Limits()))
        assert (found.exit_code, [(one.rule, one.value) for one in found.failed]) == (
            3,
            [("suite finished", progress)],
        )


def test_a_script_may_exit_with_1_for_its_own_assertion_only() -> None:
    failing = ExampleSuite(scored(0.0), assertion_failed=True)
    for suite, exit_code, values in (
        (failing, 1, []),
        (failing, 2, ["evals/demo.py exited with 2"]),
        (GOOD, 1, ["evals/demo.py exited with 1"]),
        (GOOD, 0, []),
    ):
        run = run_of(suite, scripts=[Script("evals/demo.py", exit_code=exit_code)])
        assert find_values(run, "scripts end well") == values


def test_a_run_without_suites_says_why() -> None:
    ended = [Script("evals/demo.py", exit_code=0)]
    skipped = change_run(run_of(scripts=ended, filters=("demo",)), skipped=("demo",))
    assert find_values(skipped, "something ran") == ["all were skipped"]
    assert find_values(run_of(scripts=[]), "something ran") == ["none was found"]
    selected = change_run(run_of(scripts=ended), selection="-k refund")
    assert find_values(selected, "something ran") == ["no case matches -k refund"]
    failed = change_run(run_of(scripts=[]), selection="--last-failed")
    assert find_values(failed, "something ran") == ["no case matches --last-failed"]
    assert find_values(change_run(failed, selection="-k refund"), "something ran") == ["none was found"]
    assert find_values(run_of(scripts=[Script("evals/demo.py", exit_code=2)]), "something ran") == []


def test_errors_of_trials_that_a_stop_left_open_are_reported_once() -> None:
    cases = {**scored(*[1.0] * 8), "open": ERROR, "other": ERROR}
    suite = replace(run_of(ExampleSuite(cases, complete=False)).suites[0], planned=20)
    for unfinished, stopped, reported in ((2, "1 case failed", 0), (1, "1 case failed", 1), (2, "", 1), (0, "", 1)):
        run = change_run(run_of(GOOD), suites=(replace(suite, unfinished=unfinished),), stopped=stopped)
        found = find_values(run, "error rate", Policy(Limits(max_error_rate=0.05)))
        assert len(found) == reported, (unfinished, stopped)


@pytest.mark.parametrize("sdk", ["ctrf", "junit", "vitest", "scoregate 1", None])
def test_a_suite_without_evaluators_says_why(sdk: str | None) -> None:
    run = run_of(ExampleSuite({"a": {}}, evaluators=[]))
    run = replace(run, suites=(replace(run.suites[0], sdk=sdk),))
    is_report = sdk in ("ctrf", "junit", "vitest")
    why = "all tests were skipped" if is_report else "the suite has no scorers"
    assert find_values(run, "cases were evaluated") == [f"0 evaluations: {why}"]


def test_a_finding_names_up_to_twenty_tags() -> None:
    tags = tuple(f"t{number:02}" for number in range(25))
    run = run_of(replace(GOOD, tags={"c0": tags}))
    (value,) = find_values(run, "limits apply", Policy(Limits(fail_on_critical=True)))
    assert value.endswith(f"the tags are {', '.join(tags[:20])}")
