"""Amounts such as costs and tokens: a number, a sum of which a part is unknown, or the reason why nothing is known.

Only `add` sums them, and only `check_limit` and `uses_up` compare them with a limit. So an unknown part is never taken
for 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeAlias

from scoregate.kernel.types.conclusion import Conclusion
from scoregate.kernel.types.limit_checks import exceeds, reaches
from scoregate.kernel.types.records import record

_LONGEST_NAME = 100


class Why(StrEnum):
    """Why an amount is unknown."""

    NOT_REPORTED = "nothing was reported"
    NO_PRICE = "no price is known of"


@record
class Unknown:
    """An amount of which nothing is known.

    Attributes:
        why: the reason.
        text: what it is about, such as models; joined by commas.
    """

    why: Why
    text: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What it is about, one by one; long names are cut."""
        is_named = self.why is not Why.NOT_REPORTED
        return tuple(dict.fromkeys(name[:_LONGEST_NAME] for name in self.text.split(", "))) if is_named else ()

    @property
    def reason(self) -> str:
        """The reason in words."""
        return f"{self.why} {', '.join(self.names)}".rstrip()


@record
class AtLeast:
    """A sum of which a part is unknown."""

    value: float
    missing: Unknown


Amount: TypeAlias = float | AtLeast | Unknown

NOT_REPORTED = Unknown(Why.NOT_REPORTED)
"""The amount of what was not reported. It adds nothing to a sum, and alone it is no 0: no limit holds for it."""


def lack_prices(models: Iterable[str]) -> Unknown:
    """The cost of calls of models without a known price; `NOT_REPORTED` without any."""
    names = sorted(models)
    return Unknown(Why.NO_PRICE, ", ".join(names)) if names else NOT_REPORTED


def add(amounts: Iterable[Amount], values: Iterable[float] = ()) -> Amount:
    """The sum of amounts; `NOT_REPORTED` without any.

    Args:
        amounts: the amounts.
        values: further numbers, such as those of a long column.
    """
    parts = tuple(amounts)
    known = [value for each in parts if (value := find_known(each)) is not None]
    known += values
    unknown = _join(map(find_missing, parts))
    if not known:
        return unknown
    return sum(known) if unknown is NOT_REPORTED else AtLeast(sum(known), unknown)


def _join(missing: Iterable[Unknown | None]) -> Unknown:
    parts = [each for each in missing if each is not None and each.why is not Why.NOT_REPORTED]
    if not parts:
        return NOT_REPORTED
    names = {name for each in parts for name in each.text.split(", ")}
    return Unknown(parts[0].why, ", ".join(sorted(names)))


def find_known(amount: Amount) -> float | None:
    """The known part, for reports; None if nothing is known."""
    return amount.value if isinstance(amount, AtLeast) else None if isinstance(amount, Unknown) else amount


def find_missing(amount: Amount) -> Unknown | None:
    """What is unknown; None if the amount is known."""
    return amount.missing if isinstance(amount, AtLeast) else amount if isinstance(amount, Unknown) else None


def check_limit(amount: Amount, limit: float) -> Conclusion:
    """Compare an amount with its limit. A known part above it has failed; below it, it is no evidence."""
    known = find_known(amount)
    if known is not None and exceeds(known, limit):
        return Conclusion.FAILED
    return Conclusion.PASSED if find_missing(amount) is None else Conclusion.UNMEASURABLE


def uses_up(amount: Amount, budget: float) -> bool:
    """Whether the known part leaves nothing of a budget."""
    known = find_known(amount)
    return known is not None and reaches(known, budget)


@record
class BudgetUse:
    """US dollars and tokens of a budget that are spent or reserved."""

    cost: float = 0.0
    tokens: float = 0.0

    def __add__(self, other: BudgetUse) -> BudgetUse:
        return BudgetUse(self.cost + other.cost, self.tokens + other.tokens)

    def __sub__(self, other: BudgetUse) -> BudgetUse:
        return BudgetUse(self.cost - other.cost, self.tokens - other.tokens)
