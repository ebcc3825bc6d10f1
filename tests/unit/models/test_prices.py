"""Prices and budgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.errors import BudgetSpent
from scoregate.kernel.types.evaluation import Usage
from scoregate.models.budget import RunBudget, price_usage
from scoregate.models.settings import ModelSettings, Price


def test_known_prices_apply() -> None:
    usage = price_usage(Usage(1_000_000, 0), provider="openai", model="gpt-4o", prices={})
    assert usage.cost == pytest.approx(2.5)
    small = price_usage(Usage(1000, 100, 400), provider="openai", model="gpt-4o", prices={})
    assert small.cost == pytest.approx((600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6)


def test_own_prices_win_and_the_last_match_counts() -> None:
    prices = {"gpt-*": Price(1.0, 1.0), "openai/gpt-4o*": Price(2.0, 4.0, 0.5)}
    usage = price_usage(Usage(1000, 100, 400), provider="openai", model="gpt-4o", prices=prices)
    assert usage.cost == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 4) / 1e6)


def test_an_unknown_price_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        assert price_usage(Usage(5), provider="vllm", model="our-own-model", prices={}).cost is None
    assert capsys.readouterr().err.count('[prices."vllm/our-own-model"]') == 1


def spend(budget: RunBudget, settings: ModelSettings, usage: Usage) -> None:
    budget.begin_call(settings)
    budget.spend(usage)
    budget.end_call()


@pytest.mark.parametrize(
    ("settings", "word"), [(ModelSettings(max_cost=1.0), "max_cost"), (ModelSettings(max_tokens=1000), "max_tokens")]
)
def test_a_call_over_the_budget_is_refused(settings: ModelSettings, word: str) -> None:
    budget = RunBudget(None)
    for _ in range(4):
        spend(budget, settings, Usage(200, 50, cost=0.25))
    with pytest.raises(BudgetSpent, match=word):
        budget.begin_call(settings)


def test_running_calls_count_at_the_average_cost() -> None:
    budget, settings = RunBudget(None), ModelSettings(max_cost=1.0)
    spend(budget, settings, Usage(cost=0.25))
    for _ in range(3):
        budget.begin_call(settings)
    with pytest.raises(BudgetSpent):
        budget.begin_call(settings)


def test_two_budgets_with_one_file_are_one(tmp_path: Path) -> None:
    settings = ModelSettings(max_cost=1.0)
    ours, theirs = RunBudget(tmp_path / "spent"), RunBudget(tmp_path / "spent")
    for budget in (ours, theirs, ours, theirs):
        spend(budget, settings, Usage(cost=0.25))
    with pytest.raises(BudgetSpent, match=r"\$1\.0000 of max_cost = \$1"):
        ours.begin_call(settings)


def test_running_calls_of_other_processes_count(tmp_path: Path) -> None:
    settings = ModelSettings(max_cost=1.0)
    ours, theirs = RunBudget(tmp_path / "spent"), RunBudget(tmp_path / "spent")
    spend(ours, settings, Usage(cost=0.25))
    for _ in range(3):
        theirs.begin_call(settings)
    for _ in range(2):
        with pytest.raises(BudgetSpent):
            ours.begin_call(settings)
    theirs.end_call()
    ours.begin_call(settings)
