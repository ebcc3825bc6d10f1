"""Absolute limits in reports: a value is never rounded across its limit, and a partial cost never passes."""

from __future__ import annotations

from array import array

import pytest
from tests.unit.kernel.builders import ExampleSuite, compared, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy
from scoregate.kernel.types.usage import sum_usage


def cost(dollars: float, limit: float, *unpriced: str) -> Finding:
    run = run_of(ExampleSuite({"c": {"e": 1.0}}))
    run.suites[0].columns.costs[:] = array("d", [dollars])
    run.suites[0].columns.unpriced.update(unpriced)
    found = evaluate_gates(compare(run, None), Policy(Limits(max_cost=limit))).findings
    return next(one for one in found if one.rule == "cost")


@pytest.mark.parametrize(
    ("dollars", "limit", "unpriced", "conclusion", "value", "bound"),
    [
        (1.5, 2.0, (), Conclusion.PASSED, "$1.50", "≤ $2.00"),
        (0.0027, 0.0001, (), Conclusion.FAILED, "$0.0027", "≤ $0.0001"),
        (1.5, 2.0, ("m",), Conclusion.UNMEASURABLE, "at least $1.50, as no price is known of m", "≤ $2.00"),
        (2.5, 2.0, ("m",), Conclusion.FAILED, "at least $2.50, as no price is known of m", "≤ $2.00"),
        (float("nan"), 2.0, ("m",), Conclusion.UNMEASURABLE, "unknown", "≤ $2.00"),
    ],
)
def test_a_cost_has_a_limit(
    dollars: float, limit: float, unpriced: tuple[str, ...], conclusion: Conclusion, value: str, bound: str
) -> None:
    cost_row = cost(dollars, limit, *unpriced)
    assert (cost_row.conclusion, cost_row.value, cost_row.limit) == (conclusion, value, bound)


@pytest.mark.parametrize(
    ("usage", "models"),
    [
        (Usage(5, 5, model="m"), {"m"}),
        (Usage(5, 5), {"a model"}),
        (Usage(5, 5, cost=0.0, model="m"), set()),
        (Usage(model="m", cached=True), set()),
        (sum_usage([Usage(5, 5, cost=0.1, model="a"), Usage(5, model="m")]), {"m"}),
    ],
)
def test_models_without_price_are_named(usage: Usage, models: set[str]) -> None:
    columns = Columns()
    columns.add(CaseResult(suite=0, hash="c", usage=usage))
    assert columns.unpriced == models


@pytest.mark.parametrize(
    ("score", "limit", "value", "bound"),
    [(0.8496, 0.85, "0.8496", "≥ 0.85"), (1 / 3, 0.3335, "0.333", "≥ 0.3335"), (0.9, 0.85, "0.900", "≥ 0.85")],
)
def test_a_mean_is_shown_on_its_side_of_the_limit(score: float, limit: float, value: str, bound: str) -> None:
    policy = Policy(Limits(min_score={"e": limit}, min_pass_rate=0.6667))
    found = evaluate_gates(compare(run_of(ExampleSuite({"c": {"e": score}})), None), policy).findings
    values = {one.rule: (one.value, one.limit) for one in found}
    assert values["mean score"] == (value, bound)
    assert values["pass rate"][1] == "≥ 66.67%"


@pytest.mark.parametrize(("score", "cases"), [(0.8, 6), (0.7, 12), (0.01, 10), (1 / 3, 7)])
def test_a_mean_of_equal_scores_reaches_a_limit_of_this_score(score: float, cases: int) -> None:
    """The sum of floats is slightly less than it should be."""
    found = evaluate_gates(
        compare(run_of(ExampleSuite(scored(*[score] * cases))), None), Policy(Limits(min_score={"e": score}))
    ).findings
    (finding,) = (each for each in found if each.rule == "mean score")
    assert (finding.conclusion, finding.value[:5]) == (Conclusion.PASSED, f"{score:.3f}")


@pytest.mark.parametrize(("before", "now", "limit"), [(0.9, 0.85, 0.05), (0.8, 0.7, 0.1), (1.0, 1 / 3, 2 / 3)])
def test_a_drop_as_large_as_its_limit_does_not_exceed_it(before: float, now: float, limit: float) -> None:
    comparison = compared(ExampleSuite(scored(*[now] * 20)), ExampleSuite(scored(*[before] * 20)))
    for most, conclusion in ((limit, Conclusion.PASSED), (limit - 1e-6, Conclusion.FAILED)):
        found = evaluate_gates(comparison, Policy(Limits(max_drop={"e": most}))).findings
        assert [each.conclusion for each in found if each.rule == "drop"] == [conclusion]


def test_a_change_as_large_as_the_smallest_effect_has_a_label() -> None:
    new, old = (run_of(ExampleSuite(scored(*[score] * 20))) for score in (0.28, 0.29))
    (row,) = compare(new, old, criteria=Criteria(min_effect=0.01)).rows
    assert (row.label, row.correction.min_effect) == (RowLabel.WORSE, None)
