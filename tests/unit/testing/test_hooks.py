"""The hook runs between fn and the evaluators; evaluators get its result, unless it is None."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.unit.testing.builders import PASS, AsyncJudge, Case, Judge, by_hash, echo, only, outcomes, passing, run

from scoregate.testing.models import BaseTestEvaluator, Evaluation

ONE = [Case("a")]


@pytest.mark.parametrize("kind", [Judge, AsyncJudge])
@pytest.mark.parametrize("results", [{"length": 1}, 0, False, "", []], ids=repr)
def test_hook_results_reach_every_evaluator(kind: type[Judge], results: Any) -> None:
    seen: list[dict[str, Any]] = []

    def keep(_case: Case, _output: str, **kwargs: Any) -> Evaluation:
        seen.append(kwargs)
        return PASS

    async def keep_later(_case: Case, _output: str, **kwargs: Any) -> Evaluation:
        return keep(_case, _output, **kwargs)

    score = keep if kind is Judge else keep_later
    run(echo, [kind(score, "one"), kind(score, "two")], ONE, before_evaluators_hook=lambda *_: results)
    assert seen == [{"hook_results": results}, {"hook_results": results}]


def test_a_hook_that_returns_none_leaves_evaluators_without_hook_results() -> None:
    class Strict(BaseTestEvaluator[Case, str]):
        id = "strict"

        def evaluate_test_case(self, test_case: Case, output: str) -> Evaluation:  # noqa: ARG002
            return PASS

    assert run(echo, [Strict()], ONE, before_evaluators_hook=lambda *_: None).passed


def test_the_hook_gets_the_case_and_its_output() -> None:
    seen: list[tuple[str, str]] = []
    run(lambda c: c.input * 2, [], ONE, before_evaluators_hook=lambda c, output: seen.append((c.input, output)))
    assert seen == [("a", "aa")]


def test_the_hook_runs_once_per_case() -> None:
    calls: list[str] = []
    judges = [Judge(passing, name) for name in "xyz"]
    run(echo, judges, [Case("a"), Case("b")], before_evaluators_hook=lambda c, _: calls.append(c.input))
    assert sorted(calls) == ["a", "b"]


def test_a_hook_that_raises_ends_its_own_case_only() -> None:
    def hook(test_case: Case, _output: str) -> None:
        if test_case.input == "b":
            raise LookupError("no embedding")

    result = run(echo, [Judge(passing)], before_evaluators_hook=hook)
    assert outcomes(result) == {"a": "passed", "b": "errored", "c": "passed"}
    (error,) = by_hash(result)["b"].errors
    assert (error.evaluator, error.error.type, error.error.message) == (None, "LookupError", "no embedding")


def test_the_duration_of_fn_excludes_the_hook() -> None:
    started, hook_started = time.perf_counter(), 0.0

    def hook(*_: Any) -> None:
        nonlocal hook_started
        hook_started = time.perf_counter()
        time.sleep(0.3)

    def fn(test_case: Case) -> str:
        time.sleep(0.02)
        return test_case.input

    case = only(run(fn, [], ONE, before_evaluators_hook=hook))
    assert case.duration_ms is not None
    assert 0.02 <= case.duration_ms / 1_000 <= hook_started - started


def test_an_evaluator_without_hook_results_has_an_error() -> None:
    class Narrow(BaseTestEvaluator[Case, str]):
        id = "narrow"

        def evaluate_test_case(self, test_case: Case, output: str) -> Evaluation:  # noqa: ARG002
            return PASS

    case = only(run(echo, [Narrow(), Judge(passing)], ONE, before_evaluators_hook=lambda *_: 1))
    assert [error.evaluator for error in case.errors] == ["narrow"]
    assert "hook_results" in case.errors[0].error.message
    assert case.evaluations["judge"] == PASS
