"""The gateway's ledger: calls that reserve what they may cost never exceed the budget."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.features.gateway.proxy.budget import BudgetRefusal, Estimate, Ledger
from scoregate.kernel.types.amounts import BudgetUse
from scoregate.kernel.types.evaluation import Usage

INPUT, OUTPUT = 2e-6, 8e-6


def price(_provider: str, model: str, usage: Usage) -> float | None:
    return None if model == "unpriced" else usage.input_tokens * INPUT + usage.output_tokens * OUTPUT


@dataclass(frozen=True)
class PlannedCall:
    """A call: its input, its limit (None for none), what it uses of that, and how many steps it takes."""

    input_tokens: int
    limit: int | None
    output_tokens: int
    steps: int
    fails: bool = False


def plans(*, limited: bool) -> st.SearchStrategy[list[PlannedCall]]:
    @st.composite
    def plan(draw: st.DrawFn) -> PlannedCall:
        limit = draw(st.integers(0, 500))
        return PlannedCall(
            draw(st.integers(0, 500)), limit if limited else None, draw(st.integers(0, limit)),
            draw(st.integers(0, 5)), draw(st.booleans()),
        )  # fmt: skip

    return st.lists(plan(), min_size=1, max_size=25)


def spend(ledger: Ledger, planned: list[PlannedCall], highest: list[BudgetUse]) -> list[PlannedCall]:
    """Make all calls concurrently, and return those that were not refused."""
    made: list[PlannedCall] = []

    async def call(plan: PlannedCall) -> None:
        try:
            reservation = await ledger.reserve("p", "m", Estimate(plan.input_tokens, plan.limit))
        except BudgetRefusal:
            return
        highest.append(ledger.spent + ledger.reserved)
        for _ in range(plan.steps):
            await anyio.lowlevel.checkpoint()
        usage = Usage(plan.input_tokens, plan.output_tokens)
        used = Usage(usage.input_tokens, usage.output_tokens, cost=price("p", "m", usage))
        ledger.settle(reservation, "p", "m", None if plan.fails else used)
        made.append(plan)

    async def call_all() -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                for plan in planned:
                    group.start_soon(call, plan)

    anyio.run(call_all)
    return made


def sum_tokens(calls: list[PlannedCall]) -> int:
    return sum(plan.input_tokens + plan.output_tokens for plan in calls if not plan.fails)


@given(plans(limited=True), st.integers(0, 3_000))
def test_tokens_of_reserved_calls_never_exceed_the_budget(planned: list[PlannedCall], budget: int) -> None:
    ledger, highest = Ledger(None, budget, price), [BudgetUse()]
    finished = spend(ledger, planned, highest)
    assert max(amount.tokens for amount in highest) <= budget
    assert ledger.spent.tokens == sum_tokens(finished) <= budget
    assert ledger.reserved.tokens == 0
    if sum(plan.input_tokens + (plan.limit or 0) for plan in planned) <= budget and budget > ledger.spent.tokens:
        assert len(finished) == len(planned)  # nothing is refused that fits


@given(plans(limited=True), st.floats(0, 0.02))
def test_costs_of_reserved_calls_never_exceed_the_budget(planned: list[PlannedCall], budget: float) -> None:
    ledger, highest = Ledger(budget, None, price), [BudgetUse()]
    spend(ledger, planned, highest)
    assert max(amount.cost for amount in highest) <= budget + 1e-9
    assert ledger.spent.cost <= budget + 1e-9
    assert ledger.reserved.cost == pytest.approx(0, abs=1e-12)


@given(plans(limited=False), st.integers(1, 3_000))
def test_calls_without_a_limit_exceed_the_budget_by_one_call(planned: list[PlannedCall], budget: int) -> None:
    ledger = Ledger(None, budget, price)
    # Four times the longest answer so far is reserved, so this holds for answers that differ by that factor at most.
    outputs = [100 + plan.output_tokens % 300 for plan in planned]
    calls = [PlannedCall(p.input_tokens, None, output, p.steps) for p, output in zip(planned, outputs, strict=True)]
    finished = spend(ledger, calls, [BudgetUse()])
    assert finished
    assert ledger.spent.tokens < budget + max(plan.input_tokens + plan.output_tokens for plan in finished)
    assert ledger.spent.tokens == sum_tokens(finished)
    assert ledger.reserved.tokens == 0


def test_a_waiting_call_starts_when_another_cost_less() -> None:
    async def main() -> None:
        ledger = Ledger(100, 1_000, price)
        first = await ledger.reserve("p", "m", Estimate(100, 800))
        waiting: list[BudgetUse] = []

        async def wait() -> None:
            waiting.append(await ledger.reserve("p", "m", Estimate(100, 200)))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert waiting == []
            ledger.settle(first, "p", "m", Usage(100, 10))
        assert waiting == [BudgetUse(pytest.approx(100 * INPUT + 200 * OUTPUT), 300)]

    anyio.run(main)


def test_a_cancelled_waiting_call_reserves_nothing() -> None:
    async def main() -> None:
        ledger = Ledger(None, 1_000, price)
        first = await ledger.reserve("p", "m", Estimate(100, 800))
        with anyio.move_on_after(0.01):
            await ledger.reserve("p", "m", Estimate(100, 800))
        ledger.settle(first, "p", "m", None)
        assert (ledger.reserved, ledger.spent) == (BudgetUse(), BudgetUse())
        await ledger.reserve("p", "m", Estimate(100, 900))

    anyio.run(main)


def test_an_answer_without_a_price_costs_what_its_call_reserved() -> None:
    """A provider may answer with another model than the one that was asked."""

    async def main() -> None:
        ledger = Ledger(1.0, None, price)
        reservation = await ledger.reserve("p", "m", Estimate(100, 200))
        ledger.settle(reservation, "p", "m", Usage(100, 10, cost=None))
        assert ledger.spent == BudgetUse(reservation.cost, 110)
        assert reservation.cost > 0

    anyio.run(main)


def test_refusals_name_the_budget_and_what_the_call_needs() -> None:
    async def refuse(ledger: Ledger, estimate: Estimate) -> str:
        with pytest.raises(BudgetRefusal) as exc_info:
            await ledger.reserve("p", "m", estimate)
        return exc_info.value.message

    async def main() -> None:
        tokens = await refuse(Ledger(None, 1_000, price), Estimate(2_000, 0))
        assert "0 tokens of max_tokens = 1,000; this call may need 2,000 tokens" in tokens
        cost = await refuse(Ledger(0.001, None, price), Estimate(1_000, 1_000))
        assert "$0.0000 of max_cost = $0.001; this call may need $0.0100" in cost
        ledger = Ledger(0.001, 100, price)
        ledger.settle(await ledger.reserve("p", "m", Estimate(50, 50)), "p", "m", Usage(60, 50))
        assert "110 tokens of max_tokens = 100" in await refuse(ledger, Estimate(0, 0))

    anyio.run(main)


def test_a_call_without_a_price_is_refused_if_its_cost_is_limited() -> None:
    async def main() -> None:
        limited, tokens_only = Ledger(1.0, None, price), Ledger(None, 1_000, price)
        for output in (None, 10):
            with pytest.raises(BudgetRefusal) as exc_info:
                await limited.reserve("p", "unpriced", Estimate(10, output))
            assert exc_info.value.code == "price_unknown"
            assert 'set it in [prices."p/unpriced"]' in exc_info.value.message
        assert (limited.reserved, limited.spent) == (BudgetUse(), BudgetUse())
        assert (await tokens_only.reserve("p", "unpriced", Estimate(10, 10))).tokens == 20

    anyio.run(main)


def test_a_call_of_unknown_usage_costs_what_it_reserved() -> None:
    async def main() -> None:
        ledger = Ledger(1.0, 2_000, price)
        first = await ledger.reserve("p", "m", Estimate(100, 800))
        second = await ledger.reserve("p", "m", Estimate(100, 900))
        ledger.spend_reservation(first, in_tokens=True)
        ledger.spend_reservation(second, in_tokens=False)
        assert ledger.reserved == BudgetUse(pytest.approx(0, abs=1e-12), 0)
        assert ledger.spent == BudgetUse(pytest.approx(200 * INPUT + 1_700 * OUTPUT), 900)

    anyio.run(main)
