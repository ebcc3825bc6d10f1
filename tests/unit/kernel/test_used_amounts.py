"""What suites use: which calls count for a limit, and how amounts are shown beside it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run, Script

PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE
SCRIPT, OTHER_SCRIPT = "evals/demo.py", "evals/other.py"
COST_RATIO, TOKENS_RATIO = Limits(max_cost_ratio=1.5), Limits(max_tokens_ratio=1.5)


def use(
    *costs: float,
    tokens: Sequence[float] = (),
    ms: Sequence[float] = (),
    unnamed: Usage | None = None,
    shared: Usage | None = None,
    unpriced: Sequence[str] = (),
) -> Run:
    """A run with these amounts of its cases, of calls without a case, and of calls without a suite."""
    cases = max(len(each) for each in (costs, tokens, ms))
    run = run_of(ExampleSuite(scored(*[1.0] * cases)), scripts=[Script(SCRIPT, exit_code=0, usage=shared)])
    (suite,) = run.suites
    columns = suite.columns
    for column, values in ((columns.costs, costs), (columns.tokens, tokens), (columns.durations_ms, ms)):
        if values:
            column[:] = array("d", values)
    columns.unpriced.update(unpriced)
    return replace(run, suites=(replace(suite, usage=unnamed),))


def find(rule: str, new: Run, old: Run | None, limits: Limits) -> Finding:
    verdict = evaluate_gates(compare(new, old), Policy(limits))
    (one,) = [each for each in (*verdict.findings, *verdict.left_out) if each.rule == rule]
    return one


def show_cost(cost: float, limit: float) -> tuple[str, str]:
    finding = find("cost", use(cost), None, Limits(max_cost=limit))
    return finding.value, finding.limit


def test_the_limit_of_latency_is_for_nineteen_of_twenty_trials() -> None:
    new = use(ms=[*range(20, 0, -1)])
    for limit, conclusion in ((19.0, PASSED), (18.5, FAILED)):
        finding = find("p95 latency", new, None, Limits(max_p95_ms=limit))
        assert (finding.conclusion, finding.value.split()[0]) == (conclusion, "19" if limit == 19 else "19.00")


def test_an_amount_has_the_digits_that_its_limit_needs() -> None:
    for ms, limit, shown in (
        (12.0, 50.0, ("12 ms", "≤ 50 ms")),
        (12.0, 50.25, ("12.00 ms", "≤ 50.25 ms")),
        (50.4, 50.0, ("50.40 ms", "≤ 50.00 ms")),  # not `50 ms`, which is no more than the limit
    ):
        finding = find("p95 latency", use(ms=[ms]), None, Limits(max_p95_ms=limit))
        assert (finding.value, finding.limit) == shown
    tokens = find("tokens", use(tokens=[1_234.0]), None, Limits(max_tokens=5_000))
    assert (tokens.value, tokens.limit) == ("1,234", "≤ 5,000")


def test_an_amount_that_is_its_limit_needs_no_more_digits() -> None:
    assert show_cost(0.5, 0.5) == ("$0.50", "≤ $0.50")
    assert show_cost(0.5003, 0.5) == ("$0.5003", "≤ $0.5000")


def test_a_limit_of_less_than_a_millionth_has_six_decimals() -> None:
    assert show_cost(0.25, 1.5e-7) == ("$0.250000", "≤ $0.000000")
    assert show_cost(0.25, 0.0) == ("$0.25", "≤ $0.00")
    assert show_cost(1e-8, 0.0) == ("<$0.00001", "≤ $0.00")


def test_an_unknown_cost_adds_no_digits_to_its_limit() -> None:
    for limit, shown in ((1.0, "≤ $1.00"), (2.0, "≤ $2.00")):
        finding = find("cost", use(nan), None, Limits(max_cost=limit))
        assert (finding.conclusion, finding.value, finding.limit) == (UNMEASURABLE, "unknown", shown)


def test_calls_of_another_script_are_none_of_this_suite() -> None:
    new, old = use(*[0.1] * 12), use(*[0.1] * 12)
    other = Script(OTHER_SCRIPT, exit_code=0, usage=Usage(5, cost=0.5))
    new = replace(new, scripts=(other, *new.scripts))
    assert find("cost ratio", new, old, COST_RATIO).conclusion is PASSED
    assert find("cost", new, None, Limits(max_cost=1.2)).value == "$1.20"


def test_calls_of_any_suite_count_with_tokens_or_with_a_cost() -> None:
    for shared in (Usage(5), Usage(cost=0.5), Usage(5, cost=0.5)):
        finding = find("cost ratio", use(*[0.1] * 12, shared=shared), use(*[0.1] * 12), COST_RATIO)
        assert (finding.conclusion, finding.value.partition("; ")[2]) == (
            UNMEASURABLE,
            f"calls of {SCRIPT} name none of its suites",
        )


def test_a_missing_price_makes_no_number_of_tokens_uncertain() -> None:
    new, old = use(tokens=[10.0] * 12, unpriced=["m"]), use(tokens=[10.0] * 12)
    finding = find("tokens ratio", new, old, TOKENS_RATIO)
    assert (finding.conclusion, finding.value) == (PASSED, "1.00 × the baseline's [1.00, 1.00]")


def test_calls_without_a_case_count_by_the_measure_of_the_limit() -> None:
    new, old = (use(*[0.01] * 12, tokens=[1.0] * 12, unnamed=Usage(tokens, cost=2.0)) for tokens in (300, 100))
    for rule, limits, conclusion in (
        ("tokens ratio", TOKENS_RATIO, FAILED),
        ("cost ratio", COST_RATIO, PASSED),
    ):
        assert find(rule, new, old, limits).conclusion is conclusion


def test_calls_without_a_case_decide_if_they_are_most_of_either_side() -> None:
    old = use(*[0.1] * 12)
    for unnamed, by_totals in ((9.0, True), (0.9, False)):
        new = use(*[0.1] * 12, unnamed=Usage(1, cost=unnamed))
        for pair in ((new, old), (old, new)):
            finding = find("cost ratio", *pair, COST_RATIO)
            assert finding.value.endswith("by the totals of the suite") == by_totals, (unnamed, finding.value)


def test_every_trial_has_an_equal_part_of_the_calls_without_a_case() -> None:
    def ratio(*costs: float) -> str:
        part = Usage(1, cost=0.05 * len(costs))
        value = find("cost ratio", use(*costs, unnamed=part), use(*[0.1] * len(costs), unnamed=part), COST_RATIO).value
        return value.partition(" ")[0]

    assert ratio(0.3) == "2.33"
    assert ratio(0.3, 0.3, 0.3) == "2.33"
    assert ratio(0.3, 0.3, nan) == "1.67", "a case without a call of its own has its part, too"


def test_a_suite_without_cases_is_no_division_by_zero() -> None:
    empty, some = use(unnamed=Usage(1, cost=1.0)), use(*[0.1] * 12, unnamed=Usage(1, cost=1.0))
    for new, old in ((empty, some), (some, empty), (empty, empty)):
        found: Any = evaluate_gates(compare(new, old), Policy(COST_RATIO))
        assert [each.value for each in found.findings if each.rule == "cost ratio"], (new, old)


def test_latency_is_tested_at_its_95th_percentile() -> None:
    """Every case is slower, which is certain; how slow the slowest ones are is the chance of one case."""
    old, limits = use(ms=[100.0] * 11 + [120.0]), Limits(max_p95_ratio=1.5)
    finding = find("p95 latency ratio", use(ms=[119.0] * 11 + [500.0]), old, limits)
    assert (finding.conclusion, finding.uncertain) == (PASSED, True)
    assert find("p95 latency ratio", use(ms=[250.0] * 12), old, limits).conclusion is FAILED


def test_a_model_without_a_price_in_both_runs_is_left_out_of_both_costs() -> None:
    """If one of them knows no cost at all, nothing is left to compare."""
    known, unknown = use(*[0.1] * 12, unpriced=["m"]), use(*[nan] * 12, unpriced=["m"])
    for new, old, conclusion in (
        (known, known, PASSED),
        (unknown, known, UNMEASURABLE),
        (known, unknown, UNMEASURABLE),
        (unknown, unknown, UNMEASURABLE),
    ):
        assert find("cost ratio", new, old, COST_RATIO).conclusion is conclusion


def test_answers_from_a_store_take_time_only_if_a_case_has_them() -> None:
    """What is stored of calls without a case says nothing about the latency of cases."""
    new, old = (use(ms=[100.0] * 12, unnamed=usage) for usage in (Usage(3, cached=True, cost=0.0), Usage(3, cost=0.1)))
    finding = find("p95 latency ratio", new, old, Limits(max_p95_ratio=1.5))
    assert (finding.applied, finding.conclusion) == (True, PASSED)
    assert not find("cost ratio", new, old, COST_RATIO).applied
