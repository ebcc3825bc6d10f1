"""Where everything stands that was said of a run's cases: places in the spool, by case, in columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from scoregate.ci.listen.column import ERRED, NOWHERE, STATUS_OF, Column
from scoregate.core.case import STATUSES, Status
from scoregate.core.evaluation import Evaluation
from scoregate.core.events import ErrorInfo

_MOST_EVALUATORS = 1_000
_FIRST = STATUS_OF[0]


class Places(NamedTuple):
    """The places of what was said of one case; -1 where there is nothing. `evaluated`: evaluator, score, error."""

    result: int
    failure: int
    evaluated: tuple[tuple[str, int, int], ...]


class Index:
    """The cases of one run, in the order in which they were first heard of; the last word counts."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.digests = array("I")
        self._results = array("q")
        self._failures = array("q")
        self._columns: dict[str, Column] = {}
        self._statuses = bytearray()
        self._states = [0] * len(STATUSES)

    def result(self, case: str, place: int, digest: int) -> int:
        """A case has a result; `digest` is that of what was put in. Returns its row."""
        row = self._row(case)
        self._results[row], self.digests[row] = place, digest
        return row

    def failure(self, case: str, place: int) -> None:
        """The function under test raised."""
        row = self._row(case)
        self._failures[row] = place
        self._settle(row)

    def scored(self, case: str, evaluator: str, *, place: int, found: Evaluation | ErrorInfo) -> None:
        """An evaluator has said something."""
        column, row = self._column(evaluator), self._row(case)
        column.scored(row, place, found)
        self._settle(row)

    def erred(self, case: str, evaluator: str, place: int) -> None:
        """An evaluator raised."""
        column, row = self._column(evaluator), self._row(case)
        column.erred(row, place)
        self._settle(row)

    def said(self, row: int) -> Places:
        """Everything of one case."""
        evaluated = ((name, *column.at(row)) for name, column in self._columns.items() if column.mark(row))
        return Places(self._results[row], self._failures[row], tuple(evaluated))

    def has_result(self, row: int) -> bool:
        """Whether the case has one."""
        return self._results[row] != NOWHERE

    @property
    def states(self) -> Mapping[Status, int]:
        """How many cases are in each state, as far as is known."""
        return {status: count for status, count in zip(STATUSES, self._states, strict=True) if count}

    @property
    def means(self) -> Mapping[str, float]:
        """The mean of the scores so far, by evaluator."""
        return dict(self._means())

    def _means(self) -> Iterator[tuple[str, float]]:
        for name, column in self._columns.items():
            if column.count:
                yield name, column.total / column.count

    def _column(self, evaluator: str) -> Column:
        if (column := self._columns.get(evaluator)) is None:
            if len(self._columns) >= _MOST_EVALUATORS:
                raise OverflowError(f"a suite may have {_MOST_EVALUATORS:,} evaluators at most")
            column = self._columns[evaluator] = Column()
        return column

    def _row(self, case: str) -> int:
        if (row := self.rows.get(case)) is None:
            row = self.rows[case] = len(self.rows)
            self._results.append(NOWHERE)
            self._failures.append(NOWHERE)
            self.digests.append(0)
            self._statuses.append(_FIRST)
            self._states[_FIRST] += 1
        return row

    def _settle(self, row: int) -> None:
        marks = 0 if self._failures[row] == NOWHERE else ERRED
        for column in self._columns.values():
            marks |= column.mark(row)
        self._states[self._statuses[row]] -= 1
        self._statuses[row] = STATUS_OF[marks]
        self._states[self._statuses[row]] += 1
