"""Cases that passed on one side and fail on the other, as far as the same evaluators judged both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scoregate.core.case import Status
from scoregate.core.columns import Columns
from scoregate.core.fingerprints import what_changed
from scoregate.core.record import Run, SuiteResult


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that failed on one side and passed on the other: row indices into both runs' columns."""

    suite: int
    row: int
    base_suite: int
    base_row: int


def flips(run: Run, base: Run, pairs: Iterable[tuple[int, int]], *, to: Status) -> Iterator[Flip]:
    """The trials that are `to` now, `failed` or `passed`, and were the other in the base."""
    for at, base_at in pairs:
        new, old = run.suites[at], base.suites[base_at]
        changed = _changed(new, old)
        before, after = _Outcomes(old.columns, changed), _Outcomes(new.columns, changed)
        was = Status.PASSED if to is Status.FAILED else Status.FAILED
        rows = {old.columns.key(row): row for row in range(len(old.columns)) if before.status(row) is was}
        for row in range(len(new.columns)):
            if after.status(row) is to and (key := new.columns.key(row)) in rows:
                yield Flip(at, row, base_at, rows[key])


def _changed(new: SuiteResult, old: SuiteResult) -> set[str]:
    """Evaluators that are not the same on both sides, or are only on one."""
    shared = new.evaluators.keys() & old.evaluators.keys()
    differ = {name for name in shared if what_changed(new.evaluators[name], old.evaluators[name])}
    return differ | (new.evaluators.keys() ^ old.evaluators.keys())


class _Outcomes:
    """The states of a suite's trials, judged without the evaluators that changed."""

    def __init__(self, columns: Columns, changed: set[str]) -> None:
        self._columns = columns
        changed_here = changed & columns.failed.keys()
        rest = (rows for name, rows in columns.failed.items() if name not in changed)
        self._spared = set[int]().union(*(columns.failed[name] for name in changed_here)) - set[int]().union(*rest)

    def status(self, row: int) -> Status:
        """A trial that failed only by evaluators that changed is no failure that could be compared."""
        return Status.UNSCORED if row in self._spared else self._columns.status(row)
