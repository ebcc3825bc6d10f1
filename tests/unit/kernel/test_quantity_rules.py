"""Limits of cost and tokens where calls name no case or no suite: none passes without a reason."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import exp, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.kernel.builders import ExampleSuite, mark_source, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Measure
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Evaluation, Threshold, Usage
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.policy import Limits, Policy, Severity
from scoregate.kernel.types.runs.run import Run, Script, SuiteResult

PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE
RATIO = Limits(max_cost_ratio=1.5, origin={"max_cost_ratio": "x"})
_SCRIPT = "evals/demo.py"


def run(
    unnamed: float = 0.0,
    *,
    cases: int | Sequence[float] = 12,
    shared: Usage | None = None,
    cached_rows: Sequence[int] = (),
    unpriced: Sequence[str] = (),
    **usage: Any,
) -> Run:
    """A run with costs of cases, of calls without a case, and of calls that can be of any suite."""
    costs = [nan] * cases if isinstance(cases, int) else list(cases)
    result = run_of(ExampleSuite(scored(*[1.0] * len(costs))), scripts=[Script(_SCRIPT, exit_code=0, usage=shared)])
    columns = result.suites[0].columns
    columns.costs[:] = columns.tokens[:] = array("d", costs)
    columns.cached.update(cached_rows)
    columns.unpriced.update(unpriced)
    suite: SuiteResult = result.suites[0]
    if unnamed or usage:
        suite = replace(suite, usage=Usage(int(unnamed), cost=unnamed, **usage))
    return replace(result, suites=(suite,))


def verdict(new: Run, old: Run, limits: Limits = RATIO) -> Verdict:
    return evaluate_gates(compare(new, old), Policy(limits))


def ratio(new: Run, old: Run) -> tuple[Conclusion, str]:
    (one,) = [each for each in verdict(new, old).findings if each.rule == "cost ratio"]
    return one.conclusion, one.value


def excluded_reasons(new: Run, old: Run, limits: Limits = RATIO) -> list[str]:
    result = verdict(new, old, limits)
    assert not [each for each in result.findings if each.rule == "cost ratio"]
    return [each.value for each in result.left_out]


def check_limit(new: Run, limit: float) -> Finding:
    found = evaluate_gates(compare(new, None), Policy(Limits(max_cost=limit))).findings
    return next(each for each in found if each.rule == "cost")


def test_rows_of_totals_count_kept_results_as_limits_do() -> None:
    old = run(cases=[1.0] * 40)
    new = run(cases=[3.0] * 10 + [1.0] * 30)
    (suite,) = new.suites
    new = replace(new, suites=(mark_source(suite, range(10, 40), kept=CarriedFrom("base", "main")),))
    cost = next(row for row in compare(new, old).quantities if row.measure is Measure.COST)
    assert (cost.pairs.n, cost.cases.kept, cost.mean, cost.base, exp(cost.delta or 0)) == pytest.approx(
        (10, 30, 1.5, 1.0, 3.0)
    )
    assert ratio(new, old)[1].startswith(f"{exp(cost.total.value):.2f} × the baseline's")


def test_calls_without_a_case_are_compared_by_totals() -> None:
    assert ratio(run(3.0), run(1.0)) == (FAILED, "3.00 × the baseline's, by the totals of the suite")
    assert ratio(run(1.2), run(1.0)) == (PASSED, "1.20 × the baseline's, by the totals of the suite")
    # Suites of other sizes, and with few cases, in which no test could find a difference.
    value = "3.00 × the baseline's, by the totals of the suite per trial"
    assert ratio(run(3.0, cases=2), run(2.0, cases=4)) == (FAILED, value)
    assert ratio(run(2.0, cases=4), run(1.0, cases=2))[0] is PASSED
    # A judge names its cases, and costs the same; the application, which doesn't, costs more.
    assert ratio(run(9.0, cases=[0.1] * 12), run(3.0, cases=[0.1] * 12))[0] is FAILED


def test_a_small_part_without_a_case_is_spread_over_the_cases() -> None:
    old = run(0.6, cases=[0.1] * 12)
    ratio_row = ratio(run(0.6, cases=[0.3] * 12), old)
    assert ratio_row == (FAILED, "2.33 × the baseline's [2.33, 2.33]")
    few = ratio(run(0.2, cases=[0.3] * 4), run(0.2, cases=[0.1] * 4))
    assert few == (UNMEASURABLE, "2.33 × the baseline's [2.33, 2.33]: can't fail with 4 cases (6 are needed)")
    assert ratio(run(1.8, cases=[0.2] * 12), old)[0] is FAILED  # 2.3 times, where cases alone cost twice as much
    assert ratio(run(0.0, cases=[0.2] * 12), old)[0] is PASSED  # 1.3 times: the others are not made any more


def test_unknown_values_of_one_side() -> None:
    assert ratio(run(), run(1.0)) == (UNMEASURABLE, "unknown, though the baseline knows it")
    assert ratio(run(1.0), run()) == (PASSED, "unknown in the baseline")


def make_judged_run(cost: float = 0.1, *, stored: Collection[int] = ()) -> Run:
    """A run whose tasks cost 0.1 each and whose judge has this cost, unless its answer was cached."""
    result, columns = run(), Columns()
    for index in range(12):
        judge = Usage(cost=0.0, cached=True) if index in stored else Usage(10, cost=cost)
        evaluations = {"e": Evaluation(1.0, Threshold(gte=0.5), usage=judge)}
        columns.add(CaseResult(0, f"c{index}", evaluations=evaluations, usage=Usage(10, cost=0.1)))
    return replace(result, suites=(result.suites[0].with_columns(columns),))


def test_cases_with_cached_judges_are_not_compared() -> None:
    assert ratio(make_judged_run(), make_judged_run(stored=range(6))) == (PASSED, "1.00 × the baseline's [1.00, 1.00]")
    assert ratio(make_judged_run(0.3, stored=range(3)), make_judged_run())[0] is FAILED
    for new, old in (
        (make_judged_run(9.0), make_judged_run(stored=range(12))),
        (make_judged_run(9.0, stored=range(12)), make_judged_run()),
    ):
        assert excluded_reasons(new, old) == ["answers were read from a store, which takes no time and costs nothing"]


def test_an_inapplicable_limit_has_a_reason() -> None:
    assert excluded_reasons(run(), run()) == ["neither run knows its cost"]
    stored = "answers were read from a store, which takes no time and costs nothing"
    every = range(12)
    for new, old in (
        (run(cases=[0.0] * 12, cached_rows=every), run(cases=[0.1] * 12)),
        (run(cases=[0.1] * 12), run(cases=[0.0] * 12, cached_rows=every)),
        (run(cached=True), run(1.0)),
        (run(0.5, cached_rows=range(3)), run(1.0)),  # a part of the calls was paid
        (run(1.0), run(0.3, calls=9, stored=4)),
    ):
        assert excluded_reasons(new, old) == [stored], (new, old)
    one = run(cases=[0.1, nan])
    assert excluded_reasons(one, run(cases=[nan, 0.1])) == ["no case has a value in both runs"]
    off = replace(RATIO, severity={"cost_ratio": Severity.OFF})
    assert excluded_reasons(run(), run(), off) == []
    latency = Limits(max_p95_ratio=2.0, max_tokens_ratio=2.0)
    assert excluded_reasons(run(), run(), latency) == ["neither run knows its tokens", "neither run knows its latency"]


def test_cached_cases_are_not_compared() -> None:
    new, old = run(cases=[0.3] * 12 + [0.0] * 4, cached_rows=range(12, 16)), run(cases=[0.1] * 16)
    assert ratio(new, old)[0] is FAILED


def test_a_ratio_without_prices_is_unmeasurable() -> None:
    unpriced = run(unpriced=["m"])
    value = "neither run knows its cost; no price is known of m; no price is known of m in the baseline"
    assert ratio(unpriced, unpriced) == (UNMEASURABLE, value.partition("; ")[2])
    new = run(cases=[0.1] * 12, unpriced=["m"])
    assert ratio(new, run(cases=[0.1] * 12)) == (
        UNMEASURABLE,
        "1.00 × the baseline's [1.00, 1.00]; no price is known of m",
    )
    assert ratio(run(cases=[0.3] * 12, unpriced=["m"]), run(cases=[0.1] * 12))[0] is FAILED  # the known part exceeds it
    assert ratio(new, run(cases=[0.1] * 12, unpriced=["m"]))[0] is PASSED  # without the same model on both sides
    assert ratio(run(cases=[0.3] * 12), run(cases=[0.1] * 12, unpriced=["m"]))[0] is UNMEASURABLE


def test_calls_of_any_suite_make_a_ratio_unmeasurable_unless_it_fails_without_them() -> None:
    shared, old = Usage(5, cost=0.5), run(cases=[0.1] * 12)
    conclusion, value = ratio(run(cases=[0.1] * 12, shared=shared), old)
    assert conclusion is UNMEASURABLE
    assert value.endswith("; calls of evals/demo.py name none of its suites")
    assert ratio(run(cases=[0.3] * 12, shared=shared), old)[0] is FAILED
    conclusion, value = ratio(run(cases=[0.3] * 12), run(cases=[0.1] * 12, shared=shared))
    assert conclusion is UNMEASURABLE
    assert value.endswith("name none of its suites in the baseline")
    assert ratio(run(cases=[0.1] * 12, shared=Usage(cost=0.0, cached=True)), old)[0] is PASSED  # nothing was used
    assert ratio(run(shared=shared), run())[0] is UNMEASURABLE  # where nothing else is known, too


def test_a_limit_holds_if_it_holds_with_the_calls_of_any_suite() -> None:
    new = run(cases=[0.1] * 10, shared=Usage(5, cost=0.5))
    suffix = " with calls of evals/demo.py that name none of its suites"
    assert (check_limit(new, 0.9).conclusion, check_limit(new, 0.9).value) == (FAILED, f"$1.00, up to $1.50{suffix}")
    assert check_limit(new, 1.2).conclusion is UNMEASURABLE
    assert check_limit(new, 1.5).conclusion is PASSED
    only = run(shared=Usage(5, cost=0.5))
    assert (check_limit(only, 0.4).conclusion, check_limit(only, 0.4).value) == (
        UNMEASURABLE,
        f"unknown, up to $0.50{suffix}",
    )
    assert check_limit(only, 0.5).conclusion is PASSED
    assert check_limit(run(cases=[0.1], shared=Usage(5, model="m")), 1.0).conclusion is UNMEASURABLE  # without a price


DOLLARS = st.none() | st.integers(0, 8).map(lambda number: number / 4)


@given(DOLLARS, st.sets(st.sampled_from("mn")), DOLLARS, st.integers(0, 12).map(lambda number: number / 4))
def test_only_what_is_known_to_be_within_its_limit_passes(
    own: float | None, unpriced: set[str], shared: float | None, limit: float
) -> None:
    usage = None if shared is None else Usage(cost=shared)
    new = run(cases=[nan if own is None else own], unpriced=sorted(unpriced), shared=usage)
    most = (own or 0.0) + (shared or 0.0)
    is_known = (own is not None or bool(shared)) and not unpriced
    expected = PASSED if is_known and most <= limit else UNMEASURABLE
    assert check_limit(new, limit).conclusion is (FAILED if own is not None and own > limit else expected)


def test_a_latency_that_nothing_reports_passes_no_limit() -> None:
    new, limits = run(), Policy(Limits(max_p95_ms=50.0))
    for duration_ms, conclusion in ((nan, UNMEASURABLE), (50.0, PASSED), (51.0, FAILED)):
        columns = new.suites[0].columns
        columns.durations_ms[:] = array("d", [duration_ms] * len(columns))
        found = evaluate_gates(compare(new, None), limits).findings
        assert [each.conclusion for each in found if each.rule == "p95 latency"] == [conclusion]


def test_a_limit_is_shown_as_set() -> None:
    for limit, value, shown in (
        (0.003, "$0.0037", "≤ $0.003"),
        (0.0125, "$0.0037", "≤ $0.0125"),
        (0.5, "$0.0037", "≤ $0.50"),
        (0.00375, "$0.003750", "≤ $0.003750"),
        (12.0, "$0.0037", "≤ $12.00"),
    ):
        problem = check_limit(run(cases=[0.00375]), limit)
        assert (problem.value, problem.limit) == (value, shown)
    sums = 0.1 + 0.2, 0.3
    assert {check_limit(run(cases=[each]), 0.3).conclusion for each in sums} == {PASSED}
