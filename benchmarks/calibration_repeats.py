"""Sides that are repeated unequally, as when base runs are pooled: false alarms, coverage and power."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from calibration_runs import CALLED, CRITERIA, Survey, compare_scores, quick_p, run_of, screened, survey
from calibration_scores import MIXED, RUBRIC, Array, Kind, pass_fail
from calibration_targets import ALPHA, Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Measure, Row, RowLabel
from scoregate.kernel.types.runs.run import Run

SIZES = (50, 100, 200)
KINDS = (pass_fail(0.98), pass_fail(0.9), MIXED, RUBRIC)
FALSE_ALARMS_MOST = 0.05
COVERAGE = (0.93, 0.975)
LATENCY_NOISE = 0.6
_DROP = 0.1


@dataclass(frozen=True)
class Sides:
    """How often both sides are repeated, and how many runs of the base are pooled."""

    name: str
    new: int
    old: int
    pooled: int = 1


ONCE, THREE, FIVE = Sides("1 against 1", 1, 1), Sides("3 against 3", 3, 3), Sides("5 against 5", 5, 5)
POOLED = Sides("PR × 1, base × 5 pooled", 1, 5, pooled=5)
REPEATED = Sides("PR × 5, base × 1", 5, 1)
FIFTEEN = Sides("PR × 3, base × 15 pooled", 3, 15, pooled=5)
UNEQUAL = (POOLED, REPEATED, FIFTEEN)


@dataclass(frozen=True)
class Cell:
    """Shares of pull requests called better, called worse, and whose interval holds the truth."""

    name: str
    better: Rate
    worse: Rate
    called: Rate
    covered: Rate


@dataclass(frozen=True)
class _Drawn:
    new: Array
    old: Array


def report(effort: Effort) -> Iterator[Target]:
    """Print false alarms, power and latency, and compare them with the targets."""
    no_ops = list(_false_alarms(effort))
    yield hold("no change: `better` + `worse`", {cell.name: cell.called for cell in no_ops}, 0.0, FALSE_ALARMS_MOST)
    moved = list(_both_directions(effort))
    target = "cases change in both directions, the mean does not: `better` + `worse`"
    yield hold(target, {cell.name: cell.called for cell in moved}, 0.0, FALSE_ALARMS_MOST)
    found = list(_latency(effort))
    yield hold("latency, no change: called", {name: rate for name, rate, _ in found}, 0.0, FALSE_ALARMS_MOST)
    worsened = list(_power(effort))
    cells = {cell.name: cell.covered for cell in (*worsened, *moved)} | {name: rate for name, _, rate in found}
    cells |= {cell.name: cell.covered for cell in no_ops if not _is_discrete(cell.name)}
    discrete = {cell.name: cell.covered for cell in no_ops if _is_discrete(cell.name)}
    yield hold("the interval contains the true difference", cells, *COVERAGE)
    target = "the same at p = .98, n ≤ 100, where few cases differ (more is inherent)"
    yield hold(target, discrete, COVERAGE[0])


def _is_discrete(name: str) -> bool:
    """Whether few cases differ, so that few intervals are possible: 4 of 100 where both sides have one trial."""
    return name.startswith("binary, p = 0.98") and "n = 200" not in name


def _false_alarms(effort: Effort) -> Iterator[Cell]:
    print_table("Unequal repeats, no change", ["scores", "repeats", "n", "better", "worse", "interval"])
    for kind in KINDS:
        for sides in UNEQUAL:
            for n in SIZES:
                cell = measure(kind, sides, n, drop=0.0, effort=effort)
                print_row(kind.name, sides.name, n, cell.better, cell.worse, cell.covered)
                yield cell


def _power(effort: Effort) -> Iterator[Cell]:
    text = f"Power: the share called `worse` at a true drop of {_DROP}."
    print_table("Unequal repeats, a drop", ["scores", "n", "repeats", "worse", "interval"], text)
    for kind, n in ((MIXED, 100), (pass_fail(0.9), 100), (pass_fail(0.9), 50)):
        for sides in (ONCE, POOLED, REPEATED, THREE, FIFTEEN, FIVE):
            cell = measure(kind, sides, n, drop=_DROP, effort=effort)
            print_row(kind.name, n, sides.name, cell.worse, cell.covered)
            yield cell


def measure(kind: Kind, sides: Sides, n: int, *, drop: float, effort: Effort) -> Cell:
    """Draw pull requests that lower the mean by `drop`, and ask the comparison."""
    name = f"{kind.name}, {sides.name}, n = {n}{f', drop {drop}' if drop else ''}"
    draw = partial(_draw, kind=kind, sides=sides, n=n, drop=drop)
    ask = partial(_ask, pooled=sides.pooled)
    if drop:
        found = survey(name, lambda source: ask(draw(source)), effort.of(400, 40))
    else:
        found = screened(name, draw, _screen, ask, drawn=effort.of(4_000, 250), asked=effort.of(160, 16))
    return _summarize(name, found, -drop)


def _summarize(name: str, found: Survey[Row], truth: float) -> Cell:
    return Cell(
        name,
        found.rate(lambda row: row.label is RowLabel.BETTER),
        found.rate(lambda row: row.label is RowLabel.WORSE),
        found.rate(lambda row: row.label in CALLED),
        found.rate(partial(holds, truth=truth)),
    )


def holds(row: Row, truth: float) -> bool:
    """Whether the interval of a row contains the true difference."""
    low, high = interval_of(row)
    return low <= truth <= high


def interval_of(row: Row) -> tuple[float, float]:
    """The interval of a row whose pairs are enough for one, as those of all simulated rows are."""
    assert row.estimate.interval is not None, row.reason
    return row.estimate.interval


def _draw(source: Generator, *, kind: Kind, sides: Sides, n: int, drop: float) -> _Drawn:
    quality = kind.quality(source, (n,))
    old = kind.trials(source, quality, sides.old)
    return _Drawn(kind.trials(source, kind.lowered(quality, drop), sides.new), old)


def _screen(drawn: _Drawn) -> float:
    return quick_p(drawn.new.mean(axis=1) - drawn.old.mean(axis=1))


def _ask(drawn: _Drawn, *, pooled: int) -> Row:
    return compare_scores(drawn.new, *np.split(drawn.old, pooled, axis=1))


def _both_directions(effort: Effort) -> Iterator[Cell]:
    text = (
        "A fifth of the cases gets better by .4, a fifth worse by as much, or every case by .2 in a random direction."
    )
    print_table(
        "Unequal repeats, changes that cancel out", ["cases", "repeats", "n", "better", "worse", "interval"], text
    )
    for share, size, middle in ((0.4, 0.4, 0.5), (1.0, 0.2, 0.7)):
        for sides in (POOLED, REPEATED):
            for n in (50, 100):
                name = f"{share:.0%} change by {size}, {sides.name}, n = {n}"
                draw = partial(_draw_both, sides=sides, n=n, share=share, size=size, middle=middle)
                ask = partial(_ask, pooled=sides.pooled)
                found = screened(name, draw, _screen, ask, drawn=effort.of(4_000, 250), asked=effort.of(120, 16))
                cell = _summarize(name, found, 0.0)
                print_row(f"{share:.0%} by {size}", sides.name, n, cell.better, cell.worse, cell.covered)
                yield cell


def _draw_both(source: Generator, *, sides: Sides, n: int, share: float, size: float, middle: float) -> _Drawn:
    """Every case's rate lies on either side of the middle; those that change swap the side."""
    kind = pass_fail(middle)
    above = source.random(n) < 0.5
    changes = source.random(n) < share
    before, after = (np.where(side, middle + size / 2, middle - size / 2) for side in (above, above ^ changes))
    return _Drawn(kind.trials(source, after, sides.new), kind.trials(source, before, sides.old))


def _latency(effort: Effort) -> Iterator[tuple[str, Rate, Rate]]:
    text = f"Lognormal latency, σ = {LATENCY_NOISE} of one trial; labels by the geometric mean."
    print_table("Latency, no change", ["repeats", "n", "called", "interval"], text)
    for sides in (REPEATED, POOLED):
        for n in (100, 250):
            name, count = f"latency, {sides.name}, n = {n}", effort.of(400, 50)
            found = survey(name, partial(_latency_row, sides=sides, n=n), count)
            called = found.rate(lambda row: row.estimate.p <= ALPHA)
            covered = found.rate(partial(holds, truth=0.0))
            print_row(sides.name, n, called, covered)
            yield name, called, covered


def _latency_row(source: Generator, *, sides: Sides, n: int) -> Row:
    level = source.normal(6, 0.8, (n, 1))
    new, *olds = (_timed(source, level, repeats) for repeats in _runs(sides))
    comparison = compare(new, olds[0], pool=olds[1:], criteria=CRITERIA)
    return next(row for row in comparison.quantities if row.measure is Measure.LATENCY)


def _runs(sides: Sides) -> Sequence[int]:
    return [sides.new, *[sides.old // sides.pooled] * sides.pooled]


def _timed(source: Generator, level: Array, repeats: int) -> Run:
    times = np.exp(level + LATENCY_NOISE * source.standard_normal((len(level), repeats)))
    return run_of({"e": np.ones_like(times)}, amounts={"durations_ms": times})
