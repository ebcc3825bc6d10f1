"""Flaky or regressed? What running a newly failing case again has shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

PASSES = 2
FAILURES = 3
MOST_TRIES = 4


class Outcome(StrEnum):
    """What the tries come to."""

    CONFIRMED = "confirmed"
    CLEARED = "cleared"
    FAILS_IN_BASE = "fails in the base too"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A newly failing case and its further tries, True for each that passed; the first failure is not among them.

    `suite` is a label; `base_tries` are those of the base, empty where it could not be run again.
    """

    suite: str
    case: str
    tries: tuple[bool, ...]
    base_tries: tuple[bool, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Two passes clear it; three failures confirm it, unless the base fails as often."""
        if not is_decided(self.tries):
            return Outcome.OPEN
        if self.tries.count(True) >= PASSES:
            return Outcome.CLEARED
        return Outcome.FAILS_IN_BASE if self.base_tries.count(False) >= FAILURES else Outcome.CONFIRMED


def is_decided(tries: Sequence[bool]) -> bool:
    """Whether no further try is needed; after four there never is."""
    return tries.count(True) >= PASSES or tries.count(False) >= FAILURES
