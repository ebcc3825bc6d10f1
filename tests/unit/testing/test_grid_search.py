"""A grid search runs the suite once for each combination, and code can read its combination."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import PASS, AsyncJudge, Case, Judge, echo, passing, read_events, run

from scoregate.kernel.types.events import SuiteFinished, SuiteStarted
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.testing.models import Evaluation
from scoregate.testing.run import grid_search_ctx

GRID = {"model": ["small", "large"], "temperature": [0, 1]}
COMBINATIONS = [{"model": m, "temperature": t} for m in ("small", "large") for t in (0, 1)]
ONE = [Case("a")]


def outputs(result: SuiteResult) -> list[Any]:
    return [case.output for variant in result.variants for case in variant.cases]


async def context_later(_case: Case) -> Any:
    await asyncio.sleep(0.001)
    return grid_search_ctx()


@pytest.mark.parametrize("fn", [lambda _: grid_search_ctx(), context_later], ids=["in a thread", "in the loop"])
def test_fn_sees_its_combination(fn: Any) -> None:
    assert outputs(run(fn, [], ONE, grid_search_params=GRID)) == COMBINATIONS


@pytest.mark.parametrize("kind", [Judge, AsyncJudge])
def test_evaluators_and_hook_see_it(kind: type[Judge]) -> None:
    seen: list[tuple[Any, Any, Any]] = []

    def score(_case: Case, output: Any, hook_results: Any) -> Evaluation:
        seen.append((output, hook_results, grid_search_ctx()))
        return PASS

    async def score_later(_case: Case, output: Any, hook_results: Any) -> Evaluation:
        return score(_case, output, hook_results)

    judge = kind(score if kind is Judge else score_later)
    run(context_later, [judge], ONE, before_evaluators_hook=lambda *_: grid_search_ctx(), grid_search_params=GRID)
    assert len(seen) == 4
    assert all(output == hook == here for output, hook, here in seen)


def test_no_combination_exists_outside_a_grid_search() -> None:
    (case,) = run(lambda _: grid_search_ctx(), [], ONE).cases
    assert case.output is None
    assert grid_search_ctx() is None


def test_none_remains_after_one() -> None:
    run(echo, [], ONE, grid_search_params=GRID)
    assert grid_search_ctx() is None


def test_each_combination_has_its_own_result() -> None:
    result = run(echo, [Judge(passing)], [Case("a"), Case("b")], grid_search_params=GRID)
    assert [variant.params for variant in result.variants] == COMBINATIONS
    assert [variant.label for variant in result.variants] == [
        "demo [model=small, temperature=0]",
        "demo [model=small, temperature=1]",
        "demo [model=large, temperature=0]",
        "demo [model=large, temperature=1]",
    ]
    assert all(variant.complete and len(variant.columns) == 2 for variant in result.variants)
    assert result.passed


def test_it_fails_when_one_combination_does() -> None:
    def score(*_: Any) -> Evaluation:
        assert grid_search_ctx() != COMBINATIONS[2], "this one"
        return PASS

    result = run(echo, [Judge(score)], ONE, grid_search_params=GRID)
    assert [variant.passed for variant in result.variants] == [True, True, False, True]
    assert not result.passed


def test_each_combination_has_its_own_log(events: Path) -> None:
    run(echo, [], ONE, grid_search_params=GRID)
    started = [event.params for event in read_events(events) if isinstance(event, SuiteStarted)]
    assert sorted(started, key=str) == sorted(COMBINATIONS, key=str)
    assert sum(isinstance(event, SuiteFinished) for event in read_events(events)) == 4


def test_values_without_json_reach_fn_unchanged() -> None:
    class Client:
        def __init__(self, name: str) -> None:
            self.name = name

    clients = [Client("x"), Client("y")]
    result = run(lambda _: (grid_search_ctx() or {})["client"].name, [], ONE, grid_search_params={"client": clients})
    assert outputs(result) == ["x", "y"]
    assert len({variant.label for variant in result.variants}) == 2


@pytest.mark.parametrize(
    "params", [{}, [], "model", 5, {"model": []}, {"model": "small"}, {1: [2]}, {"model": 5}], ids=repr
)
def test_an_invalid_grid_is_reported_and_ignored(params: Any) -> None:
    result = run(echo, [Judge(passing)], ONE, grid_search_params=params)
    assert [error.message for error in result.errors if "suite 'demo': grid_search_params" in error.message]
    assert len(result.columns) == 1
    assert not result.passed
