"""Reports of test runners and benchmarks: CTRF, Vitest's JSON, lm-evaluation-harness, skill tools."""

from __future__ import annotations

import json

import pytest
from tests.features.imports.files import DATA, Imported, imported, imported_file, raw

from scoregate.errors import ImportFailed


def verdicts(imported_run: Imported) -> dict[str, list[bool | None]]:
    """The verdicts of the trials of each case."""
    result: dict[str, list[bool | None]] = {}
    for case in imported_run.cases:
        own = case.evaluations.get("passed")
        result.setdefault(case.hash, []).append(own and own.passed)
    return result


def test_attempts_in_ctrf_are_trials() -> None:
    imported_run = imported_file("ctrf-pytest.json")
    assert list(imported_run.suites) == ["test_capitals.py"]
    assert verdicts(imported_run) == {
        "test_capitals.py::test_capital[France-Paris]": [True],
        "test_capitals.py::test_capital[Peru-Lima]": [False, False, False],
        "test_capitals.py::test_second_try": [False, True],
        "test_capitals.py::test_later": [None],
    }
    peru = imported_run.case("test_capitals.py::test_capital[Peru-Lima]")
    assert peru.input == {"country": "Peru", "capital": "Lima"}
    assert "assert 'Quito' == 'Lima'" in peru.evaluations["passed"].metadata["reason"]


def test_older_ctrf_without_attempts_has_a_failed_trial_of_a_flaky_test() -> None:
    imported_run = imported_file("ctrf-jest.json")
    assert list(imported_run.suites) == ["capitals.test.js > capitals"]
    assert verdicts(imported_run) == {
        "capitals France": [True],
        "capitals Peru": [False],
        "capitals second try": [False, True],
        "capitals later": [None],
    }


def ctrf(*tests: dict[str, object], count: int | None = None) -> str:
    summary = {"tests": len(tests) if count is None else count}
    return json.dumps({"results": {"tool": {"name": "t"}, "summary": summary, "tests": tests}})


def test_ctrf_scores_and_statuses() -> None:
    scored = {"name": "a", "status": "passed", "duration": 5, "extra": {"scores": {"close": 0.5, "bad": "x"}}}
    imported_run = imported("ctrf", ctrf(scored, {"name": "b", "status": "other"}, {"name": "c", "status": "new"}))
    a, b, c = imported_run.cases
    assert (a.evaluations["close"].score, a.duration_ms) == (0.5, 5)
    assert [error.evaluator for error in a.errors] == ["bad"]
    assert b.errors[0].error.message == "its status is 'other'"
    assert {error.error.message for error in c.errors} == {"its status is 'new'"}
    with pytest.raises(ImportFailed, match="3 tests are counted, 1 listed"):
        imported("ctrf", ctrf(scored, count=3))
    contradicting = json.loads(ctrf(scored))
    contradicting["results"]["summary"]["failed"] = 1
    with pytest.raises(ImportFailed, match="1 failed tests are counted, 0 listed"):
        imported("ctrf", json.dumps(contradicting))
    with pytest.raises(ImportFailed, match="a test has no name"):
        imported("ctrf", ctrf({"status": "passed"}))


def test_scores_of_vitest_evals_are_kept() -> None:
    imported_run = imported_file("vitest-evals.json")
    assert list(imported_run.suites) == ["capitals", "plain"]
    assert verdicts(imported_run) == {
        "'France'": [True],
        "'Peru'": [False],
        "second try": [False, True],
        "later": [None],
    }
    peru = imported_run.case("'Peru'")
    assert (peru.input, peru.output) == ("Capital of Peru?", "lima city")
    assert (peru.evaluations["Short"].score, peru.evaluations["Short"].metadata["reason"]) == (0.4, "9 characters")
    assert peru.usage is not None
    assert (peru.usage.input_tokens, peru.usage.output_tokens) == (5, 2)
    assert peru.evaluations["passed"].metadata["reason"].startswith("AssertionError: Score: 0.40 below threshold")


def test_a_vitest_file_that_fails_is_never_green() -> None:
    report = raw("vitest-evals.json")
    report["testResults"].append(
        {"name": "/project/b.test.ts", "status": "failed", "message": "no package", "assertionResults": []}
    )
    imported_run = imported("vitest", json.dumps(report))
    (problem,) = imported_run.suites["b.test.ts (file)"].errors
    assert problem.message == "b.test.ts failed: no package"
    report["numTotalTests"] += 1
    with pytest.raises(ImportFailed, match="it counts 5 and lists 4"):
        imported("vitest", json.dumps(report))


def test_a_vitest_file_that_fails_without_a_failed_test_is_never_green() -> None:
    """As when `afterAll` of a `describe` throws."""
    test = {"ancestorTitles": ["hours"], "title": "opens", "status": "passed", "failureMessages": []}
    file = {"name": "/p/a.test.ts", "status": "failed", "message": "", "assertionResults": [test]}
    report = {"numTotalTests": 1, "testResults": [file]}
    (problem,) = imported("vitest", json.dumps(report)).suites["a.test.ts (file)"].errors
    assert "a.test.ts failed: no test of it did" in problem.message
    test["status"] = "failed"
    assert list(imported("vitest", json.dumps(report)).suites) == ["hours"]
    file["message"] = "no package"
    assert list(imported("vitest", json.dumps(report)).suites) == ["hours", "a.test.ts (file)"]
    report["numRuntimeErrorTestSuites"] = 0
    assert list(imported("vitest", json.dumps(report)).suites) == ["hours"], "Jest's message is that of the test"


def test_a_vitest_file_names_its_test_files_by_their_last_part() -> None:
    for path, name in (("C:\\p\\a.test.ts", "a.test.ts"), ("/p/b.test.ts", "b.test.ts"), ("", "unnamed")):
        test = {"ancestorTitles": ["hours"], "title": "opens", "status": "passed", "failureMessages": []}
        file = {"name": path, "status": "failed", "message": "no package", "assertionResults": [test]}
        report = {"numTotalTests": 1, "testResults": [file]}
        assert list(imported("vitest", json.dumps(report)).suites) == ["hours", f"{name} (file)"]
    for lost in ("numTotalTests", "testResults"):
        with pytest.raises(ImportFailed, match="it lacks one of numTotalTests, testResults"):
            imported("vitest", json.dumps({key: value for key, value in report.items() if key != lost}))


def test_suites_of_one_name_in_two_vitest_files_differ() -> None:
    test = {"ancestorTitles": ["hours"], "title": "opens", "status": "passed", "failureMessages": []}
    files = [{"name": f"/p/{name}.test.ts", "status": "passed", "assertionResults": [test]} for name in "ab"]
    imported_run = imported("vitest", json.dumps({"numTotalTests": 2, "testResults": files}))
    assert list(imported_run.suites) == ["a.test.ts > hours", "b.test.ts > hours"]


def test_filters_of_lm_eval_are_scores_of_one_case() -> None:
    imported_run = imported_file("lm-eval.jsonl")
    assert list(imported_run.suites) == ["lm-eval"]
    scores = [{name: each.score for name, each in case.evaluations.items()} for case in imported_run.cases]
    assert scores == [{"exact_match,strict": s, "exact_match,letters": s} for s in (1, 0, 0)]
    assert imported_run.cases[1].input == "Q: Capital of Peru?\nA:"
    assert imported_run.cases[1].output == "lol"


def test_tests_of_one_name_with_other_inputs_are_other_cases() -> None:
    state = {"passed": True, "failed": False}
    rows = [("long " * 40 + "one", "passed"), ("long " * 40 + "two", "failed"), ("long " * 40 + "one", "failed")]
    vitest = {
        "numTotalTests": 3,
        "testResults": [
            {
                "name": "a.test.ts",
                "assertionResults": [
                    {"title": "answers", "status": status, "meta": {"eval": {"input": value}}} for value, status in rows
                ],
            }
        ],
    }
    tests = [{"name": "answers", "status": status, "parameters": {"q": value}} for value, status in rows]
    for form, document in (("vitest", vitest), ("ctrf", {"results": {"tool": {"name": "t"}, "tests": tests}})):
        one, two, second = imported(form, json.dumps(document)).cases
        assert (one.hash, one.repeat, second.repeat, two.repeat) == (second.hash, 0, 1, 0), form
        assert one.hash != two.hash, form
        assert [case.evaluations["passed"].passed for case in (one, two, second)] == [state[each] for _, each in rows]


def test_verdicts_of_lm_eval_are_scores_and_pairs_of_numbers_are_errors() -> None:
    row = {"doc_id": 0, "doc": {"q": 1}, "target": "", "resps": [["a"]], "metrics": ["strict", "each", "perplexity"]}
    imported_run = imported(
        "lm-eval", json.dumps(row | {"strict": True, "each": [True, False], "perplexity": [-12.5, 3]})
    )
    (case,) = imported_run.cases
    assert {name: each.score for name, each in case.evaluations.items()} == {"strict": 1.0, "each": 0.5}
    assert [each.error.message for each in case.errors] == [
        "perplexity is [-12.5,3], which is not a number, true or false"
    ]


def test_a_task_of_lm_eval_is_named_by_its_file_without_the_date() -> None:
    data = (DATA / "lm-eval.jsonl").read_bytes()
    name = "out/m/samples_capitals_easy_2026-11-23T22-50-24.091561.jsonl"
    imported_run = imported("lm-eval", data, name=name, alone=False)
    assert list(imported_run.suites) == ["capitals_easy"]
    before = {case.hash for case in imported_run.cases}
    first, *others = [json.loads(line) for line in data.splitlines()]
    moved = [row | {"doc_id": row["doc_id"] + 1} for row in (first, *others)]
    new = [row | {"doc_id": 0, "doc": {"question": "new?"}, "arguments": {}} for row in moved if row["doc_id"] == 1]
    more = "".join(json.dumps(row) + "\n" for row in (*new, *moved))
    after = imported("lm-eval", more, name=name).cases
    assert before < {case.hash for case in after}
    assert len(after) == 4


def test_each_configuration_of_a_skill_benchmark_is_a_suite() -> None:
    imported_run = imported_file("skill-benchmark.json")
    assert list(imported_run.suites) == ["pdf [with_skill]", "pdf [without_skill]"]
    rates = [case.evaluations["pass_rate"].score for case in imported_run.cases]
    assert rates == [1, 1, 0.5, 0.5, 0.5, 0.5, 0, 0]
    (second,) = [c for c in imported_run.cases if (c.hash, c.repeat, c.suite) == ("eval 2", 1, 0)]
    assert second.evaluations["expectation: The table has a sum"].passed is False
    assert second.duration_ms == 12_500


def test_the_grading_of_one_run_is_a_case_named_by_its_folders() -> None:
    data = (DATA / "skill-grading.json").read_bytes()
    imported_run = imported("skill-benchmark", data, name="runs/eval-2/with_skill/run-1/grading.json")
    (case,) = imported_run.cases
    assert case.hash == "eval-2/with_skill/run-1"
    assert case.evaluations["expectation: The output is a PDF file"].metadata["reason"] == "seen in run 1"
    with pytest.raises(ImportFailed, match="no `configuration` or no `eval_id`"):
        imported("skill-benchmark", json.dumps({"runs": [{"eval_id": 1}]}))


def test_evalite_keeps_trials_variants_and_errors() -> None:
    imported_run = imported_file("evalite.json")
    assert set(imported_run.suites) == {"capitals", "variants [a]", "variants [b]"}
    trials = {(case.name, case.repeat): case for case in imported_run.cases if len(case.evaluations) == 2}
    assert set(trials) == {(f"Capital of {country}?", repeat) for country in ("France", "Peru") for repeat in (0, 1)}
    peru = trials["Capital of Peru?", 1]
    assert {name: each.score for name, each in peru.evaluations.items()} == {"exact": 0, "brief": 0.95}
    assert (peru.output, peru.usage.input_tokens, peru.usage.output_tokens) == ("Quito", 5, 2)
    errors = {
        case.name: case.errors[0].error.message for case in imported_run.cases if case.errors and case.repeat == 1
    }
    assert errors == {"Capital of Atlantis?": "unknown country", "Capital of Spain?": "no score"}
    assert all(case.output is None for case in imported_run.cases if case.errors)


def test_unfinished_or_other_evalite_files_are_not_green() -> None:
    with pytest.raises(ImportFailed, match="lacks one of run, evals"):
        imported("evalite", '{"evals": []}')
    with pytest.raises(ImportFailed, match="eval 1 lacks its name or its results"):
        imported("evalite", '{"run": {}, "evals": [{"name": "a"}]}')
    document = raw("evalite.json")
    with pytest.raises(ImportFailed, match="two evals have the name"):
        imported("evalite", json.dumps({**document, "evals": document["evals"] * 2}))
    results = [{"input": 1, "status": "running", "scores": []}, {"input": 2, "status": "success", "scores": [{}]}, {}]
    imported_run = imported("evalite", json.dumps({"run": {}, "evals": [{"name": "a", "results": results}]}))
    assert [case.errors[0].error.message for case in imported_run.cases] == [
        "its status is 'running'",
        "it returned no score",
        "its status is ''",
    ]
    # The status of the eval counts, too, and so do results without scores next to others with scores.
    scored = {"input": 1, "status": "success", "scores": [{"name": "a", "score": 1}]}
    for status, has_error in (("running", True), ("fail", True), ("success", False)):
        imported_run = imported(
            "evalite", json.dumps({"run": {}, "evals": [{"name": "a", "status": status, "results": [scored]}]})
        )
        assert bool(imported_run.suites["a"].errors) is has_error
    results = [scored, {**scored, "input": 2, "scores": []}]
    imported_run = imported("evalite", json.dumps({"run": {}, "evals": [{"name": "a", "results": results}]}))
    assert [len(case.errors) for case in imported_run.cases] == [0, 1]
