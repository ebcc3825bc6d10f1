"""Amounts: an unknown part is never taken for 0, whoever sums or compares."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scoregate
from scoregate.features.table import FEATURES
from scoregate.kernel.types.amounts import (
    NOT_REPORTED,
    Amount,
    AtLeast,
    Conclusion,
    add,
    check_limit,
    exceeds,
    exceeds_share,
    find_known,
    find_missing,
    lack_prices,
    reaches,
    uses_up,
)
from scoregate.kernel.types.declarations.declaration import AMOUNT
from scoregate.kernel.types.declarations.kernel import LIMITS
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.usage import measure_cost, sum_usage

# Sums of these are the same in any order.
NUMBERS = st.integers(0, 4_000).map(lambda number: number / 4)
GAPS = st.sets(st.sampled_from(["a", "b", "m/c"]), min_size=1).map(lack_prices)
AMOUNTS: st.SearchStrategy[Amount] = st.one_of(NUMBERS, GAPS, st.builds(AtLeast, NUMBERS, GAPS), st.just(NOT_REPORTED))
LISTS = st.lists(AMOUNTS, max_size=8)


@given(LISTS, st.data())
def test_a_sum_depends_on_no_order_and_no_grouping(amounts: list[Amount], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(amounts)))
    assert add([add(amounts[:cut]), add(amounts[cut:])]) == add(amounts) == add(data.draw(st.permutations(amounts)))


@given(LISTS, st.lists(NUMBERS))
def test_a_sum_has_every_number_and_every_gap(amounts: list[Amount], column: list[float]) -> None:
    total = add(amounts, column)
    known = [number for each in amounts if (number := find_known(each)) is not None] + column
    gaps = [gap for each in amounts if (gap := find_missing(each)) is not None]
    missing = find_missing(total)
    assert find_known(total) == (sum(known) if known else None)
    assert set(() if missing is None else missing.names) == {name for gap in gaps for name in gap.names}
    assert (missing is None) == (bool(known) and all(gap == NOT_REPORTED for gap in gaps))


@given(LISTS, NUMBERS)
def test_an_unknown_part_never_passes_a_limit(amounts: list[Amount], limit: float) -> None:
    total = add(amounts)
    conclusion = check_limit(total, limit)
    is_above = (find_known(total) or 0.0) > limit
    assert (conclusion is Conclusion.FAILED) == is_above
    assert (conclusion is Conclusion.PASSED) == (not is_above and isinstance(total, float))


@given(LISTS, AMOUNTS, NUMBERS)
def test_more_never_turns_a_failure_into_a_pass(amounts: list[Amount], more: Amount, limit: float) -> None:
    if check_limit(add(amounts), limit) is Conclusion.FAILED:
        assert check_limit(add([*amounts, more]), limit) is Conclusion.FAILED


@given(AMOUNTS, NUMBERS)
def test_a_budget_is_used_up_by_what_is_known(amount: Amount, budget: float) -> None:
    known = find_known(amount)
    assert uses_up(amount, budget) is (known is not None and known >= budget)


COSTS = st.none() | NUMBERS
USAGES = st.lists(st.builds(Usage, st.integers(0, 9), cost=COSTS, model=st.sampled_from(["a", "b", None])), min_size=1)


@given(USAGES)
def test_summed_usage_has_the_sum_of_the_costs(usages: list[Usage]) -> None:
    of_sum, total = measure_cost(sum_usage(usages)), add(map(measure_cost, usages))
    assert find_known(of_sum) == find_known(total)
    assert (find_missing(of_sum) is None) == (find_missing(total) is None)


def test_a_reason_names_what_is_unknown() -> None:
    assert lack_prices({"b", "a"}).reason == "no price is known of a, b"
    assert lack_prices({"x" * 101, "y"}).names == ("x" * 100, "y")
    assert lack_prices(()) == NOT_REPORTED
    assert NOT_REPORTED.reason == "nothing was reported"


_LIMITS = {each.name for each in (*LIMITS, *(each for one in FEATURES for each in one.limits)) if each.kind is AMOUNT}
_NAMES = {*_LIMITS, find_known.__name__}
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_COMPARING = {exceeds.__name__, reaches.__name__, exceeds_share.__name__}


def list_comparisons(source: str) -> Iterator[str]:
    """What compares a limit of an amount, or the known part of one, with something else."""
    if not any(name in source for name in _NAMES):
        return  # most files; to parse them takes seconds
    for node in ast.walk(ast.parse(source)):
        is_compared = isinstance(node, ast.Compare) and any(isinstance(each, _ORDERED) for each in node.ops)
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _COMPARING
        if is_compared or is_call:
            names = {getattr(each, "id", getattr(each, "attr", "")).lstrip("_") for each in ast.walk(node)}
            if names & _NAMES:
                yield ast.unparse(node)


def test_only_one_module_compares_amounts_with_limits() -> None:
    root = Path(scoregate.__path__[0])
    paths = set(root.rglob("*.py")) - {root / "kernel/types/amounts.py"}
    assert [(path.name, found) for path in paths for found in list_comparisons(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "source",
    [
        "limits.max_cost < cost",
        "0 <= self._max_tokens",
        "exceeds(p95, limits.max_p95_ms)",
        "find_known(suite.cost) > limit",
    ],
)
def test_another_comparison_would_be_found(source: str) -> None:
    assert list(list_comparisons(f"is_above = {source}")) == [source]
    other = "limits.max_cost is None or check_limit(suite.cost, limits.max_cost) or limits.min_score < mean"
    assert list(list_comparisons(other)) == []
