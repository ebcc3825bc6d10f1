"""A run against its base: one row for each suite and evaluator, and the cases that flipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scoregate.core.case import Status
from scoregate.core.record import Run, SuiteResult
from scoregate.core.rows import Label, Row, new_rows, paired_row


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that failed on one side and passed on the other: row indices into both runs' columns."""

    suite: int
    row: int
    base_suite: int
    base_row: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run, its base (None where there is none), and what differs."""

    run: Run
    base: Run | None = None
    rows: tuple[Row, ...] = ()
    newly_failing: tuple[Flip, ...] = ()
    newly_passing: tuple[Flip, ...] = ()
    gone: tuple[str, ...] = ()
    base_note: str = ""
    pairs: tuple[tuple[int, int], ...] = ()

    def rows_of(self, suite: str) -> tuple[Row, ...]:
        """The rows of one suite, by its label."""
        return tuple(row for row in self.rows if row.suite == suite)


def compare(run: Run, base: Run | None, note: str = "") -> Comparison:
    """Hold a run against its base. `note` says what the base is, or why there is none."""
    if base is None:
        rows = (row for suite in run.suites for row in new_rows(suite, "no base run yet"))
        return Comparison(run, rows=tuple(rows), base_note=note)
    pairs = tuple(_paired(run.suites, base.suites))
    return Comparison(
        run,
        base,
        rows=tuple(_rows(run, base, dict(pairs))),
        newly_failing=tuple(_flips(run, base, pairs, Status.PASSED, Status.FAILED)),
        newly_passing=tuple(_flips(run, base, pairs, Status.FAILED, Status.PASSED)),
        gone=tuple(old.label for at, old in enumerate(base.suites) if at not in {b for _, b in pairs}),
        base_note=note,
        pairs=pairs,
    )


def _paired(new: Iterable[SuiteResult], old: Iterable[SuiteResult]) -> Iterator[tuple[int, int]]:
    """Suites of one id and parameters: those of the same file first, then the only ones of their name."""
    free = dict(enumerate(old))
    waiting = dict(enumerate(new))
    for same_file in (True, False):
        for at, suite in list(waiting.items()):
            twins = [b for b, other in free.items() if _same(suite, other, same_file)]
            if twins and (same_file or len(twins) == 1):
                del free[twins[0]], waiting[at]
                yield at, twins[0]


def _same(one: SuiteResult, other: SuiteResult, same_file: bool) -> bool:
    here = one.id == other.id and dict(one.params or {}) == dict(other.params or {})
    return here and (not same_file or one.script == other.script)


def _rows(run: Run, base: Run, pairs: dict[int, int]) -> Iterator[Row]:
    for at, suite in enumerate(run.suites):
        if at not in pairs:
            yield from new_rows(suite, "no base run of this suite yet")
            continue
        old = base.suites[pairs[at]]
        for name in [*suite.evaluators, *(name for name in old.evaluators if name not in suite.evaluators)]:
            yield paired_row(suite, old, name)
    for at, old in enumerate(base.suites):
        if at not in pairs.values():
            yield from (Row(old.label, name, Label.REMOVED, base=old.mean(name)) for name in old.evaluators)


def _flips(run: Run, base: Run, pairs: Iterable[tuple[int, int]], before: Status, after: Status) -> Iterator[Flip]:
    for at, base_at in pairs:
        new, old = run.suites[at].columns, base.suites[base_at].columns
        rows = {old.key(row): row for row in range(len(old)) if old.status(row) is before}
        for row in range(len(new)):
            if new.status(row) is after and new.key(row) in rows:
                yield Flip(at, row, base_at, rows[new.key(row)])
