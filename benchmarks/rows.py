"""One line of the result: what was measured, its target, whether it is met; printed as a Markdown table."""

from dataclasses import dataclass
from math import isnan


@dataclass(frozen=True)
class Row:
    """A number; its target, where there is one, is an upper bound and the row is missed above it. NaN: it crashed."""

    name: str
    value: float
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def missed(self) -> bool:
        """Return whether there is a target and the number is above it."""
        return self.target is not None and self.value > self.target

    @property
    def mark(self) -> str:
        """Return the last column: `ok`, `MISSED`, or nothing for a number that is only shown."""
        if self.target is None:
            return ""
        return "MISSED" if self.missed else "ok"

    def __str__(self) -> str:
        """Return the row as a line of the table."""
        bound = "" if self.target is None else f"≤ {self.target:g} {self.unit}"
        value = "crashed" if isnan(self.value) else f"{self.value:.3g} {self.unit}"
        return f"| {self.name} | {value} | {bound} | {self.mark} | {self.note} |"


HEAD = "| what | measured | target | | medians |\n|---|--:|--:|---|---|"
