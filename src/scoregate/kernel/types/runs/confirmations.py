"""Newly failing cases that ran again, and what this says about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from math import comb

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Slot

PASSES_TO_CLEAR, FAILURES_TO_CONFIRM, MOST_TRIES = 2, 3, 4
_MOST_TESTED = 100


class ConfirmationOutcome(StrEnum):
    """The result of running a newly failing case again."""

    CONFIRMED = "confirmed"
    CLEARED = "cleared"
    NOT_CERTAIN = "not certain"
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
        level: the p, in (0, 1), up to which Fisher's test of `tries` and `base_tries` confirms the case; None if the
            numbers of passes and failures decide.
    """

    suite: str
    case: str
    tries: tuple[bool, ...]
    base_tries: tuple[bool, ...] = ()
    level: float | None = None

    @property
    def outcome(self) -> ConfirmationOutcome:
        """By the test, if there is a level: the case is open if every trial speaks against it, and they are too few.

        It is cleared if more of its trials pass than fail.
        Without a level, two passes clear the case; three failures confirm it, unless the baseline fails as often.
        """
        if self.level is not None:
            return _test_tries(self.tries, self.base_tries, self.level)
        if not is_decided(self.tries):
            return ConfirmationOutcome.OPEN
        if self.tries.count(True) >= PASSES_TO_CLEAR:
            return ConfirmationOutcome.CLEARED
        fails_in_base = self.base_tries.count(False) >= FAILURES_TO_CONFIRM
        return ConfirmationOutcome.FAILS_IN_BASE if fails_in_base else ConfirmationOutcome.CONFIRMED

    @property
    def p(self) -> float:
        """The p of Fisher's test that the case fails more often than in the baseline, in (0, 1]."""
        return fisher_p(self.tries, self.base_tries)


def is_decided(tries: Sequence[bool]) -> bool:
    """Whether no further try is needed, which is always so after four."""
    return tries.count(True) >= PASSES_TO_CLEAR or tries.count(False) >= FAILURES_TO_CONFIRM


def _test_tries(tries: Sequence[bool], base_tries: Sequence[bool], level: float) -> ConfirmationOutcome:
    if fisher_p(tries, base_tries) <= level:
        return ConfirmationOutcome.CONFIRMED
    if not any(tries) and all(base_tries):
        return ConfirmationOutcome.OPEN
    if base_tries.count(False) > base_tries.count(True):
        return ConfirmationOutcome.FAILS_IN_BASE
    is_flaky = tries.count(True) > tries.count(False)
    return ConfirmationOutcome.CLEARED if is_flaky else ConfirmationOutcome.NOT_CERTAIN


def fisher_p(tries: Sequence[bool], base_tries: Sequence[bool]) -> float:
    """The one-sided p of Fisher's exact test that trials fail more often than those of the baseline, in (0, 1].

    Args:
        tries: whether each trial passed; the first hundred count, since a stored run may hold any number.
        base_tries: the same for the baseline.

    Source: Fisher (1935), Journal of the Royal Statistical Society 98:39.
    """
    tries, base_tries = tries[:_MOST_TESTED], base_tries[:_MOST_TESTED]
    size, base_size, failed = len(tries), len(base_tries), tries.count(False)
    failures = failed + base_tries.count(False)
    ways = sum(comb(size, more) * comb(base_size, failures - more) for more in range(failed, min(size, failures) + 1))
    return ways / comb(size + base_size, failures)


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
