"""Gates on ratios of cost, tokens and latency: they share one error rate, and labels of rows agree with them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Measure, Row, RowLabel
from scoregate.kernel.compare.estimates import Estimate
from scoregate.kernel.gate import Verdict, judge_comparison
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy, Severity
from scoregate.kernel.types.runs.run import Run

PASSED, FAILED = Conclusion.PASSED, Conclusion.FAILED
COST = Limits(max_cost_ratio=1.2)
COST_AND_TOKENS = Limits(max_cost_ratio=1.2, max_tokens_ratio=1.2)
# Six of six cases rise by chance in 1 of 64 runs.
OLD, RISEN = [1.0] * 6, [2.0] * 6


def use(
    costs: Sequence[float], tokens: Sequence[float] = (), ms: Sequence[float] = (), *, suites: Sequence[str] = ("demo",)
) -> Run:
    """A run in which each suite has these amounts of its cases."""
    run = run_of(*(ExampleSuite(scored(*[1.0] * len(costs)), id=name) for name in suites))
    for suite in run.suites:
        columns = suite.columns
        for column, values in ((columns.costs, costs), (columns.tokens, tokens), (columns.durations_ms, ms)):
            if values:
                column[:] = array("d", values)
    return run


def judge(new: Run, old: Run, limits: Limits, criteria: Criteria | None = None) -> tuple[Comparison, Verdict]:
    criteria = criteria or Criteria()
    return judge_comparison(compare(new, old, criteria=criteria), Policy(limits, criteria=criteria))


def conclude(verdict: Verdict, rule: str = "cost ratio") -> list[tuple[Conclusion, bool]]:
    """The conclusions of a rule, and whether each is uncertain."""
    return [(each.conclusion, each.uncertain) for each in (*verdict.findings, *verdict.warnings) if each.rule == rule]


def find_row(comparison: Comparison, measure: Measure, suite: str = "demo") -> Row:
    (row,) = [each for each in comparison.quantities if (each.measure, each.suite) == (measure, suite)]
    return row


def p_of(row: Row) -> tuple[float, float]:
    """The two-sided p, and that of a rise."""
    assert isinstance(row.estimate, Estimate)
    return row.estimate.p, row.estimate.p_upper


def test_each_further_gate_on_a_ratio_needs_more_evidence() -> None:
    for limits, found in (
        (COST, (FAILED, False)),
        (COST_AND_TOKENS, (PASSED, True)),  # 2 · 2 / 64 is above alpha
        (replace(COST_AND_TOKENS, severity={"tokens_ratio": Severity.WARN}), (FAILED, False)),
        (replace(COST_AND_TOKENS, severity={"tokens_ratio": Severity.OFF}), (FAILED, False)),
    ):
        _, verdict = judge(use(RISEN, OLD), use(OLD, OLD), limits)
        assert conclude(verdict) == [found], limits
    two = ("a", "b")
    _, verdict = judge(use(RISEN, suites=two), use(OLD, suites=two), COST)
    assert conclude(verdict) == [(FAILED, False)] * 2, "what rises in every suite is no less certain"


def test_a_limit_on_a_ratio_that_only_warns_is_not_corrected_for_others() -> None:
    warn = replace(COST_AND_TOKENS, severity={"cost_ratio": Severity.WARN, "tokens_ratio": Severity.WARN})
    for alpha, found in ((0.04, (FAILED, False)), (2 / 64, (FAILED, False))):
        _, verdict = judge(use(RISEN, OLD), use(OLD, OLD), warn, Criteria(alpha=alpha))
        assert (verdict.exit_code, conclude(verdict)) == (0, [found])
    new, old = use([2.0] * 8 + [0.5] * 2), use([1.0] * 10)
    p, p_risen = p_of(find_row(judge(new, old, COST)[0], Measure.COST))
    assert p == pytest.approx(2 * p_risen)
    for alpha, found in ((0.99 * p, (PASSED, True)), (1.01 * p, (FAILED, False))):
        _, verdict = judge(new, old, warn, Criteria(alpha=alpha))
        assert conclude(verdict) == [found], alpha


def test_a_ratio_is_certain_at_a_p_of_alpha() -> None:
    comparison, verdict = judge(use(RISEN), use(OLD), COST, Criteria(alpha=2 / 64))
    assert (conclude(verdict), find_row(comparison, Measure.COST).label) == ([(FAILED, False)], RowLabel.WORSE)


def test_the_row_of_a_gate_has_its_p_and_its_label() -> None:
    comparison, _ = judge(use(RISEN, OLD), use(OLD, OLD), COST)
    cost = find_row(comparison, Measure.COST)
    assert (cost.label, cost.correction.q, p_of(cost)) == (RowLabel.WORSE, 2 / 64, (2 / 64, 1 / 64))
    comparison, _ = judge(use(RISEN, OLD), use(OLD, OLD), COST_AND_TOKENS)
    cost, tokens = (find_row(comparison, measure) for measure in (Measure.COST, Measure.TOKENS))
    assert (cost.label, cost.correction.q) == (RowLabel.TOO_FEW, 4 / 64)
    assert (tokens.label, p_of(tokens)) == (RowLabel.TOO_FEW, (0.0, 1.0)), "each row has the p of its own gate"


def test_rows_without_a_gate_on_their_ratio_keep_their_p() -> None:
    new, old = use(RISEN, RISEN), use(OLD, OLD)
    plain = compare(new, old)
    for limits in (Limits(), Limits(max_cost=100.0), replace(COST, severity={"cost_ratio": Severity.WARN})):
        comparison, _ = judge(new, old, limits)
        assert comparison.quantities == plain.quantities, limits
    comparison, _ = judge(new, old, COST)
    assert find_row(comparison, Measure.TOKENS) == find_row(plain, Measure.TOKENS)
    assert find_row(comparison, Measure.COST) != find_row(plain, Measure.COST)


def test_the_row_of_a_ratio_that_fell_keeps_the_p_of_its_fall() -> None:
    new, old = use([0.5] * 12), use([1.0] * 12)
    plain, (comparison, _) = compare(new, old), judge(new, old, COST)
    before, after = (find_row(each, Measure.COST) for each in (plain, comparison))
    assert (after.label, after.correction, p_of(after)) == (RowLabel.BETTER, before.correction, p_of(before))
    assert p_of(after)[0] == pytest.approx(2**-12)


def test_a_rise_below_the_smallest_ratio_is_not_worse() -> None:
    for factor, label in ((1.04, RowLabel.EQUIVALENT), (1.05, RowLabel.WORSE)):
        comparison, verdict = judge(use([factor] * 12), use([1.0] * 12), Limits(max_cost_ratio=1.01))
        assert (find_row(comparison, Measure.COST).label, verdict.exit_code) == (label, 1), factor


def test_a_rise_that_the_gate_finds_within_noise_is_not_called_worse() -> None:
    """The typical case may cost certainly more where the total, of which one case is the most, doesn't."""
    new, old = use([1.2] * 11 + [90.0]), use([1.0] * 11 + [100.0])
    assert find_row(compare(new, old), Measure.COST).label is RowLabel.WORSE
    comparison, verdict = judge(new, old, COST)
    assert (find_row(comparison, Measure.COST).label, verdict.exit_code) == (RowLabel.NOISE, 0)


def test_every_suite_has_the_rows_of_its_own_quantities() -> None:
    names = ("a", "b")
    new, old = use(RISEN, OLD, suites=names), use(OLD, OLD, suites=names)
    b = next(suite for suite in new.suites if suite.id == "b")
    b.columns.costs[:] = array("d", OLD)
    comparison, verdict = judge(new, old, COST)
    labels = [find_row(comparison, Measure.COST, name).label for name in names]
    found = {each.suite: each.conclusion for each in verdict.findings if each.rule == "cost ratio"}
    assert (found["b"], labels[1]) == (PASSED, RowLabel.TOO_FEW)
    assert (found["a"], labels[0]) == (PASSED, RowLabel.TOO_FEW), "2 · 2 / 64: both suites have a gate"
