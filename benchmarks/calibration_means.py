"""Means of scores in `history trend`: does the interval of one run's mean contain the true mean?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from calibration_runs import survey
from calibration_scores import MIXED, RUBRIC, SKEWED, Kind, ceiling, pass_fail
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.statistics.intervals import mean_score_interval

KINDS = (pass_fail(0.5), pass_fail(0.9), pass_fail(0.98), ceiling(0.98), MIXED, RUBRIC, SKEWED)
SIZES = (5, 20, 60, 200)
# Wilson's interval of five cases contains a pass rate of .9 in .92 of all runs, and one of .98 in .90.
LEAST, LEAST_OF_MANY = 0.9, 0.93
_NARROWEST = 1e-6


def report(effort: Effort) -> Iterator[Target]:
    """Print the coverage of the intervals, and compare it with the targets."""
    print_table("Intervals of means", ["scores", "n", "interval", "mean width"])
    few, many, widths = dict[str, Rate](), dict[str, Rate](), list[float]()
    for kind in KINDS:
        for n in SIZES:
            name = f"{kind.name}, n = {n}"
            found = survey(f"means, {name}", partial(_ask, kind=kind, n=n), effort.of(3_000, 300))
            covered = found.rate(partial(_contain, mean=kind.mean))
            width = found.mean(lambda ends: ends[1] - ends[0]).value
            print_row(kind.name, n, covered, f"{width:.3f}")
            (many if n >= 20 else few)[name] = covered
            widths += [high - low for stratum in found.strata for low, high in stratum.answers]
    yield hold("n ≥ 20: the interval contains the true mean", many, LEAST_OF_MANY)
    yield hold("n = 5: the same", few, LEAST)
    yield Target("no interval is without width", f"narrowest {min(widths):.4f}", min(widths) > _NARROWEST)


def _ask(source: Generator, *, kind: Kind, n: int) -> tuple[float, float]:
    scores = kind.side(source, kind.quality(source, (n,)), 1).clip(0, 1)
    return mean_score_interval(float(scores.mean()), float(scores.std(ddof=1)), n)


def _contain(ends: tuple[float, float], *, mean: float) -> bool:
    return ends[0] - 1e-9 <= mean <= ends[1] + 1e-9
