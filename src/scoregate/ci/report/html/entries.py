"""The cases of all suites, each with its trials on both sides, the worst change first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from math import isnan

from scoregate.ci.report.sides import Sides
from scoregate.ci.report.view import ReportView
from scoregate.core.case import Status
from scoregate.core.columns import Columns
from scoregate.core.naming import place

_ROUNDING = 1e-9


class Kind(IntEnum):
    """What became of a case, worst first."""

    NEWLY_FAILING = 0
    WORSE = 1
    FAILING = 2
    BETTER = 3
    NEW = 4
    SAME = 5
    REMOVED = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """A case: its rows in the columns of its suite, `now` and `before`.

    `gain` is the change of the evaluator that lost the most, or, where none did, gained the most; + is better. `lowest`
    is its lowest score now.
    """

    suite: int
    hash: str
    kind: Kind
    gain: float
    lowest: float
    now: tuple[int, ...] = ()
    before: tuple[int, ...] = ()


def entries(view: ReportView) -> list[Entry]:
    """Every case of every suite of the run, and those of their bases that are gone.

    Those that changed alike stand by suite, and as people count; where hashes are digests, as they finished.
    """
    newly = {(label, key.hash) for label, key in view.newly_failing}
    found = (entry for at, sides in enumerate(view.sides) for entry in _of_suite(at, sides, newly))
    return sorted(found, key=lambda entry: (entry.kind, entry.gain, entry.lowest, entry.suite, place(entry.hash)))


def _of_suite(at: int, sides: Sides, newly: set[tuple[str, str]]) -> Iterator[Entry]:
    before = _rows(sides.before) if sides.before is not None else {}
    for case, rows in _rows(sides.now).items():
        old = before.pop(case, ())
        gain, lowest = _gain(sides, rows, old), _lowest(sides, rows)
        kind = Kind.NEWLY_FAILING if (sides.label, case) in newly else _kind(sides.now, rows, old=old, gain=gain)
        yield Entry(at, case, kind, gain, lowest, rows, old)
    for case, old in before.items():
        yield Entry(at, case, Kind.REMOVED, 0.0, 1.0, (), old)


def _rows(columns: Columns) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for row, case in enumerate(columns.hashes):
        found[case] = (*found[case], row) if case in found else (row,)
    return {case: _in_order(columns, rows) if len(rows) > 1 else rows for case, rows in found.items()}


def _in_order(columns: Columns, rows: tuple[int, ...]) -> tuple[int, ...]:
    """Repeats as they are numbered, however they finished."""
    return tuple(sorted(rows, key=columns.repeats.__getitem__))


def _kind(columns: Columns, rows: Iterable[int], *, old: tuple[int, ...], gain: float) -> Kind:
    if gain < -_ROUNDING:
        return Kind.WORSE
    if any(columns.status(row) in (Status.FAILED, Status.ERRORED) for row in rows):
        return Kind.FAILING
    if gain > _ROUNDING:
        return Kind.BETTER
    return Kind.SAME if old else Kind.NEW


def _gain(sides: Sides, rows: tuple[int, ...], old: tuple[int, ...]) -> float:
    if sides.before is None or not old:
        return 0.0
    worst, best = 0.0, 0.0
    for evaluator in sides.now.scores:
        was = mean(sides.before, evaluator, old)
        now = mean(sides.now, evaluator, rows) if was is not None and evaluator not in sides.apart else None
        if was is not None and now is not None:
            change = now - was if sides.upwards.get(evaluator, True) else was - now
            worst, best = min(worst, change), max(best, change)
    return worst if worst < -_ROUNDING else best


def _lowest(sides: Sides, rows: tuple[int, ...]) -> float:
    scores = (
        score if sides.upwards.get(evaluator, True) else 1 - score
        for evaluator in sides.now.scores
        if (score := mean(sides.now, evaluator, rows)) is not None
    )
    return min(scores, default=1.0)


def mean(columns: Columns, evaluator: str, rows: tuple[int, ...]) -> float | None:
    """The mean score of some trials; None where none of them has one."""
    if len(rows) == 1:
        score = columns.score(evaluator, rows[0])
        return None if isnan(score) else score
    known = [score for row in rows if not isnan(score := columns.score(evaluator, row))]
    return sum(known) / len(known) if known else None
