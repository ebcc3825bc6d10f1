"""Where trials come from, and what each kind of trial counts for: one table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.dependencies import CarriedFrom


class TrialOrigin(StrEnum):
    """Which run measured a trial."""

    MEASURED = "measured"  # this run
    RESUMED = "resumed"  # an earlier attempt of this run, which did not finish
    ATTEMPT = "attempt"  # an earlier attempt at the same code, which finished: its trials are repeats
    KEPT = "kept"  # the base's run: only other rows of a data file changed
    CARRIED = "carried"  # the base's run, with its whole suite: no change affects it


class TrialRole(StrEnum):
    """What a trial was measured for."""

    MAIN = "main"
    EXTRA = "extra"  # repeats an undecided case
    CONTROL = "control"  # the base's case, run again to measure drift
    RETRY = "retry"  # runs a newly failing case again
    WITHOUT = "without"  # the arm without the skill
    PUSH = "push"  # an earlier push; its trials count as those of an attempt where nothing changed since
    AGAIN = "again"  # measures the run again before a gate fails; its trials count as those of an attempt
    AGAIN_BASE = "again in the base"  # the same of the base


class TrialMark(StrEnum):
    """What people say about a trial."""

    EXCUSED = "excused"  # its case is in quarantine


class Use(StrEnum):
    """What a trial may count for."""

    LIMITS = "limits"  # limits of the suite alone: pass rate, mean, latency
    AMOUNTS = "amounts"  # cost and tokens of the suite, which are sums
    ERRORS = "errors"  # the error rate
    ROWS = "rows"  # whether the suite has rows and a pair in the baseline
    TEST = "test"  # label, interval and p of rows
    MEANS = "means"  # the means that rows show, which gates of drops count
    SLICES = "slices"
    FAILURES = "failures"  # which cases newly fail or pass
    PASS_RATE = "pass rate"  # its change
    CONTROL = "control"  # the sample of the drift control, and rows and slices that it corrects
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
_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _CARRIED = TrialOrigin
_MAIN, _EXTRA, _CONTROL, _RETRY, _WITHOUT, *_ = TrialRole
_EXCUSED = TrialMark.EXCUSED

COUNTS: Mapping[Use, frozenset[_Kind]] = MappingProxyType(
    {
        Use.LIMITS: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _CARRIED, _MAIN}),
        Use.AMOUNTS: frozenset({_MEASURED, _RESUMED, _KEPT, _CARRIED, _MAIN, _WITHOUT, _EXCUSED}),
        Use.ERRORS: frozenset({_MEASURED, _RESUMED, _KEPT, _CARRIED, _MAIN, _WITHOUT}),
        Use.ROWS: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _CARRIED, _MAIN}),
        Use.TEST: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _MAIN, _EXTRA}),
        Use.MEANS: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _CARRIED, _MAIN}),
        Use.SLICES: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _MAIN, _EXTRA}),
        Use.FAILURES: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _MAIN, _RETRY}),
        Use.PASS_RATE: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _MAIN}),
        Use.CONTROL: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _MAIN, _CONTROL}),
        Use.REPEATS: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _MAIN}),
        Use.AGAIN: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _MAIN}),
        Use.OLDER: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _KEPT, _CARRIED, _MAIN}),
        Use.EARLIER: frozenset({_MEASURED, _RESUMED, _MAIN, _WITHOUT}),
        Use.HISTORY: frozenset({_MEASURED, _RESUMED, _ATTEMPT, _MAIN, _WITHOUT}),
        Use.DATABASE: frozenset({_MEASURED, _RESUMED, _MAIN, _WITHOUT}),
        Use.FRESH: frozenset({_MEASURED}),
        Use.SPENT: frozenset({_MEASURED, _RESUMED, _MAIN, _WITHOUT, _EXCUSED}),
        Use.STABLE: frozenset({_MEASURED, _RESUMED, _EXCUSED}),
    }
)
"""What counts for what; nothing else decides. A trial counts if its origin, its role and its mark, if any, do.

`FRESH` and `STABLE` name no role, since they ask trials of every role.
"""


def does_count(kind: _Kind, use: Use) -> bool:
    """Whether trials of an origin, a role or a mark count."""
    return kind in COUNTS[use]


@record
class TrialSource:
    """Where trials come from.

    Attributes:
        origin: which run measured them.
        run: the base's run that did; None for this run and earlier attempts.
    """

    origin: TrialOrigin
    run: CarriedFrom | None = None


def list_sources(*, carried: CarriedFrom | None = None, kept: CarriedFrom | None = None) -> tuple[TrialSource, ...]:
    """Where the trials of a suite come from: those that ran with it, and those that it reused.

    Args:
        carried: the run whose results it has, if it did not run, because no change affects it.
        kept: the run whose results it reused, if only cases with changed rows ran.
    """
    if carried is not None:
        return (TrialSource(_CARRIED, carried), TrialSource(_CARRIED, carried))
    return (TrialSource(_MEASURED), TrialSource(_RESUMED) if kept is None else TrialSource(_KEPT, kept))


MEASURED_SOURCES = list_sources()


@record
class Trials:
    """The trials of a suite.

    Attributes:
        columns: their results.
        sources: where they come from, by the number in `Columns.sources`: 0 for what the suite measured when it ran, 1
            for what it reused, 2 for what earlier attempts measured, if any count.
        excused: the trials of cases in quarantine, which are left out of `columns`; None if nothing is.
        read: reads them from disk; None if they are not stored.
    """

    columns: Columns = field(default_factory=Columns)
    sources: tuple[TrialSource, ...] = MEASURED_SOURCES
    excused: Columns | None = None
    read: Callable[[], Iterable[CaseResult]] | None = None

    def find_run(self, origin: TrialOrigin) -> CarriedFrom | None:
        """The run that trials of an origin come from; None if there are none."""
        return next((source.run for source in self.sources if source.origin is origin), None)


@record
class Evidence:
    """What the trials of a suite count for.

    Attributes:
        role: what they were measured for.
        trials: the trials.
    """

    role: TrialRole
    trials: Trials

    @property
    def runs(self) -> frozenset[str]:
        """The ids of other runs that measured trials, besides earlier attempts."""
        return frozenset(source.run.id for source in self.trials.sources if source.run is not None)

    def counts(self, use: Use) -> bool:
        """Whether a trial may count."""
        return self.role in COUNTS[use] and any(source.origin in COUNTS[use] for source in self.trials.sources)

    def counts_all(self, use: Use) -> bool:
        """Whether every trial counts."""
        return self.role in COUNTS[use] and all(source.origin in COUNTS[use] for source in self.trials.sources)

    def rows_without(self, use: Use, columns: Columns | None = None) -> Collection[int]:
        """The rows of the trials that do not count.

        Args:
            use: what they count for.
            columns: the trials; None for all but those of cases in quarantine.
        """
        columns = self.trials.columns if columns is None else columns
        if not self.counts(use):
            return range(len(columns))
        others = [number for number, source in enumerate(self.trials.sources) if source.origin not in COUNTS[use]]
        return columns.rows_from(others) if others else ()

    def list_amounts(self, use: Use, pick: Callable[[Columns], Sequence[float]]) -> Iterator[float]:
        """The numbers of the trials that count in a column, those of cases in quarantine first.

        Args:
            use: what they count for.
            pick: returns the column.
        """
        if self.trials.excused is not None and does_count(_EXCUSED, use):
            yield from self._select_amounts(use, pick, self.trials.excused)
        yield from self.list_own_amounts(use, pick)

    def list_own_amounts(self, use: Use, pick: Callable[[Columns], Sequence[float]]) -> Iterable[float]:
        """The same without cases in quarantine."""
        return self._select_amounts(use, pick, self.trials.columns)

    def _select_amounts(
        self, use: Use, pick: Callable[[Columns], Sequence[float]], columns: Columns
    ) -> Iterable[float]:
        others, column = self.rows_without(use, columns), pick(columns)
        return (value for row, value in enumerate(column) if row not in others) if others else column
