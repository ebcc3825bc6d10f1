"""An index of the cases of a suite's run: the places of each case's bodies in the spool, in columns."""

from __future__ import annotations

import errno
import os
import tempfile
from array import array
from collections.abc import Mapping
from math import isnan
from typing import BinaryIO, NamedTuple

from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.cases import STATUSES, Status

NOWHERE = -1
_NONE = float("nan")
# Marks of a case, from one evaluator or from all.
SCORED, PASSED, FAILED, INVALID, ERRED = 1, 2, 4, 8, 16


def _status(marks: int) -> int:
    if marks & FAILED:
        return STATUSES.index(Status.FAILED)
    if marks & (INVALID | ERRED):
        return STATUSES.index(Status.ERRORED)
    if marks & PASSED:
        return STATUSES.index(Status.PASSED)
    return STATUSES.index(Status.SCORED if marks else Status.UNSCORED)


# By marks, the position in STATUSES of the status that `CaseResult.status` will have.
STATUS_OF = tuple(_status(marks) for marks in range(32))


def mark_of(evaluation: Evaluation | ErrorInfo) -> int:
    """The mark of an evaluation."""
    if isinstance(evaluation, ErrorInfo):
        return INVALID
    return SCORED if evaluation.passed is None else PASSED if evaluation.passed else FAILED


class Column:
    """The last results of one evaluator, a row for each case."""

    __slots__ = ("count", "errors", "marks", "places", "scores", "total")

    def __init__(self) -> None:
        self.places = array("q")
        self.errors = array("q")
        self.scores = array("d")
        self.marks = bytearray()
        self.total = 0.0
        self.count = 0

    def set_score(self, row: int, place: int, evaluation: Evaluation | ErrorInfo) -> None:
        """Set the evaluation, which replaces an earlier one."""
        self._reach(row)
        score = _NONE if isinstance(evaluation, ErrorInfo) else evaluation.score
        self._count(self.scores[row], -1)  # of the evaluation that is replaced
        self._count(score, 1)
        self.places[row], self.scores[row] = place, score
        self.marks[row] = self.marks[row] & ERRED | mark_of(evaluation)

    def set_error(self, row: int, place: int) -> None:
        """Set the error, which replaces an earlier error, but no score."""
        self._reach(row)
        self.errors[row] = place
        self.marks[row] |= ERRED

    def mark(self, row: int) -> int:
        """The marks of a row."""
        return self.marks[row] if row < len(self.marks) else 0

    def at(self, row: int) -> tuple[int, int]:
        """The places of the evaluation and of the error."""
        return (self.places[row], self.errors[row]) if row < len(self.marks) else (NOWHERE, NOWHERE)

    def _count(self, score: float, by: int) -> None:
        if not isnan(score):
            self.total += by * score
            self.count += by

    def _reach(self, row: int) -> None:
        if (missing := row + 1 - len(self.marks)) > 0:
            self.places.extend([NOWHERE] * missing)
            self.errors.extend([NOWHERE] * missing)
            self.scores.extend([_NONE] * missing)
            self.marks.extend(bytes(missing))


_MOST_EVALUATORS = 1_000
_FIRST = STATUS_OF[0]


class Places(NamedTuple):
    """The places of the bodies about one case; -1 for none. `evaluated` holds evaluator, score and error."""

    result: int
    failure: int
    evaluated: tuple[tuple[str, int, int], ...]


class CaseIndex:
    """The cases of one run, in the order of the first call about each; of several calls, the last one counts."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.digests = array("I")
        self._results = array("q")
        self._failures = array("q")
        self._columns: dict[str, Column] = {}
        self._statuses = bytearray()
        self._states = [0] * len(STATUSES)

    def add_result(self, case: str, place: int, digest: int) -> int:
        """Add the result of a case, with the digest of its input; returns its row."""
        row = self._row(case)
        self._results[row], self.digests[row] = place, digest
        return row

    def add_score(self, case: str, evaluator: str, place: int, evaluation: Evaluation | ErrorInfo) -> None:
        """Add what an evaluator returned."""
        column, row = self._column(evaluator), self._row(case)  # the column first: it may refuse one more evaluator
        column.set_score(row, place, evaluation)
        self._update_status(row)

    def add_error(self, case: str, evaluator: str | None, place: int) -> None:
        """Add an exception of an evaluator, or without one of the function under test."""
        if evaluator is None:
            row = self._row(case)
            self._failures[row] = place
        else:
            # The column first: it may refuse one more evaluator.
            column, row = self._column(evaluator), self._row(case)
            column.set_error(row, place)
        self._update_status(row)

    def places(self, row: int) -> Places:
        """The places of everything about one case."""
        evaluated = ((name, *column.at(row)) for name, column in self._columns.items() if column.mark(row))
        return Places(self._results[row], self._failures[row], tuple(evaluated))

    def has_result(self, row: int) -> bool:
        """Whether the case has a result."""
        return self._results[row] != NOWHERE

    @property
    def states(self) -> Mapping[Status, int]:
        """The number of cases by status, as far as it is known."""
        return {status: count for status, count in zip(STATUSES, self._states, strict=True) if count}

    @property
    def means(self) -> Mapping[str, float]:
        """The mean of the scores so far, by evaluator."""
        return {name: column.total / column.count for name, column in self._columns.items() if column.count}

    def _column(self, evaluator: str) -> Column:
        if (column := self._columns.get(evaluator)) is None:
            if len(self._columns) >= _MOST_EVALUATORS:
                raise OverflowError(f"a suite may have {_MOST_EVALUATORS:,} scorers at most")
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

    def _update_status(self, row: int) -> None:
        marks = 0 if self._failures[row] == NOWHERE else ERRED
        for column in self._columns.values():
            marks |= column.mark(row)
        self._states[self._statuses[row]] -= 1
        self._statuses[row] = STATUS_OF[marks]
        self._states[self._statuses[row]] += 1


_SIZE_BYTES = 4
_FIRST_READ = 4096


class Spool:
    """A temporary file without a name that holds bodies; each is found by its place."""

    def __init__(self) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile(prefix="scoregate-", buffering=0)  # noqa: SIM115
        self._fd = self._file.fileno()
        self._end = 0

    def add(self, body: bytes) -> int:
        """Add a body of less than 4 GB, and return its place.

        Raises:
            OSError: the disk is full.
        """
        record = len(body).to_bytes(_SIZE_BYTES, "big") + body
        place = self._end
        if os.pwrite(self._fd, record, place) != len(record):  # a full disk takes a part of it
            raise OSError(errno.ENOSPC, "the disk is full")
        self._end += len(record)
        return place

    def read(self, place: int) -> bytes:
        """The body at a place that `add` returned."""
        start = os.pread(self._fd, _FIRST_READ, place)
        size = int.from_bytes(start[:_SIZE_BYTES], "big")
        body = start[_SIZE_BYTES : _SIZE_BYTES + size]
        return body if len(body) == size else body + os.pread(self._fd, size - len(body), place + len(start))

    def close(self) -> None:
        """Free the space on disk."""
        self._file.close()
