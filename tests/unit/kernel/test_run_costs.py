"""What a run paid, if a part of its results is of another run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.kernel.builders import ExampleSuite, mark_source, run_of, scored

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.run import Run, Script, sum_costs, sum_tokens

SOURCE = CarriedFrom("1", "main")


def make_run(**source: CarriedFrom) -> Run:
    """A run with three cases of $1.00 and 10 tokens, the second of them reused, and a call of no suite for $2.50."""
    run = run_of(
        ExampleSuite(scored(1.0, 1.0, 1.0), script="a.py"),
        scripts=[Script("a.py", exit_code=0, usage=Usage(5, 0, cost=2.5))],
    )
    (suite,) = run.suites
    costs, tokens = suite.columns.costs, suite.columns.tokens
    columns = replace(suite.columns, costs=type(costs)("d", [1.0] * 3), tokens=type(tokens)("d", [10.0] * 3))
    return replace(run, suites=(mark_source(suite.with_columns(columns), {1}, **source),))


@pytest.mark.parametrize(
    ("run", "cost", "tokens"),
    [(make_run(), 5.5, 35), (make_run(kept=SOURCE), 4.5, 25), (make_run(carried=SOURCE), None, None)],
)
def test_a_run_pays_for_what_it_started(run: Run, cost: float | None, tokens: float | None) -> None:
    assert (sum_costs(run), sum_tokens(run)) == (cost, tokens)


@pytest.mark.parametrize("origin", ["carried", "kept"])
def test_a_suite_costs_what_its_results_have_cost(origin: str) -> None:
    (suite,) = make_run(**{origin: SOURCE}).suites
    assert (suite.cost, suite.tokens) == (3, 30)
