"""The budget of a command that measures edits: calls of models, dollars, or minutes."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from scoregate.errors import UsageError
from scoregate.features.interventions.edited_trees.edited_runs import Spent

DEFAULT = "200 calls"
_FORM = re.compile(r"\$?(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>calls?|usd|dollars?|m|min|minutes?|)", re.IGNORECASE)


@dataclass(frozen=True)
class Budget:
    """What may be spent.

    Attributes:
        calls: the number of calls of models; None without a limit.
        dollars: their cost in US dollars, as far as prices are known; None without a limit.
        minutes: how long it may take; None without a limit.
    """

    calls: int | None = None
    dollars: float | None = None
    minutes: float | None = None

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read a budget such as `200 calls`, `5 USD` or `30 minutes`; a number alone counts calls.

        Raises:
            UsageError: it is none.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                f"--budget {text!r:.100} is no budget", advice="Write 200, '200 calls', '5 USD' or '30 minutes'."
            )
        amount, unit = float(match["amount"]), match["unit"].lower()
        if unit.startswith(("usd", "dollar")) or text.strip().startswith("$"):
            return cls(dollars=amount)
        return cls(minutes=amount) if unit.startswith("m") else cls(calls=int(amount))

    def explain_end(self, spent: Spent, started: float) -> str:
        """Why nothing more may be measured; empty if more may.

        Args:
            spent: what was spent.
            started: the value of `time.monotonic` at the start.
        """
        if self.calls is not None and spent.calls >= self.calls:
            return f"{spent.calls:,} of {self.calls:,} calls of models were made"
        if self.dollars is not None and spent.unpriced:
            return "the price of a model is unknown, so a budget in dollars can't be kept; set `prices`"
        if self.dollars is not None and spent.dollars >= self.dollars:
            return f"${spent.dollars:,.2f} of ${self.dollars:,.2f} were spent"
        if self.minutes is not None and (minutes := (time.monotonic() - started) / 60) >= self.minutes:
            return f"it took {minutes:.0f} minutes"
        return ""

    def __str__(self) -> str:
        if self.calls is not None:
            return f"{self.calls:,} calls"
        return f"${self.dollars:,.2f}" if self.dollars is not None else f"{self.minutes or 0:,.0f} minutes"
