"""Imported results keep the verdicts of their framework: which limit a metric has, and why a log is incomplete."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from scoregate.features.imports.reader import Reader
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import SuiteResult


def import_document(form: str, document: Any) -> tuple[list[CaseResult], SuiteResult]:
    fold, file = RunReducer(), io.BytesIO(json.dumps(document).encode())
    events = Reader(lambda line: line)(form, file, name="results", alone=True)
    cases = [case for event in events if (case := fold.apply("results", None, event)) is not None]
    cases += fold.close()
    (suite,) = fold.results()
    return cases, suite


def make_part(score: float, passed: bool | None, metric: str | None = None, **assertion: Any) -> dict[str, Any]:
    """The result of one assertion of promptfoo."""
    return {
        "pass": passed,
        "score": score,
        "reason": "",
        "assertion": {"type": "similar", "metric": metric, **assertion},
    }


def grade(*parts: dict[str, Any], success: bool = True, **named_scores: float) -> dict[str, Evaluation]:
    """The evaluations of one row of promptfoo."""
    grading = {"pass": success, "componentResults": list(parts), "namedScores": named_scores}
    row = {"testIdx": 0, "promptIdx": 0, "vars": {}, "testCase": {}, "success": success, "response": {"output": "a"}}
    document = {"config": {}, "results": {"results": [{**row, "gradingResult": grading}]}}
    (case,), _ = import_document("promptfoo", document)
    assert case.status is (Status.PASSED if success else Status.FAILED)
    return case.evaluations


@pytest.mark.parametrize(
    ("parts", "threshold"),
    [
        ([make_part(0.7, True, "quality", threshold=0.5)], Threshold(gte=0.5)),
        ([make_part(0.7, True, "quality", threshold=0.5), make_part(0.7, True, "quality", threshold=0.6)], None),
        ([make_part(0.7, True, "other", threshold=0.5)], None),
        (
            [make_part(0.7, True, "quality", threshold=0.5), make_part(0.7, True, "other", threshold=0.6)],
            Threshold(gte=0.5),
        ),
        ([], None),
        ([make_part(0.7, True, "quality", threshold=900, type="latency")], None),
    ],
    ids=["one", "two", "none of it", "one of it", "none", "in milliseconds"],
)
def test_a_metric_has_the_limit_of_its_only_assertion(parts: list[dict[str, Any]], threshold: Threshold | None) -> None:
    found = grade(make_part(1.0, True), *parts, quality=0.7)
    assert (found["quality"].score, found["quality"].threshold) == (0.7, threshold)


@pytest.mark.parametrize(
    ("met", "success", "threshold"),
    [
        (True, True, Threshold(gte=0.5)),
        (False, True, None),
        (True, False, Threshold(gte=0.5)),
        (False, False, Threshold(lte=0.5)),
        (None, False, None),
        (None, True, None),
    ],
)
def test_a_failed_metric_of_a_case_that_passed_has_no_verdict(
    met: bool | None, success: bool, threshold: Threshold | None
) -> None:
    found = grade(make_part(0.7, met, "quality", threshold=0.5), success=success, quality=0.7)["quality"]
    assert found.threshold == threshold
    assert found.metadata == (None if met is None else {"passed": met})


def test_a_metric_of_several_assertions_is_met_if_all_are() -> None:
    parts = [make_part(1.0, met, "quality") for met in (True, False)]
    assert grade(*parts, success=False, quality=0.5)["quality"].metadata == {"passed": False}
    assert grade(parts[0], parts[0], quality=1.0)["quality"].metadata == {"passed": True}
    unknown = make_part(1.0, None, "quality")
    assert grade(parts[0], unknown, quality=1.0)["quality"].threshold is None


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ({"status": "success"}, None),
        ({"status": "error"}, ("Incomplete", "the status of the eval is error, not success")),
        ({"status": "error", "error": {"message": "the key is wrong"}}, ("EvalError", "the key is wrong")),
        ({"status": "success", "error": {"message": "an old one"}}, None),
        ({"status": ""}, ("Incomplete", "the status of the eval is not finished, not success")),
    ],
)
def test_a_log_of_inspect_says_why_it_is_incomplete(header: dict[str, Any], problem: tuple[str, str] | None) -> None:
    sample = {"id": "s", "epoch": 1, "input": "q", "scores": {"match": {"value": 1}}}
    _, suite = import_document("inspect", {**header, "eval": {"task": "t"}, "samples": [sample]})
    assert suite.complete is (problem is None)
    assert [(error.type, error.message) for error in suite.errors] == ([] if problem is None else [problem])
