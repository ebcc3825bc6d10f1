"""Where trials come from, and what each kind of trial counts for: one table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from scoregate.core.records import record
from scoregate.core.runs.dependencies import CarriedFrom


class TrialOrigin(StrEnum):
    """Which run measured a trial."""

    MEASURED = "measured"  # this run
    RESUMED = "resumed"  # an earlier attempt of this run
    KEPT = "kept"  # the base's run: only other rows of a data file changed
    CARRIED = "carried"  # the base's run, with its whole suite: no change affects it


class TrialRole(StrEnum):
    """What a trial was measured for."""

    MAIN = "main"
    EXTRA = "extra"  # repeats an undecided case
    CONTROL = "control"  # the base's case, run again to measure drift
    RETRY = "retry"  # runs a newly failing case again
    WITHOUT = "without"  # the arm without the skill


class TrialMark(StrEnum):
    """What people say about a trial."""

    EXCUSED = "excused"  # its case is in quarantine


class Use(StrEnum):
    """What a trial may count for."""

    LIMITS = "limits"  # limits of the suite alone: pass rate, mean, latency, cost, tokens
    ERRORS = "errors"  # the error rate
    ROWS = "rows"  # whether the suite has rows and a pair in the baseline
    TEST = "test"  # label, interval and p of rows
    MEANS = "means"  # the means that rows show, which gates of drops count
    SLICES = "slices"
    FAILURES = "failures"  # which cases newly fail or pass
    PASS_RATE = "pass rate"  # its change
    CONTROL = "control"  # the sample of the drift control, and rows that it corrects
    REPEATS = "repeats"  # the undecided cases that are repeated
    AGAIN = "again"  # runs again for an alert
    OLDER = "older"  # rows of a comparison with a run before the base
    EARLIER = "earlier"  # evidence for a later run, which needs whole suites
    HISTORY = "history"  # a point of a whole suite in histories, or next to them
    DATABASE = "database"  # trials in the history database
    FRESH = "fresh"  # scores in the database that are new, and calls of models there that were paid
    SPENT = "spent"  # what this run paid
    STABLE = "stable"  # runs in a row in which a case in quarantine passed


_Kind: TypeAlias = TrialOrigin | TrialRole | TrialMark
_MEASURED, _RESUMED, _KEPT, _CARRIED = TrialOrigin
_MAIN, _EXTRA, _CONTROL, _RETRY, _WITHOUT = TrialRole
_EXCUSED = TrialMark.EXCUSED

COUNTS: Mapping[Use, frozenset[_Kind]] = MappingProxyType(
    {
        Use.LIMITS: frozenset({_MEASURED, _RESUMED, _KEPT, _CARRIED, _MAIN}),
        Use.ERRORS: frozenset({_MEASURED, _RESUMED, _KEPT, _CARRIED, _MAIN, _WITHOUT}),
        Use.ROWS: frozenset({_MEASURED, _RESUMED, _KEPT, _CARRIED, _MAIN}),
        Use.TEST: frozenset({_MEASURED, _RESUMED, _MAIN, _EXTRA}),
        Use.MEANS: frozenset({_MEASURED, _RESUMED, _KEPT, _CARRIED, _MAIN}),
        Use.SLICES: frozenset({_MEASURED, _RESUMED, _KEPT, _MAIN, _EXTRA, _CONTROL}),
        Use.FAILURES: frozenset({_MEASURED, _RESUMED, _KEPT, _MAIN, _RETRY}),
        Use.PASS_RATE: frozenset({_MEASURED, _RESUMED, _MAIN}),
        Use.CONTROL: frozenset({_MEASURED, _RESUMED, _MAIN, _CONTROL}),
        Use.REPEATS: frozenset({_MEASURED, _RESUMED, _KEPT, _MAIN}),
        Use.AGAIN: frozenset({_MEASURED, _RESUMED, _KEPT, _MAIN}),
        Use.OLDER: frozenset({_MEASURED, _RESUMED, _KEPT, _CARRIED, _MAIN}),
        Use.EARLIER: frozenset({_MEASURED, _RESUMED, _MAIN, _WITHOUT}),
        Use.HISTORY: frozenset({_MEASURED, _RESUMED, _MAIN, _WITHOUT}),
        Use.DATABASE: frozenset({_MEASURED, _RESUMED, _MAIN, _WITHOUT}),
        Use.FRESH: frozenset({_MEASURED, _MAIN, _WITHOUT}),
        Use.SPENT: frozenset({_MEASURED, _RESUMED, _MAIN, _WITHOUT, _EXCUSED}),
        Use.STABLE: frozenset({_MEASURED, _RESUMED, _MAIN, _WITHOUT, _EXCUSED}),
    }
)
"""What counts for what; nothing else decides. A trial counts if its origin, its role and its mark, if any, do."""


def does_count(kind: _Kind, use: Use) -> bool:
    """Whether trials of an origin, a role or a mark count."""
    return kind in COUNTS[use]


@record
class Evidence:
    """Where the trials of a suite come from.

    Attributes:
        role: what they were measured for.
        size: their number.
        carried: the run that measured the suite, if this run only carries its results over.
        kept: the run that measured the reused trials, if only cases with changed rows ran.
        reused: the rows that another run, or an earlier attempt of this run, measured.
    """

    role: TrialRole
    size: int
    carried: CarriedFrom | None
    kept: CarriedFrom | None
    reused: Collection[int]

    @property
    def origins(self) -> frozenset[TrialOrigin]:
        """The origins that trials may have."""
        if self.carried is not None:
            return frozenset({TrialOrigin.CARRIED})
        return frozenset({TrialOrigin.MEASURED, TrialOrigin.RESUMED if self.kept is None else TrialOrigin.KEPT})

    @property
    def sources(self) -> frozenset[str]:
        """The ids of other runs that measured trials, besides earlier attempts of the run."""
        return frozenset(source.id for source in (self.carried, self.kept) if source is not None)

    def find_origin(self, *, is_reused: bool) -> TrialOrigin:
        """Where a trial comes from."""
        if self.carried is not None:
            return TrialOrigin.CARRIED
        if not is_reused:
            return TrialOrigin.MEASURED
        return TrialOrigin.RESUMED if self.kept is None else TrialOrigin.KEPT

    def counts(self, use: Use) -> bool:
        """Whether a trial may count."""
        return self.role in COUNTS[use] and not self.origins.isdisjoint(COUNTS[use])

    def counts_all(self, use: Use) -> bool:
        """Whether every trial counts."""
        return self.role in COUNTS[use] and self.origins <= COUNTS[use]

    def rows(self, use: Use) -> Sequence[int]:
        """The rows of the trials that count, in order."""
        if self.counts_all(use):
            return range(self.size)
        others = self.rows_without(use)
        return [row for row in range(self.size) if row not in others]

    def rows_without(self, use: Use) -> Collection[int]:
        """The rows of the trials that do not count, in no order."""
        if self.role not in COUNTS[use]:
            return range(self.size)
        new, reused = (self.find_origin(is_reused=each) in COUNTS[use] for each in (False, True))
        if new and reused:
            return ()
        if not new and not reused:
            return range(self.size)
        return self.reused if new else [row for row in range(self.size) if row not in self.reused]
