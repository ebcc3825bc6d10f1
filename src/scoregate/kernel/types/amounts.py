"""What a comparison with a limit, a rule and a run conclude."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeAlias

from scoregate.kernel.types.records import record


class Conclusion(StrEnum):
    """The conclusion of a rule or a run. A failure is certain, so `failed` wins over `unmeasurable`."""

    PASSED = "passed"
    FAILED = "failed"
    UNMEASURABLE = "unmeasurable"


_DIGITS = 12


def round_off(value: float) -> float:
    """A number without the last digits, in which sums of floats differ: to twelve decimals and twelve digits."""
    return float(f"{round(value, _DIGITS):.{_DIGITS}g}")


def exceeds(value: float, limit: float) -> bool:
    """Whether a value is above a limit."""
    return round_off(value) > round_off(limit)


def reaches(value: float, limit: float) -> bool:
    """Whether a value is a limit or above it."""
    return round_off(value) >= round_off(limit)


def exceeds_share(number: float, total: float, share: float) -> bool:
    """Whether a number is more than a share of a total; False without a total.

    Args:
        number: a part of the total.
        total: at least 0.
        share: the largest share that is allowed, in [0, 1].
    """
    return bool(total) and exceeds(number / total, share)


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
