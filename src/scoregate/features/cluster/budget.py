"""The budget of a run on several machines: parts get leases of it, and what they don't spend returns."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from math import isnan

from scoregate.kernel.types.amounts import BudgetUse
from scoregate.kernel.types.runs.reducer import RunReducer

# The suite, the case and the repeat.
TrialName = tuple[str, str, int]


@dataclass(slots=True)
class BudgetLeases:
    """Leases of one budget. All leases and everything that was spent are never more than the budget.

    A part that begins gets the share of the rest that its duration has in the parts that have not begun. Its lease ends
    with its attempt, also if its worker dies: then what its trials spent is counted, and the rest returns.

    Args:
        max_cost: US dollars; None for no limit.
        max_tokens: tokens; None for no limit.
        weights: the expected seconds of the parts, by number; equal numbers if they are unknown.
    """

    max_cost: float | None
    max_tokens: float | None
    weights: Mapping[int, float]
    spent: BudgetUse = field(default_factory=BudgetUse)
    _leases: dict[int, BudgetUse] = field(default_factory=dict)
    _ended: set[int] = field(default_factory=set)

    def begin(self, number: int) -> dict[str, str]:
        """Begin a lease; returns the variables with its limits."""
        self._ended.discard(number)
        waiting = [each for each in self.weights if each not in self._ended and each not in self._leases]
        total = sum(self.weights[each] for each in waiting)
        share = self.weights[number] / total if total else 1 / len(waiting)
        committed = sum(self._leases.values(), self.spent)
        variables: dict[str, str] = {}
        lease = BudgetUse()
        if self.max_cost is not None:
            lease += BudgetUse(cost=max(0.0, self.max_cost - committed.cost) * share)
            variables["SCOREGATE_MAX_COST"] = repr(lease.cost)
        if self.max_tokens is not None:
            lease += BudgetUse(tokens=max(0.0, self.max_tokens - committed.tokens) * share)
            variables["SCOREGATE_MAX_TOKENS"] = repr(lease.tokens)
        self._leases[number] = lease
        return variables

    def end(self, number: int, spent: BudgetUse, *, is_complete: bool) -> None:
        """End a lease.

        Args:
            number: the number of the part.
            spent: what its attempt spent.
            is_complete: whether the part does not run again.
        """
        self._leases.pop(number, None)
        self.spent += spent
        if is_complete:
            self._ended.add(number)


def sum_spent(reducer: RunReducer, reused: Set[TrialName]) -> BudgetUse:
    """What the finished trials of an attempt spent.

    Args:
        reducer: the results of the attempt.
        reused: the trials that an earlier attempt measured.
    """
    cost = tokens = 0.0
    for suite in reducer.suites.values():
        columns = suite.columns
        usage = suite.finished.usage if suite.finished is not None else None
        if usage is not None:
            cost, tokens = cost + (usage.cost or 0.0), tokens + usage.input_tokens + usage.output_tokens
        for row, (row_cost, row_tokens) in enumerate(zip(columns.costs, columns.tokens, strict=True)):
            if not isnan(row_tokens) and (suite.id, *columns.key(row)) not in reused:
                cost += 0.0 if isnan(row_cost) else row_cost
                tokens += row_tokens
    return BudgetUse(cost, tokens)
