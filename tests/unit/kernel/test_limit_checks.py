"""Numbers compared with limits, without the last digits of floats."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored

from scoregate import kernel
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import exceeds, exceeds_share, reaches, round_off
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy


# `sum` is exact from Python 3.12 on.
@pytest.mark.parametrize(
    ("value", "limit"), [(0.9 - 0.85, 0.05), (0.1 + 0.2, 0.3), (reduce(add, [0.1] * 10_000), 1_000)]
)
def test_a_last_digit_decides_nothing(value: float, limit: float) -> None:
    assert value != limit
    assert (exceeds(value, limit), exceeds(limit, value)) == (False, False)
    assert (reaches(value, limit), reaches(limit, value)) == (True, True)


@given(st.integers(1, 5_000), st.data())
def test_a_share_that_is_the_limit_is_allowed(total: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, total))
    assert not exceeds_share(number, total, number / total)
    assert exceeds_share(number, total, (number - 1) / total) is True


def test_small_and_large_numbers_are_compared() -> None:
    assert exceeds(1e-9, 0.0)
    assert round_off(1e-17) == 0
    assert exceeds(1_000_000.01, 1_000_000)
    assert not exceeds_share(0, 0, 0.0)


def test_as_many_errors_as_are_allowed_leave_a_row_measurable() -> None:
    """0.29 · 100 is less than 29 in floats."""
    cases = scored(*([ERROR] * 29), *([1.0] * 71))
    run, base = run_of(ExampleSuite(cases)), run_of(ExampleSuite(scored(*([1.0] * 100))))
    policy = Policy(Limits(max_error_rate=0.29, max_drop={"e": 0.1}))
    comparison = compare(run, base, criteria_of=policy.criteria_of)
    assert comparison.rows[0].label == "unchanged", comparison.rows[0].reason
    rules = {finding.rule: finding.conclusion for finding in evaluate_gates(comparison, policy).findings}
    assert (rules["error rate"], rules["drop"]) == ("passed", "passed")


# What a value of the policy is called where it is compared.
_NAMES = {"limit", "most", "smallest", "at_most"} | {
    each for each in Limits.__annotations__ if each[:4] in ("max_", "min_")
}
_NAMES |= {each for each in Criteria.__annotations__ if each[:4] in ("max_", "min_")}


# They choose digits and marks, and no conclusion.
_OF_TEXTS = ["abs(mean - limit) <= noise", "abs(number - limit) <= _ROUNDING * limit", "float(text) >= limit"]


def test_every_rule_compares_with_the_functions_for_limits() -> None:
    paths = [path for package in (kernel.gate, kernel.compare) for path in Path(package.__path__[0]).glob("*.py")]
    assert sorted(found for path in paths for found in list_comparisons(path)) == _OF_TEXTS


def list_comparisons(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        if isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            names = {getattr(each, "id", getattr(each, "attr", "")) for each in ast.walk(node)}
            if names & _NAMES:
                yield ast.unparse(node)
