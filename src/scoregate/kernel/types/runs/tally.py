"""How far a running suite is: counts, mean scores and costs of the trials that have finished."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns, known_values
from scoregate.kernel.types.runs.case_means import count_passes, list_case_means
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.reducer import SuiteReducer


@record
class Tally:
    """The progress of a running suite.

    Attributes:
        log: the event log.
        label: the id of the suite with its parameters.
        planned: the number of trials; None if unknown.
        done: the number of finished trials.
        states: the number of finished trials by status.
        means: the mean of the scores so far over cases, in [0, 1], by evaluator.
        repeated_rate: the pass rate so far over cases, if any is repeated; None if it is the share of trials.
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
    repeated_rate: float | None = None

    @property
    def pass_rate(self) -> float | None:
        """The share of a case's trials that pass so far, averaged over cases; None without a verdict."""
        passed, failed = self.states.get(Status.PASSED, 0), self.states.get(Status.FAILED, 0)
        if self.repeated_rate is not None or not passed + failed:
            return self.repeated_rate
        return passed / (passed + failed)


@dataclass(slots=True)
class _RunningSum:
    """The sum of the known numbers in a column, to which rows are only appended; each is read once."""

    total: float = 0.0
    count: int = 0
    _rows: int = 0

    def read(self, column: array[float]) -> None:
        """Add the rows that are new since the last call; NaN is not a number."""
        known = known_values(column[self._rows :])
        self.total += sum(known)
        self.count += len(known)
        self._rows = len(column)


# A case may get one more trial at any time, so its mean is known only from all rows. They are read again after so much
# growth: in all this reads each row eleven times, however often progress is shown.
_GROWTH = 1.1


@dataclass(slots=True)
class _RepeatedMeans:
    """The mean scores and the pass rate of a suite with repeated cases, as of the last time that they were read."""

    means: dict[str, float] = field(default_factory=dict)
    pass_rate: float | None = None
    _rows: int = 0

    def read(self, columns: Columns, *, is_finished: bool) -> None:
        """Read all trials, if there are enough new ones, or no more to come."""
        if len(columns) == self._rows or (not is_finished and len(columns) < _GROWTH * self._rows):
            return
        self._rows = len(columns)
        case_means = ((name, list_case_means(columns, name)) for name in columns.scores)
        self.means = {name: fmean(means) for name, means in case_means if means}
        self.pass_rate = count_passes([columns]).rate


@dataclass(slots=True)
class SuiteSums:
    """The scores and costs of a suite so far, so that a tally every second reads each trial once."""

    _scores: dict[str, _RunningSum] = field(default_factory=dict)
    _costs: _RunningSum = field(default_factory=_RunningSum)
    _of_repeats: _RepeatedMeans = field(default_factory=_RepeatedMeans)

    def read_means(self, suite: SuiteReducer) -> dict[str, float]:
        """The mean score so far over cases, by evaluator."""
        if suite.columns.has_repeats:
            self._of_repeats.read(suite.columns, is_finished=suite.finished is not None)
            return self._of_repeats.means
        for name, column in suite.columns.scores.items():
            self._scores.setdefault(name, _RunningSum()).read(column)
        return {name: each.total / each.count for name, each in self._scores.items() if each.count}

    @property
    def repeated_rate(self) -> float | None:
        """The pass rate over cases, as of the last call of `read_means`; None if no case is repeated."""
        return self._of_repeats.pass_rate

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
        repeated_rate=sums.repeated_rate,
        cost=sums.read_cost(suite),
        finished=finished is not None,
        duration_s=finished.duration_s if finished else None,
    )
