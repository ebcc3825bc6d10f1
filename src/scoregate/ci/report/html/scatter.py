"""Scatters of the base's scores against the run's, an evaluator each; cases at one place are one larger mark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from scoregate.ci.report.html.entries import Entry, mean
from scoregate.ci.report.html.scale import Scale
from scoregate.ci.report.row_views import RowView
from scoregate.ci.report.sides import Sides

SIZE, DEEP = 132, 140
PANELS = 12
_GRID = 20
_FROM, _TO = 16, SIZE - 12
_SMALLEST, _LARGEST = 2.2, 9.0


@dataclass(frozen=True, slots=True)
class Point:
    """Some cases: their place, how many, and whether the run does better than the base (1), worse (-1) or the same."""

    x: float
    y: float
    r: float
    count: int
    change: int


@dataclass(frozen=True, slots=True)
class Panel:
    """One evaluator of one suite."""

    suite: str
    evaluator: str
    worse: int
    same: int
    better: int
    points: tuple[Point, ...]


def scatters(rows: Sequence[RowView], listed: Sequence[Entry], sides: Sequence[Sides]) -> tuple[Panel, ...]:
    """The first evaluators of `rows` that have scores on both sides."""
    places = {each.label: at for at, each in enumerate(sides)}
    compared = [view.row for view in rows if view.row.delta is not None and view.row.suite in places][:PANELS]
    wanted = {places[row.suite] for row in compared}
    by_suite: dict[int, list[Entry]] = {at: [] for at in wanted}
    for entry in listed:
        if entry.suite in wanted and entry.now and entry.before:
            by_suite[entry.suite].append(entry)
    panels = (_panel(sides[places[row.suite]], row.evaluator, by_suite[places[row.suite]]) for row in compared)
    return tuple(panel for panel in panels if panel.points)


def _panel(sides: Sides, evaluator: str, paired: Sequence[Entry]) -> Panel:
    cells, changes = Counter[tuple[int, int, int]](), Counter[int]()
    for was, now in _scores(sides, evaluator, paired):
        change = (now > was) - (now < was)
        change = change if sides.upwards.get(evaluator, True) else -change
        changes[change] += 1
        cells[round(was * _GRID), round(now * _GRID), change] += 1
    return Panel(sides.label, evaluator, changes[-1], changes[0], changes[1], tuple(_points(cells)))


def _scores(sides: Sides, evaluator: str, paired: Sequence[Entry]) -> Iterator[tuple[float, float]]:
    assert sides.before is not None
    for entry in paired:
        was, now = mean(sides.before, evaluator, entry.before), mean(sides.now, evaluator, entry.now)
        if was is not None and now is not None:
            yield was, now


def _points(cells: Mapping[tuple[int, int, int], int]) -> Iterator[Point]:
    across, up = Scale(0, _GRID, _FROM, _TO), Scale(0, _GRID, _TO, _FROM)
    most = max(cells.values(), default=1)
    for (was, now, change), count in sorted(cells.items(), key=lambda cell: -cell[1]):
        radius = _SMALLEST + (_LARGEST - _SMALLEST) * sqrt((count - 1) / most)
        yield Point(across(was), up(now), round(radius, 2), count, change)
