"""Two lines of runs that led to one: brought together in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeVar

from scoregate.core.history import MOST_RUNS, History, Past, SuiteHistory
from scoregate.core.lineage import bounded

_T = TypeVar("_T")
# Where the lines have one run: in either of them, at a place in its columns.
_Spots: TypeAlias = Sequence[tuple[History, int]]


def merged(line: History, other: History) -> History:
    """The last runs of both lines, each once, and of one commit's only the last, as `line_of` has it.

    Lines that have no suite in common do not belong together: then `line` alone.
    """
    if not line.suites.keys() & other.suites.keys():
        return line
    places = _places((line, other))
    labels = dict.fromkeys(
        label for history, _ in reversed([spots[-1] for spots in places]) for label in history.suites
    )
    runs = tuple(history.runs[at] for history, at in (spots[-1] for spots in places))
    return bounded(History(runs, {label: _suite(label, places) for label in labels}))


def _places(lines: Iterable[History]) -> list[_Spots]:
    every = [(history, at) for history in lines for at in range(len(history.runs))]
    found: dict[tuple[str, bool], _Spots] = {}
    for history, at in sorted(every, key=lambda spot: spot[0].runs[spot[1]].finished):
        past = history.runs[at]
        before = [spot for spot in found.pop(_key(past), ()) if spot[0].runs[spot[1]].id == past.id]
        found[_key(past)] = [*before, (history, at)]
    return list(found.values())[-MOST_RUNS:]


def _key(past: Past) -> tuple[str, bool]:
    """What two runs share of which only the later one counts."""
    return (past.id, False) if past.commit is None or past.dirty else (past.commit, True)


def _suite(label: str, places: Sequence[_Spots]) -> SuiteHistory:
    names = dict.fromkeys(name for spots in places for history, _ in spots for name in history.of(label).scores)
    return SuiteHistory(
        tuple(_first(_at(history.of(label).took, at) for history, at in spots) for spots in places),
        {
            name: tuple(
                _first(_at(history.of(label).scores.get(name, ()), at) for history, at in spots) for spots in places
            )
            for name in names
        },
    )


def _at(column: Sequence[_T | None], at: int) -> _T | None:
    return column[at] if column else None


def _first(points: Iterable[_T | None]) -> _T | None:
    return next((point for point in points if point is not None), None)
