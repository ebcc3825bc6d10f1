"""Evaluators that return None: are rows unmeasurable only where more scores were lost than by chance?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from calibration_repeats import ONCE, POOLED, Sides
from calibration_runs import compare_scores, quick_p, screened
from calibration_scores import Array
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.types.runs.policy import Criteria

SILENT = 0.2
FALSE_ALARMS_MOST, FOUND_LEAST = 0.025, 0.99


def report(effort: Effort) -> Iterator[Target]:
    """Print how often lost scores are reported, and compare it with the targets."""
    text = (
        "`silent`: the share of trials in which the evaluator returns None at random, in the base and the pull request;"
    )
    text += "\n`lost`: cases of the pull request for which it always does."
    print_table("Lost scores", ["repeats", "n", "silent", "lost", "unmeasurable"], text)
    by_chance, real = dict[str, Rate](), dict[str, Rate]()
    for sides in (ONCE, POOLED):
        for n in (100, 200):
            by_chance[f"{sides.name}, n = {n}"] = _measure_rate(sides, n, SILENT, 0.0, effort)
    for sides, silent in ((ONCE, 0.0), (ONCE, SILENT), (POOLED, 0.0), (POOLED, SILENT)):
        real[f"{sides.name}, silent {silent}"] = _measure_rate(sides, 200, silent, 0.3, effort)
        _measure_rate(sides, 200, silent, 0.1, effort)
    yield hold(f"None for {SILENT:.0%} of trials at random: unmeasurable", by_chance, 0.0, FALSE_ALARMS_MOST)
    yield hold("60 of 200 cases lose their score: unmeasurable", real, FOUND_LEAST)


def _measure_rate(sides: Sides, n: int, silent: float, lost: float, effort: Effort) -> Rate:
    found = measure(sides, n, silent, lost, effort)
    print_row(sides.name, n, silent, f"{lost:.0%}", found)
    return found


def measure(sides: Sides, n: int, silent: float, lost: float, effort: Effort) -> Rate:
    """Draw pull requests whose evaluator is silent, and ask how often its row is unmeasurable for it."""
    name = f"{sides.name}, n = {n}, silent {silent}, lost {lost}"
    draw = partial(_draw, sides=sides, n=n, silent=silent, lost=lost)
    ask = partial(_ask, pooled=sides.pooled)
    asked = effort.of(120, 20) if lost else effort.of(300, 40)
    return screened(name, draw, _screen, ask, drawn=effort.of(3_000, 300), asked=asked).rate(_is_unmeasurable)


def _is_unmeasurable(row: Row) -> bool:
    return row.lost.too_many and row.label is RowLabel.UNMEASURABLE


def _draw(source: Generator, *, sides: Sides, n: int, silent: float, lost: float) -> tuple[Array, Array]:
    new, old = ((source.random((n, repeats)) < 0.8).astype(float) for repeats in (sides.new, sides.old))
    for side in (new, old):
        side[source.random(side.shape) < silent] = np.nan
    new[source.permutation(n)[: round(lost * n)]] = np.nan
    return new, old


def _screen(drawn: tuple[Array, Array]) -> float:
    new, old = (np.isfinite(side).mean(axis=1) for side in drawn)
    return quick_p(new - old)


def _ask(drawn: tuple[Array, Array], *, pooled: int) -> Row:
    new, old = drawn
    return compare_scores(new, *np.split(old, pooled, axis=1), criteria=Criteria())
