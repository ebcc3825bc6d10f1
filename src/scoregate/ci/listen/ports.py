"""Who is told what was heard, and who knows what the SDKs ask of their platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from scoregate.core.events import ErrorInfo, Event
from scoregate.core.override import EvaluationOverride
from scoregate.core.tally import Tally


class Hear(Protocol):
    """Is told what a launched command's suites say, while they run."""

    def said(self, log: str, events: Sequence[Event]) -> None:
        """Events of one run of a suite; `log` is its own."""

    def counted(self, tally: Tally) -> None:
        """How far a run of a suite is."""

    def left_out(self, suite: str) -> None:
        """A suite runs that no filter chose."""

    def failed(self, error: ErrorInfo) -> None:
        """Something is wrong that is of no suite known: the command is not whole."""

    def noticed(self, notice: str) -> None:
        """Something that the report should mention."""


class Book(Protocol):
    """What the SDKs look up: champions of battles, and people's corrections of judges.

    Its methods block, and may be called from several threads at once. Each raises `StoreError` where something cannot
    be read or written.
    """

    def champion(self, suite: str, case: str) -> str | None:
        """The text that a new output of a case, named by its hash, has to beat; None where nobody knows one."""

    def crown(self, suite: str, case: str, output: str) -> None:
        """Make a text the champion of later runs, unless the base run decides who that is."""

    def overrides(self, evaluator: str, count: int) -> Sequence[EvaluationOverride]:
        """The newest corrections of an evaluator's scores, at most `count`, the newest first."""
