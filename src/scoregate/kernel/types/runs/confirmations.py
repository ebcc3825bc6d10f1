"""Newly failing cases that ran again, and what this says about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Slot

PASSES_TO_CLEAR, FAILURES_TO_CONFIRM, MOST_TRIES = 2, 3, 4


class ConfirmationOutcome(StrEnum):
    """The result of running a newly failing case again."""

    CONFIRMED = "confirmed"
    CLEARED = "cleared"
    FAILS_IN_BASE = "fails in the base too"
    OPEN = "open"


@record
class Confirmation:
    """A newly failing case that was run again.

    Attributes:
        suite: the label of the suite.
        case: the hash of the case.
        tries: whether each further trial passed; without the first failure.
        base_tries: the same for the baseline; empty if it could not be run again.
    """

    suite: str
    case: str
    tries: tuple[bool, ...]
    base_tries: tuple[bool, ...] = ()

    @property
    def outcome(self) -> ConfirmationOutcome:
        """Two passes clear the case; three failures confirm it, unless the baseline fails as often."""
        if not is_decided(self.tries):
            return ConfirmationOutcome.OPEN
        if self.tries.count(True) >= PASSES_TO_CLEAR:
            return ConfirmationOutcome.CLEARED
        fails_in_base = self.base_tries.count(False) >= FAILURES_TO_CONFIRM
        return ConfirmationOutcome.FAILS_IN_BASE if fails_in_base else ConfirmationOutcome.CONFIRMED


def is_decided(tries: Sequence[bool]) -> bool:
    """Whether no further try is needed, which is always so after four."""
    return tries.count(True) >= PASSES_TO_CLEAR or tries.count(False) >= FAILURES_TO_CONFIRM


CONFIRMATIONS: Slot[tuple[Confirmation, ...]] = Slot("confirmations", tuple[Confirmation, ...])
"""The newly failing cases of a run that ran again."""


def confirmations_of(run: Run) -> tuple[Confirmation, ...]:
    """The newly failing cases of a run that ran again.

    Raises:
        RecordError: those that are stored are not valid.
    """
    return run.slots.get(CONFIRMATIONS) or ()


def with_confirmations(run: Run, confirmations: Iterable[Confirmation]) -> Run:
    """The run with these confirmations only."""
    return replace(run, slots=run.slots.put(CONFIRMATIONS, tuple(confirmations) or None))
