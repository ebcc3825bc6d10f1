"""Test runs of deepeval: scores, thresholds in the direction that each metric has, errors, cost."""

from __future__ import annotations

import json

import pytest
from tests.features.imports.files import imported, imported_file, raw

from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.test_outcomes import TestOutcome, TestOutcomes, identify_deepeval_case


def test_every_score_and_verdict_is_kept() -> None:
    run = raw("deepeval.json")
    imported_run = imported_file("deepeval.json")
    for case, case_read in zip(run["testCases"], imported_run.cases, strict=True):
        assert case_read.input == case["input"]
        assert case_read.output == case["actualOutput"]
        for metric in case["metricsData"]:
            if "score" in metric:
                own = case_read.evaluations[metric["name"]]
                assert (own.score, own.passed) == (metric["score"], metric["success"])
                assert own.metadata["reason"] == metric["reason"]
            else:
                (error,) = case_read.errors
                assert (error.evaluator, error.error.message) == (metric["name"], metric["error"])


def test_the_scores_equal_those_of_deepeval() -> None:
    imported_run = imported_file("deepeval.json").suites["capitals"]
    for metric in raw("deepeval.json")["metricsScores"]:
        assert imported_run.mean(metric["metric"]) == pytest.approx(sum(metric["scores"]) / len(metric["scores"]))


def test_verdicts_show_the_direction_of_a_metric() -> None:
    imported_run = imported_file("deepeval.json")
    known = imported_run.suites["capitals"].evaluators
    assert (known["Correct"].higher_is_better, known["Wordiness"].higher_is_better) == (True, False)
    assert imported_run.case("france").evaluations["Wordiness"].threshold == Threshold(lte=0.5)
    assert known["Correct"].fingerprint is not None
    assert known["Correct"].fingerprint.model == "rules"


def test_an_unnamed_case_has_an_id_of_its_input() -> None:
    run = raw("deepeval.json")
    turned = run | {"testCases": run["testCases"][::-1]}
    one, other = imported("deepeval", json.dumps(run)), imported("deepeval", json.dumps(turned))
    assert {case.hash: case.input for case in one.cases} == {case.hash: case.input for case in other.cases}
    assert not any(case.hash.startswith("test_case") for case in one.cases)


def test_conversations_cost_and_time_are_kept() -> None:
    case = imported_file("deepeval-conversation.json").case("talk")
    assert case.evaluations["Turns"].passed is True
    assert case.input == ["Hello"]
    other = imported_file("deepeval.json").cases
    assert [c.usage.cost for c in other if c.usage] == [0.002]
    assert [c.duration_ms for c in other if c.duration_ms] == [500]
    usage = other[0].evaluations["Correct"].usage
    assert usage is not None
    assert usage.cost == 0.001


def test_a_flaky_metric_decides_nothing() -> None:
    run = raw("deepeval.json")
    for metric in run["testCases"][1]["metricsData"]:
        metric["flaky"] = True
    run["testCases"][1]["success"] = None
    assert imported("deepeval", json.dumps(run)).cases[1].status is Status.SCORED


def test_a_case_with_a_verdict_alone_is_passed_or_not() -> None:
    run = {"testCases": [{"name": "a", "input": "?", "success": False}, {"name": "b", "input": "?", "success": True}]}
    imported_run = imported("deepeval", json.dumps(run))
    assert [case.evaluations["passed"].passed for case in imported_run.cases] == [False, True]


def test_a_case_that_failed_in_a_part_of_its_trace_fails() -> None:
    """Metrics of spans are not among the metrics of the case, but count for its verdict."""
    run = raw("deepeval.json")
    assert run["testCases"][0]["success"] is True
    run["testCases"][0]["success"] = False
    case = imported("deepeval", json.dumps(run)).cases[0]
    assert case.status is Status.FAILED
    assert list(case.evaluations) == ["Correct", "Wordiness", "passed"]
    # A case with a failing metric has its verdict already.
    assert "passed" not in imported_file("deepeval.json").cases[1].evaluations


@pytest.mark.parametrize(
    ("score", "success", "limit"),
    [(0.7, True, 0.5), (0.3, False, 0.5), (0.3, True, 0.5), (0.7, False, 0.5), (0.5, True, 0.5), (0.5, False, 0.5)],
)
def test_the_verdict_of_a_metric_is_kept(score: float, success: bool, limit: float) -> None:
    metric = {"name": "m", "score": score, "success": success, "threshold": limit}
    run = {"testCases": [{"name": "a", "input": "?", "metricsData": [metric]}]}
    assert imported("deepeval", json.dumps(run)).cases[0].evaluations["m"].passed is success


def test_repeats_of_a_test_are_trials_of_one_case() -> None:
    imported_run = imported_file("deepeval-repeat.json")
    assert [(case.hash, case.repeat) for case in imported_run.cases] == [
        ("test_x[1+1-2]", 0),
        ("test_x[1+1-2]", 1),
        ("test_x[2+2-4]", 0),
        ("test_x[2+2-4]", 1),
    ]
    case = {"name": "a", "input": "?", "success": True}
    rerun = imported("deepeval", json.dumps({"testCases": [case, {**case, "input": "!"}, case]}))
    (first, _), (other, _), (second, _) = ((case.hash, case.repeat) for case in rerun.cases)
    assert (first, rerun.cases[2].repeat) == (second, 1)
    assert first != other, "its definition is part of the key"


def test_test_runs_of_one_name_are_one_suite_with_all_their_cases() -> None:
    def run(*names: str, metric: str = "m", suite: str | None = None) -> bytes:
        metrics = [{"name": metric, "score": 1.0, "success": True, "threshold": 0.5}]
        cases = [{"name": name, "input": name, "metricsData": metrics} for name in names]
        return json.dumps({"testCases": cases, "identifier": suite}).encode()

    imported_run = imported("deepeval", run("a"), more=(run("b", metric="n"), run("a"), run("c", suite="own")))
    assert {label: len(suite.columns) for label, suite in imported_run.suites.items()} == {"deepeval": 3, "own": 1}
    assert list(imported_run.suites["deepeval"].evaluators) == ["m", "n"]
    assert [(case.hash, case.repeat) for case in imported_run.cases] == [("a", 0), ("b", 0), ("a #2", 0), ("c", 0)]


def judged(
    outcome: TestOutcome | None, *, passes: bool, more: str = ""
) -> list[tuple[Status, dict[str, float], list[str]]]:
    """The cases of a test run of one test: their status, their scores and the evaluators without a threshold."""
    metric = {"name": "Brief", "score": float(passes), "success": passes, "threshold": 0.5}
    first = {"name": "own", "input": "q", "success": passes, "metricsData": [metric]}
    second = {"name": more, "input": "q", "success": True, "metricsData": [{**metric, "score": 1, "success": True}]}
    document = json.dumps({"testCases": [first, *([second] if more else [])]})
    tests = None if outcome is None else TestOutcomes.parse(outcome.to_line())
    return [
        (
            case.status,
            {name: each.score for name, each in case.evaluations.items()},
            [name for name, each in case.evaluations.items() if each.threshold is None],
        )
        for case in imported("deepeval", document, tests=tests).cases
    ]


def test_the_verdict_of_a_case_is_that_of_its_test() -> None:
    cases = tuple(identify_deepeval_case(name, "q") for name in ("own", "second"))
    passed, failed = TestOutcome("a.py::test_a", None, cases), TestOutcome("a.py::test_a", "why", cases)
    as_metrics_say = {True: (Status.PASSED, {"Brief": 1}, []), False: (Status.FAILED, {"Brief": 0}, [])}
    for outcome in (None, passed, TestOutcome("other", "why"), TestOutcome("t", "why", cases, is_clear=False)):
        assert judged(outcome, passes=True) == [as_metrics_say[True]]
    for outcome in (None, failed, TestOutcome("other"), TestOutcome("t", None, cases, is_clear=False)):
        assert judged(outcome, passes=False) == [as_metrics_say[False]]
    assert judged(passed, passes=False) == [(Status.PASSED, {"Brief": 0, "passed": 1}, ["Brief"])]
    no_reason = json.dumps({"testCases": [{"name": "own", "input": "q", "success": False, "metricsData": [
        {"name": "Brief", "score": 0, "success": False, "threshold": 0.5}]}]})  # fmt: skip
    (case,) = imported("deepeval", no_reason, tests=TestOutcomes.parse(passed.to_line())).cases
    assert case.evaluations["Brief"].metadata == {"passed": False}
    assert judged(failed, passes=True) == [(Status.FAILED, {"Brief": 1, "passed": 0}, [])]
    assert judged(failed, passes=False, more="second") == [as_metrics_say[False], as_metrics_say[True]]
