"""The gateway's budget: calls reserve what they may cost, and pay what they did cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from scoregate.kernel.types.amounts import BudgetUse, Conclusion, check_limit, uses_up
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.records import record
from scoregate.models.budget import describe_unknown_price

# Above this share of its longest answers so far, a call without a limit of its own waits until it is alone.
_MARGIN = 4
_FIRST_OUTPUT = 4_096  # for a model that has not answered yet


@record
class Estimate:
    """The most that a call may use.

    Attributes:
        input_tokens: an upper limit; a token has at least one byte.
        output_tokens: the limit that the request names; None if it names none.
    """

    input_tokens: int
    output_tokens: int | None


@record
class BudgetRefusal(Exception):
    """The budget does not allow a call.

    Attributes:
        message: what is wrong and what to do.
        code: the code of the error in the response.
    """

    message: str
    code: str = "budget_spent"


class Ledger:
    """What a run has spent and reserved. It belongs to the event loop of the gateway.

    A call starts if everything that is spent and reserved, and its own upper limit, are within the budget. Otherwise
    it waits for the running calls, which usually cost less than they reserved. It is refused if it does not fit
    although no call is running. A call without a limit on its output reserves four times the longest output
    of its model so far; if that does not fit, it is made alone. So such calls exceed the budget by one call at most.
    With a budget in US dollars, a call whose price is unknown is refused.

    Args:
        max_cost: US dollars; None for no limit.
        max_tokens: tokens; None for no limit.
        price: the cost in US dollars of tokens of a provider and model; None if the price is unknown.
    """

    def __init__(
        self,
        max_cost: float | None,
        max_tokens: float | None,
        price: Callable[[str, str, Usage], float | None],
    ) -> None:
        self._max_cost, self._max_tokens, self._price = max_cost, max_tokens, price
        self._longest: dict[tuple[str, str], int] = {}
        self._changed = asyncio.Event()
        self._running = 0
        self.spent = self.reserved = BudgetUse()

    @property
    def is_limited(self) -> bool:
        """Whether there is a budget."""
        return self._max_cost is not None or self._max_tokens is not None

    @property
    def is_cost_limited(self) -> bool:
        """Whether there is a budget in US dollars, so that each reservation has a cost."""
        return self._max_cost is not None

    async def reserve(self, provider: str, model: str, estimate: Estimate) -> BudgetUse:
        """Reserve what a call may cost, when the budget allows it.

        Raises:
            BudgetRefusal: the budget does not allow the call.
        """
        while True:
            if self._is_spent():
                raise BudgetRefusal(self._describe())
            amount = self._upper_limit(provider, model, estimate)
            if self._fits(amount) or (self._running == 0 and estimate.output_tokens is None):
                self.reserved += amount
                self._running += 1
                return amount
            if self._running == 0:
                raise BudgetRefusal(f"{self._describe()}; this call may need {self._describe_amount(amount)}")
            self._changed.clear()
            await self._changed.wait()

    def settle(self, reservation: BudgetUse, provider: str, model: str, usage: Usage | None) -> None:
        """Replace a reservation with what the call used.

        Args:
            reservation: what `reserve` returned.
            provider: the name of the provider.
            model: the name of the model.
            usage: the usage; None if nothing was asked.
        """
        self.reserved -= reservation
        self._running -= 1
        if usage is not None:
            # The model that answered may have no price, although the one that was asked has one.
            cost = reservation.cost if usage.cost is None else usage.cost
            self.spent += BudgetUse(cost, usage.input_tokens + usage.output_tokens)
            if usage.output_tokens > self._longest.get((provider, model), 0):
                self._longest[provider, model] = usage.output_tokens
        self._changed.set()

    def spend_reservation(self, reservation: BudgetUse, *, in_tokens: bool) -> None:
        """Count what a call reserved as spent, because its usage is unknown.

        Args:
            reservation: what `reserve` returned.
            in_tokens: whether the call uses tokens; otherwise only its cost counts.
        """
        self.reserved -= reservation
        self._running -= 1
        self.spent += reservation if in_tokens else BudgetUse(reservation.cost)
        self._changed.set()

    def _upper_limit(self, provider: str, model: str, estimate: Estimate) -> BudgetUse:
        output = estimate.output_tokens
        if output is None:
            output = _MARGIN * self._longest.get((provider, model), _FIRST_OUTPUT)
        if self._max_cost is None:
            return BudgetUse(0.0, estimate.input_tokens + output)
        cost = self._price(provider, model, Usage(estimate.input_tokens, output, model=model))
        if cost is None:
            problem, advice = describe_unknown_price(provider, model)
            message = f"{problem}, and max_cost = ${self._max_cost:g} limits the cost of the run; {advice}"
            raise BudgetRefusal(message, "price_unknown")
        return BudgetUse(cost, estimate.input_tokens + output)

    def _fits(self, use: BudgetUse) -> bool:
        limits = self._pair_limits(self.spent + self.reserved + use)
        return all(check_limit(amount, limit) is Conclusion.PASSED for amount, limit in limits)

    def _is_spent(self) -> bool:
        return any(uses_up(amount, limit) for amount, limit in self._pair_limits(self.spent))

    def _pair_limits(self, use: BudgetUse) -> list[tuple[float, float]]:
        pairs = (use.cost, self._max_cost), (use.tokens, self._max_tokens)
        return [(amount, limit) for amount, limit in pairs if limit is not None]

    def _describe(self) -> str:
        parts = []
        if self._max_cost is not None:
            parts.append(f"${self.spent.cost:.4f} of max_cost = ${self._max_cost:g}")
        if self._max_tokens is not None:
            parts.append(f"{self.spent.tokens:,.0f} tokens of max_tokens = {self._max_tokens:,.0f}")
        return f"the budget is spent: {' and '.join(parts)}"

    def _describe_amount(self, amount: BudgetUse) -> str:
        return f"${amount.cost:.4f}" if self._max_cost is not None else f"{amount.tokens:,.0f} tokens"
