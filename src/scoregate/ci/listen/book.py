"""What Autoblocks' platform kept, and suites ask for while they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from scoregate.core.override import EvaluationOverride


class Book(Protocol):
    """Champions and people's words. Its methods block, and may be called from several threads at once.

    Every method raises `StoreError` where something cannot be read or written.
    """

    def champion(self, suite: str, case: str) -> str | None:
        """The text that a new output of a case, named by its hash, has to beat; None where nobody knows one."""

    def crown(self, suite: str, case: str, output: str) -> None:
        """Make a text the champion of later runs, unless the base run decides who that is."""

    def overrides(self, evaluator: str, count: int) -> Sequence[EvaluationOverride]:
        """The newest corrections of an evaluator's scores, at most `count`, the newest first."""
