"""What one evaluator has said of the cases of a run: where it stands in the spool, and what it comes to."""

from __future__ import annotations

from array import array
from math import isnan

from scoregate.core.case import STATUSES, Status
from scoregate.core.evaluation import Evaluation
from scoregate.core.events import ErrorInfo

NOWHERE = -1
_NONE = float("nan")
# What was said of a case, by one evaluator or by all.
SCORED, PASSED, FAILED, INVALID, ERRED = 1, 2, 4, 8, 16


def _status(marks: int) -> int:
    if marks & FAILED:
        return STATUSES.index(Status.FAILED)
    if marks & (INVALID | ERRED):
        return STATUSES.index(Status.ERRORED)
    if marks & PASSED:
        return STATUSES.index(Status.PASSED)
    return STATUSES.index(Status.SCORED if marks else Status.UNSCORED)


# By marks, the number of the state that `CaseResult.status` will have.
STATUS_OF = tuple(_status(marks) for marks in range(32))


def mark_of(found: Evaluation | ErrorInfo) -> int:
    """The mark of an evaluation."""
    if isinstance(found, ErrorInfo):
        return INVALID
    return SCORED if found.passed is None else PASSED if found.passed else FAILED


class Column:
    """One evaluator's last words, a row a case."""

    __slots__ = ("count", "errors", "marks", "places", "scores", "total")

    def __init__(self) -> None:
        self.places = array("q")
        self.errors = array("q")
        self.scores = array("d")
        self.marks = bytearray()
        self.total = 0.0
        self.count = 0

    def scored(self, row: int, place: int, found: Evaluation | ErrorInfo) -> None:
        """An evaluation, which takes the place of an earlier one."""
        self._reach(row)
        score = _NONE if isinstance(found, ErrorInfo) else found.score
        self._count(self.scores[row], -1)
        self._count(score, 1)
        self.places[row], self.scores[row] = place, score
        self.marks[row] = self.marks[row] & ERRED | mark_of(found)

    def erred(self, row: int, place: int) -> None:
        """An error, which takes the place of an earlier one, but of no score."""
        self._reach(row)
        self.errors[row] = place
        self.marks[row] |= ERRED

    def mark(self, row: int) -> int:
        """What was said of a row."""
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
