"""Each field of reports in JSON: what it becomes, and what is done without it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.features.imports.files import Imported, imported

from scoregate.errors import ImportFailed
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.runs.cases import CaseResult, Status


def load(form: str, document: Any, **options: Any) -> Imported:
    return imported(form, json.dumps(document), **options)


def messages(case: CaseResult) -> list[tuple[str | None, str, str]]:
    return [(each.evaluator, each.error.type, each.error.message) for each in case.errors]


def reasons(run: Imported, evaluator: str = "passed") -> list[Any]:
    return [(case.evaluations[evaluator].metadata or {}).get("reason") for case in run.cases]


def ctrf(*tests: dict[str, Any], **summary: int) -> dict[str, Any]:
    return {
        "results": {"tool": {"name": "t"}, "summary": summary, "tests": [{"status": "passed"} | each for each in tests]}
    }


def test_every_field_of_ctrf() -> None:
    test = {
        "name": "opens",
        "suite": ["hours", "", "sunday"],
        "filePath": "a.test.js",
        "duration": 12.5,
        "status": "failed",
        "message": "why\n not",
        "trace": "at x",
        "tags": ["slow", 3],
        "parameters": {"day": "sunday"},
        "stdout": ["one", "two"],
        "extra": {"scores": {"close": 0.5}},
    }
    run = load("ctrf", ctrf(test))
    ((name, suite),) = run.suites.items()
    (case,) = run.cases
    assert (name, suite.origin) == ("hours > sunday", Origin("a.test.js"))
    assert (case.hash, case.name, case.input, case.output) == ("opens", "opens", {"day": "sunday"}, "one\ntwo")
    assert (case.duration_ms, case.tags, case.status) == (12.5, ("slow", "3"), Status.FAILED)
    assert case.evaluations["passed"].metadata == {"reason": "why not"}
    assert case.evaluations["close"].score == 0.5


def test_ctrf_without_fields() -> None:
    run = load("ctrf", ctrf({"name": "a"}, {"name": "b", "suite": "old", "stdout": [], "tags": "x"}), name="out.json")
    assert list(run.suites) == ["out", "old"]
    assert [suite.origin for suite in run.suites.values()] == [None, None]
    assert [(case.output, case.input, case.tags, case.duration_ms) for case in run.cases] == [
        (None, None, (), None)
    ] * 2
    assert [case.evaluations["passed"].metadata for case in run.cases] == [None, None]
    traced = load(
        "ctrf", ctrf({"name": "a", "status": "failed", "trace": "at x"}, {"name": "b", "message": "m" * 2001})
    )
    assert reasons(traced) == ["at x", "m" * 2000 + "…"]
    for lost in ("tool", "tests"):
        document = ctrf({"name": "a"})
        del document["results"][lost]
        with pytest.raises(ImportFailed, match="it has no `results` with `tool` and `tests`"):
            load("ctrf", document)


@pytest.mark.parametrize("state", ["skipped", "pending"])
def test_a_skipped_test_of_ctrf_has_no_verdict(state: str) -> None:
    (case,) = load("ctrf", ctrf({"name": "a", "status": state, "tags": ["x"]})).cases
    assert (case.status, case.evaluations, case.errors) == (Status.UNSCORED, {}, [])
    assert (case.tags, case.unscored) == (("x", "skipped"), ("passed",))


def test_attempts_of_ctrf_come_before_the_result() -> None:
    retries = [
        {"status": "failed", "message": "first", "duration": 1},
        {"status": "passed"},
        {"status": "failed", "trace": "second"},
    ]
    flaky = {"name": "a", "flaky": True, "retryAttempts": retries, "stdout": ["out"], "duration": 9}
    run = load("ctrf", ctrf(flaky))
    assert [(case.repeat, case.evaluations["passed"].passed) for case in run.cases] == [
        (0, False),
        (1, False),
        (2, True),
    ]
    assert reasons(run) == ["first", "second", None]
    assert [(case.output, case.duration_ms) for case in run.cases] == [(None, 1), (None, None), ("out", 9)]
    # Of a test that failed at last, the attempts are all its results.
    failed = load("ctrf", ctrf({"name": "a", "status": "failed", "message": "last", "retryAttempts": retries}))
    assert reasons(failed) == ["first", "second", "last"]
    for more in ({"flaky": True, "status": "failed"}, {"flaky": "yes"}, {}):
        assert len(load("ctrf", ctrf({"name": "a", **more})).cases) == 1
    both = load("ctrf", ctrf({"name": "a", "flaky": True}))
    assert [case.evaluations["passed"].passed for case in both.cases] == [False, True]
    assert reasons(both) == ["it failed before it passed", None]


def test_tests_of_ctrf_with_one_name_are_repeats_unless_their_parameters_differ() -> None:
    run = load(
        "ctrf",
        ctrf(
            {"name": "a"},
            {"name": "a"},
            {"name": "a", "suite": "s"},
            {"name": "b", "parameters": {"x": 1}},
            {"name": "b", "parameters": {"x": 2}},
        ),
    )
    assert [case.repeat for case in run.cases] == [0, 1, 0, 0, 0]
    assert len({case.hash for case in run.cases}) == 3


def test_the_counts_of_ctrf_are_a_lower_bound() -> None:
    test = {"name": "a", "status": "failed"}
    assert load("ctrf", ctrf(test, test, tests=1, failed=0)).cases
    assert load("ctrf", ctrf(test, test, tests=2, failed=2)).cases
    with pytest.raises(ImportFailed, match="tests are missing, as after a crash: 3 failed tests are counted, 2 listed"):
        load("ctrf", ctrf(test, test, tests=2, failed=3))


@pytest.mark.parametrize(
    ("form", "data"),
    [("junit", "<testsuites/>"), ("vitest", json.dumps({"numTotalTests": 0, "testResults": []}))],
)
def test_results_without_a_case_are_refused(form: str, data: str) -> None:
    with pytest.raises(ImportFailed, match="it holds no case"):
        imported(form, data)


def vitest(*tests: dict[str, Any], **file: Any) -> dict[str, Any]:
    results = [{"ancestorTitles": [], "status": "passed", "failureMessages": []} | each for each in tests]
    return {
        "numTotalTests": len(tests),
        "testResults": [{"name": "/p/a.test.ts", "status": "passed", "assertionResults": results} | file],
    }


def test_every_field_of_vitest() -> None:
    evals = {
        "input": {"q": 1},
        "output": "yes",
        "scores": [
            {"name": "Close", "score": 0.5, "metadata": {"rationale": "near", "output": "y", "x": 1}},
            {"score": 1},
        ],
    }
    run = {"usage": {"inputTokens": 5, "outputTokens": 2, "cost": 0.5}}
    test = {
        "ancestorTitles": ["hours", "", "sunday"],
        "title": "opens",
        "duration": 7,
        "tags": ["slow"],
        "meta": {"eval": evals, "harness": {"run": run}},
    }
    found = load("vitest", vitest(test))
    ((name, suite),) = found.suites.items()
    (case,) = found.cases
    assert (name, suite.origin) == ("hours", Origin("/p/a.test.ts"))
    assert (case.hash, case.input, case.output) == ("sunday > opens", {"q": 1}, "yes")
    assert (case.duration_ms, case.tags, case.usage) == (7, ("slow",), Usage(5, 2, cost=0.5))
    assert case.evaluations["Close"].metadata == {"reason": "near", "output": "y"}
    assert (case.evaluations["Close"].score, case.evaluations["score"].score) == (0.5, 1)


def test_the_input_of_vitest_evals_is_the_first_message_of_the_user() -> None:
    events = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "first"},
        {"role": "user", "content": "second"},
    ]
    run = {"session": {"events": events}, "output": "done"}
    (case,) = load("vitest", vitest({"title": "a", "meta": {"harness": {"run": run}}})).cases
    assert (case.input, case.output) == ("first", "done")
    (plain,) = load("vitest", vitest({"title": "a"})).cases
    assert (plain.input, plain.output, plain.usage, plain.tags) == (None, None, None, ())


@pytest.mark.parametrize("state", ["skipped", "pending", "todo", "disabled"])
def test_a_skipped_test_of_vitest_has_no_verdict(state: str) -> None:
    (case,) = load("vitest", vitest({"title": "a", "status": state, "tags": ["x"]})).cases
    assert (case.status, case.tags, case.unscored, case.errors) == (Status.UNSCORED, ("x", "skipped"), ("passed",), [])


def test_the_messages_of_vitest_lose_the_frames_of_their_stacks() -> None:
    stack = "Error: no\n    at f (a.ts:1)\n  while at work\nattach"
    failed = {"title": "a", "status": "failed", "failureMessages": [stack, "other"]}
    flaky = {"title": "b", "failureMessages": ["first\n at x", "m" * 2001], "duration": 5}
    run = load(
        "vitest", vitest(failed, flaky, {"title": "c", "status": "failed"}, {"title": "d", "failureMessages": "x"})
    )
    assert reasons(run) == ["Error: no\n  while at work\nattach", "first", "m" * 2000, None, None, None]
    assert [case.repeat for case in run.cases] == [0, 0, 1, 2, 0, 0]
    assert [case.duration_ms for case in run.cases][1:4] == [None, None, 5]
    (case,) = load("vitest", vitest({"title": "a", "status": "new"})).cases
    assert messages(case) == [("passed", "NoVerdict", "its status is 'new'")]


def test_a_file_of_vitest_that_could_not_be_run_is_a_suite_with_an_error() -> None:
    document = vitest({"title": "b"}, name="/p/b.test.ts")
    document["testResults"] += vitest(status="failed", message="no such module")["testResults"]
    ((name, suite),) = [each for each in load("vitest", document).suites.items() if each[1].errors]
    assert (name, suite.origin, suite.complete) == ("a.test.ts (file)", Origin("/p/a.test.ts"), True)
    assert [(each.type, each.message) for each in suite.errors] == [("FileFailed", "a.test.ts failed: no such module")]


def test_tests_of_vitest_with_one_name_are_repeats_in_one_file() -> None:
    run = load("vitest", vitest({"title": "a"}, {"title": "a"}, {"title": "a", "ancestorTitles": ["s"]}))
    assert [(list(run.suites)[case.suite], case.repeat) for case in run.cases] == [
        ("a.test.ts", 0),
        ("a.test.ts", 1),
        ("s", 0),
    ]
    lacking = vitest({"title": "a", "failureMessages": ["flaky"]}) | {"numTotalTests": 2}
    with pytest.raises(ImportFailed, match="it counts 2 and lists 1"):
        load("vitest", lacking)


def evalite(*results: dict[str, Any], **fields: Any) -> dict[str, Any]:
    each = {"name": "capitals", "status": "success", "results": [{"status": "success"} | result for result in results]}
    return {"run": {}, "evals": [each | fields]}


def test_every_field_of_evalite() -> None:
    result = {
        "input": "Capital of France?",
        "expected": "Paris",
        "output": "Paris!",
        "duration": 30,
        "scores": [{"name": "Close", "score": 0.5, "description": "d", "metadata": {"m": 1}}, {"score": 1}],
        "traces": [{"inputTokens": 3, "outputTokens": 1}, {"inputTokens": 4, "outputTokens": 1}],
    }
    run = load("evalite", evalite(result, result, {**result, "expected": "paris"}, filepath="a.eval.ts"))
    ((name, suite),) = run.suites.items()
    assert (name, suite.origin, suite.errors) == ("capitals", Origin("a.eval.ts"), ())
    first, second, third = run.cases
    assert [(case.hash == first.hash, case.repeat) for case in (second, third)] == [(True, 1), (False, 0)]
    assert (first.input, first.output, first.name) == ("Capital of France?", "Paris!", "Capital of France?")
    assert (first.duration_ms, first.usage) == (30, Usage(7, 2))
    assert first.evaluations["Close"].metadata == {"description": "d", "metadata": {"m": 1}}
    assert (first.evaluations["Close"].score, first.evaluations["score"].score) == (0.5, 1)


def test_a_failed_result_of_evalite_has_its_exception() -> None:
    raised = {"input": "q", "status": "fail", "output": {"name": "TypeError", "message": "no", "stack": "at x"}}
    bare = {"input": "r", "status": "running", "output": "text"}
    run = load("evalite", evalite(raised, bare, status="fail"))
    assert [messages(case) for case in run.cases] == [
        [(None, "TypeError", "no")],
        [(None, "EvaliteError", "its status is 'running'")],
    ]
    assert [case.output for case in run.cases] == [None, None]
    assert run.cases[0].errors[0].error.traceback == "at x"
    assert run.suites["capitals"].errors == ()


def test_a_result_of_evalite_without_the_scores_of_others_is_incomplete() -> None:
    scored = {"input": "q", "output": "a", "scores": [{"name": "s", "score": 1}]}
    run = load("evalite", evalite(scored, {"input": "r", "output": "b"}))
    assert messages(run.cases[1]) == [(None, "Incomplete", "it has no scores, other results have")]
    assert (run.cases[0].output, run.cases[1].output) == ("a", None)
    assert messages(load("evalite", evalite({"input": "r", "output": "b"})).cases[0]) == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"status": "success"}, None),
        ({"status": "running"}, "the status of the eval is 'running', not 'success'"),
        ({"status": "fail"}, "the status of the eval is 'fail', not 'success'"),
    ],
)
def test_an_unfinished_eval_of_evalite_is_incomplete(fields: dict[str, Any], problem: str | None) -> None:
    (suite,) = load("evalite", evalite({"input": "q"}, **fields)).suites.values()
    assert [each.message for each in suite.errors] == ([] if problem is None else [problem])


def test_evals_of_evalite_have_names_of_their_own() -> None:
    document = evalite({"input": "q"})
    with pytest.raises(ImportFailed, match="two evals have the name 'capitals'"):
        load("evalite", document | {"evals": document["evals"] * 2})
    for lost in ("name", "results"):
        with pytest.raises(ImportFailed, match="eval 2 lacks its name or its results"):
            load(
                "evalite",
                document
                | {
                    "evals": [*document["evals"], {k: v for k, v in evalite(name="b")["evals"][0].items() if k != lost}]
                },
            )
    for lost in ("run", "evals"):
        with pytest.raises(ImportFailed, match="it lacks one of run, evals"):
            load("evalite", {name: value for name, value in document.items() if name != lost})


def lm_eval(*rows: dict[str, Any], name: str = "samples_task.jsonl") -> Imported:
    base = {"doc_id": 0, "doc": {"q": 1}, "target": "t", "resps": [["r"]], "metrics": ["acc"], "acc": 1.0}
    return imported("lm-eval", "".join(json.dumps(base | row) + "\n" for row in rows), name=name)


def test_every_field_of_lm_eval() -> None:
    run = lm_eval(
        {"arguments": {"gen_args_0": {"arg_0": "Prompt"}}, "filtered_resps": ["r"], "filter": "none"},
        {"doc_id": 1, "filter": "none"},
    )
    first, second = run.cases
    assert (first.name, first.input, first.output) == ("0: Prompt", "Prompt", "r")
    assert (second.name, second.input, second.output) == ('1: {"q":1}', {"q": 1}, ["r"])
    assert first.evaluations["acc"].metadata == {"expected": "t"}
    for lost in ("doc_id", "doc", "target", "resps", "metrics"):
        row = {"doc_id": 0, "doc": {}, "target": "t", "resps": [], "metrics": []}
        del row[lost]
        with pytest.raises(ImportFailed, match=f"has no '{lost}'"):
            imported("lm-eval", json.dumps(row) + "\n")


def test_documents_of_lm_eval_without_an_id_have_their_line() -> None:
    assert [case.name for case in lm_eval({"doc_id": None, "doc": "a"}, {"doc_id": None, "doc": "b"}).cases] == [
        "line 1: a",
        "line 2: b",
    ]


def test_filters_of_lm_eval_name_their_scores() -> None:
    run = lm_eval(
        {"filter": "strict", "filtered_resps": ["a"]}, {"filter": "none", "acc": 0, "filtered_resps": ["b", "c"]}
    )
    (case,) = run.cases
    assert {name: each.score for name, each in case.evaluations.items()} == {"acc,strict": 1, "acc": 0}
    assert case.evaluations["acc"].metadata == {"expected": "t", "response": ["b", "c"]}
    assert case.output == ["b", "c"]
    (alone,) = lm_eval({"filter": "strict"}).cases
    assert list(alone.evaluations) == ["acc"]


def test_scores_of_lm_eval_are_numbers_or_shares_of_what_is_true() -> None:
    values: dict[Any, Any] = {
        "yes": True,
        "no": False,
        "some": [True, False, False, True],
        "none": [],
        "pair": [1, 2],
        "text": "x",
        "number": 0.25,
    }
    (case,) = lm_eval({"metrics": list(values), **values}).cases
    assert {name: each.score for name, each in case.evaluations.items()} == {
        "yes": 1,
        "no": 0,
        "some": 0.5,
        "number": 0.25,
    }
    assert messages(case) == [
        ("none", "NoScore", "none is [], which is not a number, true or false"),
        ("pair", "NoScore", "pair is [1,2], which is not a number, true or false"),
        ("text", "NoScore", "text is x, which is not a number, true or false"),
    ]
    with pytest.raises(ImportFailed, match="`metrics` is not an array: acc"):
        lm_eval({"metrics": "acc"})


def test_every_field_of_a_skill_benchmark() -> None:
    expectation = {"text": "It works", "passed": True, "evidence": "seen"}
    result = {"pass_rate": 0.5, "errors": 1, "tool_calls": 3, "time_seconds": 1.5, "tokens": 70, "total": 1}
    run = {
        "configuration": "with_skill",
        "eval_id": 1,
        "eval_name": "fill",
        "notes": ["n"],
        "result": result,
        "expectations": [expectation],
    }
    found = load(
        "skill-benchmark",
        {
            "metadata": {"skill_name": "pdf"},
            "runs": [run, run, {**run, "configuration": "without_skill", "eval_name": ""}],
        },
    )
    assert list(found.suites) == ["pdf [with_skill]", "pdf [without_skill]"]
    first, _, third = found.cases
    assert [(case.hash, case.repeat) for case in found.cases][:2] == [("fill", 0), ("fill", 1)]
    assert third.name == "eval 1"
    assert (first.duration_ms, first.usage) == (1500, Usage(0, 70))
    assert first.evaluations["pass_rate"].score == 0.5
    assert first.evaluations["pass_rate"].metadata == {"notes": ["n"], "tool_calls": 3, "errors": 1}
    assert first.evaluations["expectation: It works"].passed is True
    assert first.evaluations["expectation: It works"].metadata == {"reason": "seen"}
    with pytest.raises(ImportFailed, match="expectations are missing: 2 are counted, 1 listed"):
        load("skill-benchmark", {"runs": [{**run, "result": {**result, "total": 2}}]})
    for lost in ({"configuration": ""}, {"eval_id": None, "eval_name": None}):
        with pytest.raises(ImportFailed, match="a run has no `configuration` or no `eval_id`"):
            load("skill-benchmark", {"runs": [{**run, **lost}]})
    with pytest.raises(ImportFailed, match="it has neither `runs`"):
        load("skill-benchmark", {})
    assert list(load("skill-benchmark", {"runs": [run]}, name="out/mine.json").suites) == ["mine [with_skill]"]


def test_every_field_of_a_skill_grading() -> None:
    grading = {
        "expectations": [{"text": "a", "passed": False}, {"text": "b", "passed": "yes"}],
        "summary": {"pass_rate": 0.5, "total": 2},
        "timing": {"total_duration_seconds": 2},
    }
    run = load("skill-benchmark", grading, name="w/x/eval-1/with_skill/grading.json")
    (case,) = run.cases
    assert (case.hash, case.duration_ms) == ("x/eval-1/with_skill", 2000)
    assert case.evaluations["expectation: a"].passed is False
    assert messages(case) == [("expectation: b", "NoVerdict", "`passed` is neither true nor false")]
    assert load("skill-benchmark", grading, name="grading.json").cases[0].hash == "grading"


def pydantic_evals(*cases: dict[str, Any], failures: tuple[dict[str, Any], ...] = (), **fields: Any) -> dict[str, Any]:
    return {"name": "experiment", "cases": list(cases), "failures": list(failures), **fields}


def test_every_field_of_pydantic_evals() -> None:
    case = {
        "name": "france [2/3]",
        "source_case_name": "france",
        "inputs": "q",
        "expected_output": "Paris",
        "output": "paris",
        "task_duration": 0.5,
        "metadata": {"topic": "law"},
        "metrics": {"input_tokens": 3, "output_tokens": 2, "cost": 0.25},
        "attributes": {"a": 1},
        "labels": {"tone": {"value": "kind"}},
        "assertions": {"short": {"value": True, "reason": "r"}, "odd": {"value": 1}},
        "scores": {"stars": {"value": 4, "reason": "s"}},
        "evaluator_failures": [
            {"name": "judge", "error_type": "Timeout", "error_message": "late", "error_stacktrace": "at"}
        ],
    }
    scales = {"scales": {"stars": [1, 5]}}
    run = load("pydantic-evals", pydantic_evals(case, dataset_name="capitals", experiment_metadata=scales))
    (found,) = run.cases
    assert list(run.suites) == ["capitals"]
    assert (found.hash, found.repeat, found.name) == ("france", 1, "france")
    assert (found.input, found.output, found.duration_ms) == (
        {"input": "q", "metadata": {"topic": "law"}},
        "paris",
        500,
    )
    assert found.usage == Usage(3, 2, cost=0.25)
    assert found.evaluations["short"].metadata == {
        "reason": "r",
        "labels": {"tone": "kind"},
        "metrics": {"input_tokens": 3, "output_tokens": 2, "cost": 0.25},
        "attributes": {"a": 1},
    }
    assert found.evaluations["stars"].score == 0.75
    assert found.evaluations["stars"].metadata == {"value": 4, "scale": [1, 5], "reason": "s"}
    assert messages(found) == [
        ("odd", "NoVerdict", "its value is neither true nor false"),
        ("judge", "Timeout", "late"),
    ]
    assert found.errors[1].error.traceback == "at"


def test_failures_of_pydantic_evals() -> None:
    failure = {"name": "peru [0/1]", "inputs": "q", "error_message": "boom", "error_stacktrace": "at x"}
    of_report = {"error_message": "broken", "error_stacktrace": "at y"}
    run = load(
        "pydantic-evals",
        pydantic_evals({"name": "a", "inputs": 1}, failures=(failure,), report_evaluator_failures=[of_report]),
    )
    assert list(run.suites) == ["experiment"]
    assert messages(run.cases[1]) == [(None, "TaskFailed", "boom")]
    assert (run.cases[1].hash, run.cases[1].repeat) == ("peru [0/1]", 0)
    assert run.cases[1].errors[0].error.traceback == "at x"
    setup = run.suites["experiment"].setup
    assert setup is not None
    assert setup.evaluation == "experiment"
    (problem,) = run.suites["experiment"].errors
    assert (problem.type, problem.message, problem.traceback) == ("EvaluatorFailed", "broken", "at y")
    several = load(
        "pydantic-evals", pydantic_evals({"name": "a", "inputs": 1}, dataset_name="set"), alone=False, name="r.json"
    )
    assert list(several.suites) == ["r / set / experiment"]
    for lost in ("name", "cases", "failures"):
        with pytest.raises(ImportFailed, match="it lacks one of name, cases, failures"):
            load("pydantic-evals", {name: value for name, value in pydantic_evals().items() if name != lost})


def test_names_of_pydantic_evals_that_are_positions_show_their_input() -> None:
    run = load(
        "pydantic-evals",
        pydantic_evals(
            {"name": "Case 1", "inputs": "q"},
            {"name": "", "inputs": "r"},
            {"name": "own", "inputs": "s"},
            {"name": "x", "source_case_name": "x", "inputs": "t"},
        ),
    )
    assert [case.name for case in run.cases] == ["Case 1: q", "r", "own", "x"]
    assert [case.repeat for case in run.cases] == [0] * 4
