"""How far a running suite is: counts, mean scores and costs of the trials that have finished."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

from scoregate.core.records import record
from scoregate.core.runs.case_columns import known_values
from scoregate.core.runs.cases import Status
from scoregate.core.runs.reducer import SuiteReducer


@record
class Tally:
    """The progress of a running suite.

    Attributes:
        log: the event log.
        label: the id of the suite with its parameters.
        planned: the number of trials; None if unknown.
        done: the number of finished trials.
        states: the number of finished trials by status.
        means: the mean of the scores so far, in [0, 1], by evaluator.
        cost: US dollars so far.
        finished: whether the suite is finished.
        duration_s: the duration in seconds, if the finished suite reports it.
        cases: the number of cases that the finished trials are of; 0 if unknown.
    """

    log: str
    label: str
    planned: int | None = None
    done: int = 0
    states: Mapping[Status, int] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    cost: float = 0.0
    finished: bool = False
    duration_s: float | None = None
    cases: int = 0


@dataclass(slots=True)
class _RunningSum:
    """The sum of the known numbers in a column, to which rows are only appended; each is read once."""

    total: float = 0.0
    count: int = 0
    _rows: int = 0

    def read(self, column: array[float]) -> None:
        """Add the rows that are new since the last call; NaN is no number."""
        known = known_values(column[self._rows :])
        self.total += sum(known)
        self.count += len(known)
        self._rows = len(column)


@dataclass(slots=True)
class SuiteSums:
    """The scores and costs of a suite so far, so that a tally every second reads each trial once."""

    _scores: dict[str, _RunningSum] = field(default_factory=dict)
    _costs: _RunningSum = field(default_factory=_RunningSum)

    def read_means(self, suite: SuiteReducer) -> dict[str, float]:
        """The mean score so far, by evaluator."""
        for name, column in suite.columns.scores.items():
            self._scores.setdefault(name, _RunningSum()).read(column)
        return {name: each.total / each.count for name, each in self._scores.items() if each.count}

    def read_cost(self, suite: SuiteReducer) -> float:
        """The cost so far, in US dollars."""
        usage = suite.sum_usage()
        own = 0.0 if usage is None else usage.cost or 0.0
        self._costs.read(suite.columns.costs)
        return max(own, 0.0) + self._costs.total


def tally_suite(suite: SuiteReducer, log: str, sums: SuiteSums) -> Tally:
    """The progress of a suite.

    Args:
        suite: its finished trials.
        log: the event log.
        sums: what earlier calls for the suite have read.
    """
    columns, finished = suite.columns, suite.finished
    return Tally(
        log,
        suite.label,
        planned=suite.started.cases if suite.started else None,
        done=len(columns),
        cases=columns.case_count,
        states={status: count for status in Status if (count := columns.count(status))},
        means=sums.read_means(suite),
        cost=sums.read_cost(suite),
        finished=finished is not None,
        duration_s=finished.duration_s if finished else None,
    )
