"""Cases that passed on one side and fail on the other, as far as the same evaluators judged both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scoregate.core.case import Status
from scoregate.core.columns import Columns
from scoregate.core.fingerprints import what_changed
from scoregate.core.record import Run, SuiteResult


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that failed on one side and passed on the other: row indices into both runs' columns.

    Of a case that was repeated they are the first trials that show it.
    """

    suite: int
    row: int
    base_suite: int
    base_row: int


def flips(run: Run, base: Run, pairs: Iterable[tuple[int, int]], *, to: Status) -> Iterator[Flip]:
    """The cases that are mostly `to` now, `failed` or `passed`, and were mostly the other in the base.

    A case that is repeated is one case: it fails where more of its trials fail than pass.
    """
    was = Status.PASSED if to is Status.FAILED else Status.FAILED
    for at, base_at in pairs:
        after, before = _outcomes(run.suites[at], base.suites[base_at])
        rows = before.cases(was)
        for case, row in after.cases(to).items():
            if case in rows:
                yield Flip(at, row, base_at, rows[case])


def passing(run: Run, base: Run, pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[float, float]]:
    """Of each case that was judged in both: the share of its trials that pass, in the run and in the base."""
    for at, base_at in pairs:
        after, before = (side.shares() for side in _outcomes(run.suites[at], base.suites[base_at]))
        yield from ((share, before[case]) for case, share in after.items() if case in before)


def _outcomes(new: SuiteResult, old: SuiteResult) -> tuple[_Outcomes, _Outcomes]:
    changed = _changed(new, old)
    return _Outcomes(new.columns, changed), _Outcomes(old.columns, changed)


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

    def cases(self, status: Status) -> dict[str, int]:
        """The cases that more trials show to be passed, or failed, than the other: each with the first such row."""
        lead: dict[str, int] = {}
        first: dict[str, int] = {}
        for row, case, found in self._judged():
            lead[case] = lead.get(case, 0) + (1 if found is status else -1)
            if found is status:
                first.setdefault(case, row)
        return {case: row for case, row in first.items() if lead[case] > 0}

    def shares(self) -> dict[str, float]:
        """The share of each case's trials that passed."""
        passed, judged = Counter[str](), Counter[str]()
        for _, case, found in self._judged():
            judged[case] += 1
            passed[case] += found is Status.PASSED
        return {case: passed[case] / count for case, count in judged.items()}

    def _judged(self) -> Iterator[tuple[int, str, Status]]:
        for row, case in enumerate(self._columns.hashes):
            if (found := self.status(row)) in (Status.PASSED, Status.FAILED):
                yield row, case, found
