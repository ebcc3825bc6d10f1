"""Compare the test with others: how often each reports a change if nothing changed, or if every case got worse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from math import comb, sqrt

import numpy as np
from calibration_runs import pairs_of, quick_p, screened, survey
from calibration_scores import MIXED, RUBRIC, SKEWED, Array, Kind
from calibration_targets import ALPHA, Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from scoregate.kernel.compare.estimates import Estimate, estimate_difference
from scoregate.kernel.compare.statistics.distributions import t_quantile
from scoregate.kernel.compare.statistics.intervals import measure_spread

SIZES = (20, 50, 200, 1_000)
REPEATS = (1, 5)
HELD_FROM = 50
FALSE_ALARMS = (0.02, 0.055)
COVERAGE = (0.93, 0.975)
POWER_GAP = 0.04
METHODS = ("t", "McNemar", "5 points", "any")
TEXT = """\
Shares of pull requests reported as changed (`no-op`: wrongly) or worse (`worsened`): by scoregate at p ≤ 0.05 before
`min_effect`, the paired t test, the exact McNemar test, a mean that moved by more than 5 points, or at all.
`interval`: how often scoregate's interval contains the true difference."""


@dataclass(frozen=True)
class Cell:
    """The rates for n cases with their repeats: of scoregate and other tests, and the coverage of the interval.

    `gap`: the power of scoregate's test minus that of the paired t test.
    """

    name: str
    n: int
    ours: Rate
    gap: Rate
    covered: Rate
    others: dict[str, float]


@dataclass(frozen=True)
class _Answer:
    """Our estimate, and the p of the paired t test."""

    ours: Estimate
    t: float

    def is_called(self, *, worse: bool) -> bool:
        return self.ours.p <= ALPHA and (self.ours.delta < 0 or not worse)

    def is_called_by_t(self, *, worse: bool) -> bool:
        return self.t <= ALPHA and (self.ours.delta < 0 or not worse)


def report(effort: Effort) -> Iterator[Target]:
    """Print a table for each kind of score and compare it with the targets."""
    cells, gaps = list[Cell](), dict[str, Rate]()
    for kind in (MIXED, RUBRIC, SKEWED):
        groups = [f"{group}: {method}" for group in ("no-op", "worsened") for method in ("ours", *METHODS)]
        head = ["n", "repeats", *groups, "interval, no-op", "interval, worsened"]
        print_table(f"{kind.name}: every case worse by {-kind.effect:.3f}", head, TEXT)
        held = list[Cell]()
        for n in SIZES:
            for repeats in REPEATS:
                no_op, worsened = (measure(kind, n, repeats, worse=worse, effort=effort) for worse in (False, True))
                rates = [*_list_rates(no_op), *_list_rates(worsened), no_op.covered, worsened.covered]
                print_row(n, repeats, *rates)
                if n >= HELD_FROM:
                    held.append(no_op)
                    gaps[worsened.name] = worsened.gap
                    cells += [no_op, worsened]
        target = f"{kind.name}, n ≥ {HELD_FROM}: false alarms"
        yield hold(target, {cell.name: cell.ours for cell in held}, *FALSE_ALARMS)
    target = "the same, and worsened: the interval contains the true difference"
    yield hold(target, {cell.name: cell.covered for cell in cells}, *COVERAGE)
    yield hold(f"n ≥ {HELD_FROM}: power beyond the paired t test's", gaps, -POWER_GAP, POWER_GAP)


def _list_rates(cell: Cell) -> Iterator[str]:
    yield str(cell.ours)
    yield from (f"{cell.others[name]:.3f}" if name in cell.others else "" for name in METHODS)


def measure(kind: Kind, n: int, repeats: int, *, worse: bool, effort: Effort) -> Cell:
    """Draw pull requests and ask everyone about them."""
    name = f"{kind.name}, n = {n:,} × {repeats}, {'worsened' if worse else 'no-op'}"
    draw = partial(_differences, kind=kind, n=n, repeats=repeats, worse=worse)
    if worse:
        found = survey(name, lambda source: _examined(draw(source)), effort.of(500, 60))
    else:
        drawn, asked = effort.of(6_000, 600) // (2 if n >= 1_000 else 1), effort.of(250, 50)
        found = screened(name, draw, quick_p, _examined, drawn=drawn, asked=asked)
    effect = kind.effect if worse else 0.0
    return Cell(
        name,
        n,
        found.rate(lambda each: each.is_called(worse=worse)),
        found.mean(lambda each: each.is_called(worse=worse) - each.is_called_by_t(worse=worse)),
        found.rate(lambda each: each.ours.low <= effect <= each.ours.high),
        _others(kind, n, repeats, worse=worse, drawn=effort.of(20_000, 2_000) // (4 if n >= 1_000 else 1)),
    )


def _differences(source: Generator, *, kind: Kind, n: int, repeats: int, worse: bool) -> Array:
    found: Array = kind.differences(source, (1, n), repeats=repeats, worse=worse)[0]
    return found


def _examined(differences: Array) -> _Answer:
    pairs = pairs_of(differences)
    return _Answer(estimate_difference(pairs, scale=1.0), measure_spread(pairs.clusters).t_test())


def _others(kind: Kind, n: int, repeats: int, *, worse: bool, drawn: int) -> dict[str, float]:
    source = default_rng([*kind.name.encode(), n, repeats, worse])
    differences = kind.differences(source, (drawn, n), repeats=repeats, worse=worse)
    mean, critical = differences.mean(axis=1), t_quantile(1 - ALPHA / 2, n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(mean / (differences.std(axis=1, ddof=1) / sqrt(n)), nan=0.0)
    down: NDArray[np.bool_] = mean < 0 if worse else np.ones_like(mean, dtype=bool)
    called = {"t": np.abs(t) > critical, "5 points": np.abs(mean) > 0.05 + 1e-9, "any": np.abs(mean) > 1e-9}
    if kind is MIXED and repeats == 1:
        called["McNemar"] = _mcnemar(differences)
    return {name: float((down & calls).mean()) for name, calls in called.items()}


def _mcnemar(differences: Array) -> NDArray[np.bool_]:
    better, worse = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    limits = np.array([_most(m) for m in range(differences.shape[1] + 1)])
    calls: NDArray[np.bool_] = np.minimum(better, worse) <= limits[better + worse]
    return calls


@cache
def _most(m: int) -> int:
    """Return the largest smaller count among m changed cases that the exact test calls; -1 where there is none."""
    total = 0
    for k in range(m + 1):
        total += comb(m, k)
        if 2 * total > ALPHA * 2**m:
            return k - 1
    return m
