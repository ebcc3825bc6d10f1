"""Intervals and *equivalent* where they are hardest: at the ceiling, with collapses that few cases show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from calibration_repeats import holds, interval_of
from calibration_runs import compare_scores, survey
from calibration_scores import NORMAL, SKEWED, Array, Kind, ceiling, pass_fail
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison_rows import Row, RowLabel

COVERAGE = (0.93, 0.975)
EQUIVALENT_MOST = 0.025
MARGIN = 0.02
_FEW_CHANGES = 10

COLLAPSED = 0.93
_EXPLANATION = """
Of 50 cases none collapses in .99^50 = 61 % of pull requests if 1 % of all do. An interval that follows the data alone
can't hold the truth in those, so it allows for a change of the whole scale that no case shows. Where fewer than ten
pairs differ on average, few intervals are possible, and they hold the truth more often than they need to."""

Draw = Callable[[Generator], tuple[Array, Array]]


@dataclass(frozen=True)
class Cell:
    """Shares of pull requests whose interval holds the truth and that are called equivalent; the least width.

    `changes`: how many pairs differ on average.
    """

    name: str
    covered: Rate
    equivalent: Rate
    narrowest: float
    changes: float


def report(effort: Effort) -> Iterator[Target]:
    """Print coverage and false *equivalent*, and compare them with the targets."""
    print_table("Intervals", ["condition", "n", "true change", "pairs that differ", "interval", "narrowest"])
    held, discrete, narrowest = dict[str, Rate](), dict[str, Rate](), list[float]()
    for kind in (ceiling(0.98), ceiling(0.95), pass_fail(0.98), SKEWED):
        for n in (20, 50, 100, 200):
            for drop in (0.0, 0.05):
                cell = measure(f"{kind.name}, n = {n}, drop {drop}", _of_kind(kind, n, drop), -drop, effort)
                print_row(kind.name, n, -drop or 0, f"{cell.changes:.1f}", cell.covered, f"{cell.narrowest:.4f}")
                narrowest.append(cell.narrowest)
                (discrete if n < 50 or cell.changes < _FEW_CHANGES else held)[cell.name] = cell.covered
    collapse = dict[str, Rate]()
    for share in (0.01, 0.02, 0.05):
        for n in (20, 49, 50, 100, 200, 400):
            draw = partial(_collapsing, n=n, share=share)
            cell = measure(f"{share:.0%} collapse, n = {n}", draw, -0.9 * share, effort)
            name = f"{share:.0%} of cases collapse to 0"
            print_row(name, n, -0.9 * share, f"{cell.changes:.1f}", cell.covered, f"{cell.narrowest:.4f}")
            narrowest.append(cell.narrowest)
            collapse[cell.name] = cell.covered
    print(_EXPLANATION)
    yield hold("n ≥ 50: the interval contains the true difference", held, *COVERAGE)
    target = f"n = 20, or fewer than {_FEW_CHANGES} differing pairs (more is inherent)"
    yield hold(target, discrete, COVERAGE[0])
    yield hold("collapses that few cases show: the interval contains the true difference", collapse, COLLAPSED)
    equivalent = list(_equivalents(effort))
    target = f"a true −{MARGIN}, the margin: called *equivalent*"
    yield hold(target, {cell.name: cell.equivalent for cell in equivalent}, 0.0, EQUIVALENT_MOST)
    least = min([*narrowest, *(cell.narrowest for cell in equivalent)])
    yield Target("no interval is without width", f"narrowest {least:.4f}", least > 0)


def _equivalents(effort: Effort) -> Iterator[Cell]:
    print_table("*Equivalent* at the margin", ["condition", "n", "`equivalent`", "interval"])
    for n in (20, 50, 100, 200, 400):
        cell = measure(f"2 % collapse, n = {n}", partial(_collapsing_by_one, n=n), -MARGIN, effort)
        print_row("2 % of cases collapse from 1 to 0", n, cell.equivalent, cell.covered)
        yield cell
    for n in (200, 1_000):
        cell = measure(f"normal, n = {n}, drop {MARGIN}", _of_kind(NORMAL, n, MARGIN), -MARGIN, effort)
        print_row("normal scores", n, cell.equivalent, cell.covered)
        yield cell


def measure(name: str, draw: Draw, truth: float, effort: Effort) -> Cell:
    """Draw pull requests and ask the comparison about them."""
    found = survey(name, partial(_ask, draw=draw), effort.of(2_000, 80))
    intervals = (interval_of(row) for stratum in found.strata for row in stratum.answers)
    narrowest = min(high - low for low, high in intervals)
    covered = found.rate(partial(holds, truth=truth))
    changes = found.mean(lambda row: row.pairs.better + row.pairs.worse).value
    equivalent = found.rate(lambda row: row.label is RowLabel.EQUIVALENT)
    return Cell(name, covered, equivalent, narrowest, changes)


def _ask(source: Generator, *, draw: Draw) -> Row:
    old, new = draw(source)
    return compare_scores(new[:, None], old[:, None])


def _of_kind(kind: Kind, n: int, drop: float) -> Draw:
    def draw(source: Generator) -> tuple[Array, Array]:
        quality = kind.quality(source, (n,))
        old, new = (kind.side(source, side, 1) for side in (quality, kind.lowered(quality, drop)))
        return old, new

    return draw


def _collapsing(source: Generator, *, n: int, share: float) -> tuple[Array, Array]:
    """Continuous scores around .9; some cases of the pull request get 0."""
    level = source.normal(0.9, 0.03, n)
    old, new = (level + 0.02 * source.standard_normal(n) for _ in range(2))
    return old, np.where(source.random(n) < share, 0.0, new)


def _collapsing_by_one(source: Generator, *, n: int) -> tuple[Array, Array]:
    """Scores close to 1, of which 2 % fall by 1."""
    old, new = (1 - 0.004 * source.random(n) for _ in range(2))
    return old, new - (source.random(n) < MARGIN)
