"""The evaluators that come with the SDK."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from tests.unit.testing.builders import Case, only, run

from scoregate.testing import evaluators
from scoregate.testing.evaluators import BaseAssertions, BaseHasAllSubstrings, BaseIsEquals, BaseIsValidJSON
from scoregate.testing.models import Assertion, Evaluation, Threshold

CASE = Case("input", "expected")


class IsEquals(BaseIsEquals[Case, Any]):
    id = "is-equals"

    def test_case_mapper(self, test_case: Case) -> str:
        return test_case.expected

    def output_mapper(self, output: Any) -> str:
        return str(output)


class IsValidJSON(BaseIsValidJSON[Case, Any]):
    id = "is-valid-json"

    def output_mapper(self, output: Any) -> str:
        return output  # type: ignore[no-any-return]


class HasAllSubstrings(BaseHasAllSubstrings[Case, str]):
    id = "has-all-substrings"

    def test_case_mapper(self, test_case: Case) -> list[str]:
        return test_case.expected.split()

    def output_mapper(self, output: str) -> str:
        return output


class Rubric(BaseAssertions[Case, Any]):
    id = "rubric"

    def evaluate_assertions(self, test_case: Case, output: Any) -> Any:  # noqa: ARG002
        return output


@pytest.mark.parametrize(
    ("output", "score"), [("expected", 1), ("Expected", 0), ("expected ", 0), ("", 0), ("éxpected", 0)]
)
def test_equality_is_exact(output: str, score: int) -> None:
    evaluation = IsEquals().evaluate_test_case(CASE, output)
    assert (evaluation.score, evaluation.passed, evaluation.threshold) == (score, score == 1, Threshold(gte=1))
    assert evaluation.metadata == (None if score else {"expected_output": "expected", "actual_output": output})


@pytest.mark.parametrize("text", ["{}", "[]", '"a"', "1", "null", " {} ", '{"a": [1, 2]}', '"\\ud83d"', "-0.5e3"])
def test_json_is_valid(text: str) -> None:
    evaluation = IsValidJSON().evaluate_test_case(CASE, text)
    assert (evaluation.score, evaluation.passed, evaluation.metadata) == (1, True, None)


@pytest.mark.parametrize(
    "text", ["", "{", "{'a': 1}", "hello", "NaN", "[Infinity]", "-Infinity", "[1,]", "{} x", "[" * 100_000, "\ufeff{}"]
)
def test_json_is_not_valid(text: str) -> None:
    if len(text) > 100:
        gc.collect()  # a finalizer that runs at the limit of the recursion would fail
    evaluation = IsValidJSON().evaluate_test_case(CASE, text)
    assert (evaluation.score, evaluation.passed) == (0, False)
    assert evaluation.metadata
    assert evaluation.metadata["error"]


@pytest.mark.parametrize("output", [None, 5, {"a": 1}], ids=repr)
def test_other_types_are_no_json(output: Any) -> None:
    assert IsValidJSON().evaluate_test_case(CASE, output).score == 0


@pytest.mark.parametrize(
    ("expected", "output", "missing"),
    [
        ("hello world", "hello big world", []),
        ("hello world", "hello", ["world"]),
        ("Hello", "hello", ["Hello"]),
        ("a b", "", ["a", "b"]),
        ("", "anything", []),
    ],
)
def test_all_substrings_match(expected: str, output: str, missing: list[str]) -> None:
    evaluation = HasAllSubstrings().evaluate_test_case(Case("x", expected), output)
    assert (evaluation.score, evaluation.threshold) == (0 if missing else 1, Threshold(gte=1))
    assert evaluation.metadata == {"missing_substrings": missing}


def assertion(passed: bool, required: bool = True) -> Assertion:
    return Assertion("criterion", passed, required)


@pytest.mark.parametrize(
    ("assertions", "score"),
    [
        ([assertion(True)], 1),
        ([assertion(True), assertion(False)], 0),
        ([assertion(True), assertion(False, required=False)], 1),
        ([assertion(False, required=False)], 1),
        ((assertion(False),), 0),
    ],
)
def test_required_assertions_decide(assertions: Any, score: int) -> None:
    evaluation = Rubric().evaluate_test_case(CASE, assertions)
    assert isinstance(evaluation, Evaluation)
    assert (evaluation.score, evaluation.threshold, evaluation.assertions) == (
        score,
        Threshold(gte=1),
        tuple(assertions),
    )


@pytest.mark.parametrize("nothing", [None, [], ()], ids=repr)
def test_without_assertions_there_is_no_evaluation(nothing: Any) -> None:
    assert Rubric().evaluate_test_case(CASE, nothing) is None

    async def later() -> Any:
        return nothing

    assert asyncio.run(Rubric().evaluate_test_case(CASE, later())) is None  # type: ignore[arg-type]


def test_assertions_are_recorded_one_by_one() -> None:
    given = [Assertion("polite", True, True), Assertion("short", False, False, {"words": 90})]
    case = only(run(lambda _: [], [type("Fixed", (Rubric,), {"evaluate_assertions": lambda *_: given})()], [CASE]))
    assert case.evaluations["rubric"].assertions == tuple(given)


@pytest.mark.parametrize("name", ["IsEquals", "IsValidJSON", "HasAllSubstrings", "Assertions"])
def test_each_has_two_names(name: str) -> None:
    assert getattr(evaluators, name) is getattr(evaluators, f"Base{name}")


@pytest.mark.parametrize(
    ("base", "missing"),
    [
        (BaseIsEquals, "id.*output_mapper.*test_case_mapper"),
        (BaseIsValidJSON, "id.*output_mapper"),
        (BaseHasAllSubstrings, "id.*output_mapper.*test_case_mapper"),
        (BaseAssertions, "evaluate_assertions.*id"),
    ],
)
def test_missing_methods_are_named(base: Any, missing: str) -> None:
    with pytest.raises(TypeError, match=missing):
        type("Unfinished", (base,), {})()


def test_a_mapper_that_raises_is_an_error_of_its_evaluation() -> None:
    class Broken(IsEquals):
        def output_mapper(self, output: Any) -> str:
            return output["text"]  # type: ignore[no-any-return]

    (error,) = only(run(lambda _: "no dict", [Broken()], [CASE])).errors
    assert (error.evaluator, error.error.type) == ("is-equals", "TypeError")
