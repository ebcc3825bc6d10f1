"""What features find out about the change of a row besides its size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar


class Adjustment(ABC):
    """Another cause of a row's change, which a feature measured, and may have subtracted from the change.

    A feature derives a record from it. `result.json` has the fields of this record.

    Attributes:
        cause: its name in findings: `provider drift`.
        explanation: ends the finding of a change that it explains: `with the drift of the provider, which explains it`.
        why_not: ends a sentence about rows from which nothing was subtracted: `have too few control cases and …`.
        delta: the change as it was measured; None if nothing was subtracted.
    """

    __slots__ = ()
    cause: ClassVar[str]
    explanation: ClassVar[str]
    why_not: ClassVar[str]
    delta: float | None

    @property
    @abstractmethod
    def found_shift(self) -> float | None:
        """How far the scores moved by this cause; None if it is not certain that they did."""

    @abstractmethod
    def explains(self, alpha: float) -> bool:
        """Whether the measured change is in the direction of a significant shift.

        Args:
            alpha: the two-sided level, in (0, 1).
        """

    @abstractmethod
    def describe(self, label: str) -> str:
        """What the note of the row says about it; empty for nothing.

        Args:
            label: the label of the row.
        """
