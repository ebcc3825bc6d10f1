"""Reports of pydantic-evals: assertions, scores, labels, failures, repeats."""

from __future__ import annotations

import pytest
from tests.features.imports.files import imported_file, raw

from scoregate.kernel.types.runs.cases import Status

FILES = ("pydantic-evals.json", "pydantic-evals-once.json")


@pytest.mark.parametrize("name", FILES)
def test_every_score_and_assertion_is_kept(name: str) -> None:
    report, case_read = raw(name), imported_file(name).cases
    assert len(case_read) == len(report["cases"]) + len(report["failures"])
    for case, found in zip(report["cases"], case_read, strict=False):
        for assertion in case["assertions"].values():
            own = found.evaluations[assertion["name"]]
            assert (own.score, own.passed) == (float(assertion["value"]), assertion["value"])
        assert found.evaluations.get("closeness") is None or (
            found.evaluations["closeness"].score == case["scores"]["closeness"]["value"]
        )
        if "stars" in case["scores"]:
            assert found.evaluations["stars"].score == (case["scores"]["stars"]["value"] - 1) / 4
        assert found.output == case["output"]
        assert found.duration_ms == pytest.approx(case["task_duration"] * 1000)


def test_runs_of_a_case_are_repeats_of_it() -> None:
    imported_run = imported_file("pydantic-evals.json")
    assert sorted(case.repeat for case in imported_run.cases if case.hash == "france") == [0, 1, 2]
    assert {case.repeat for case in imported_file("pydantic-evals-once.json").cases} == {0}
    assert list(imported_run.suites) == ["capitals"]
    assert list(imported_file("pydantic-evals.json", alone=False).suites) == ["pydantic-evals / capitals / answer"]


def test_a_case_is_the_same_with_and_without_repeats() -> None:
    many, once = (imported_file(name) for name in FILES)
    assert {case.hash for case in many.cases} == {case.hash for case in once.cases}
    assert not any(case.hash.startswith("Case ") for case in once.cases)


def test_failed_tasks_and_evaluators_are_errors() -> None:
    imported_run = imported_file("pydantic-evals-once.json")
    assert imported_run.case("nowhere").errors[0].error.message.endswith("the tool is gone")
    (error,) = imported_run.case("peru").errors
    assert (error.evaluator, imported_run.case("peru").status) == ("Judge", Status.ERRORED)


def test_reasons_labels_and_usage_are_kept() -> None:
    case = imported_file("pydantic-evals-once.json").case("france")
    metadata = case.evaluations["correct"].metadata
    assert metadata["reason"] == "Paris for Paris"
    assert metadata["labels"] == {"tone": "dry"}
    assert case.usage is not None
    assert (case.usage.input_tokens, case.usage.output_tokens, case.usage.cost) == (7, 2, 0.0005)
