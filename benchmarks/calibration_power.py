"""Whether "could detect" and `scoregate power` keep their promise: a drop found four times in five."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from calibration_runs import pairs_of, quick_p, run_of, screened, survey
from calibration_scores import MIXED, NORMAL, RUBRIC, SKEWED, Array, Kind, ceiling, pass_fail
from calibration_targets import ALPHA, Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.estimates import estimate_difference
from scoregate.kernel.compare.power import required_sizes
from scoregate.kernel.compare.statistics.intervals import measure_spread

SIZES = (50, 100, 200, 500, 1_000)
REPEATS = (1, 3)
POWER = (0.78, 0.95)
RATES = (0.5, 0.7, 0.9, 0.95, 0.98)
DETECTABLE = (*map(pass_fail, RATES), MIXED, RUBRIC, ceiling(0.95), NORMAL, SKEWED)
PILOTED = (*map(pass_fail, RATES), MIXED, RUBRIC, SKEWED)
DROPS = (0.05, 0.1)
PILOT = 200


@dataclass(frozen=True)
class _Drawn:
    differences: Array
    aim: float


def report(effort: Effort) -> Iterator[Target]:
    """Print the real power at what the product promises, and compare it with the targets."""
    text = 'Power at the change that a no-op comparison says it could detect ("could detect"), for n cases × repeats.'
    print_table("Could detect", ["scores", "repeats", *(f"n = {n:,}" for n in SIZES)], text)
    cells = dict[str, Rate]()
    for kind in DETECTABLE:
        for repeats in REPEATS:
            found = {f"{kind.name}, n = {n} × {repeats}": measure(kind, n, repeats, effort) for n in SIZES}
            print_row(kind.name, repeats, *found.values())
            cells |= found
    yield hold('"could detect": real power', cells, *POWER)
    yield from _planned(effort)


def _planned(effort: Effort) -> Iterator[Target]:
    text = (
        f"Power with the number of cases that `scoregate power` asks for, after a pilot of {PILOT} cases with a base."
    )
    print_table("`scoregate power`", ["scores", "drop", "mean number of cases", "power"], text)
    cells = dict[str, Rate]()
    for kind in PILOTED:
        for drop in DROPS:
            power, cases = measure_planned(kind, drop, effort)
            print_row(kind.name, drop, f"{cases.value:.0f}", power)
            cells[f"{kind.name}, drop {drop}"] = power
    yield hold("`scoregate power`: real power with the cases it asks for", cells, *POWER)


def measure(kind: Kind, n: int, repeats: int, effort: Effort) -> Rate:
    """Ask a no-op comparison what it could detect, and find out how often a drop of that size is called worse."""
    draw = partial(_draw, kind=kind, n=n, repeats=repeats)
    name, drawn = f"{kind.name}, n = {n} × {repeats}", effort.of(1_000, 150) // (2 if n >= 500 else 1)
    return screened(name, draw, _screen, _is_found, drawn=drawn, asked=effort.of(120, 24)).rate(bool)


def measure_planned(kind: Kind, drop: float, effort: Effort) -> tuple[Rate, Rate]:
    """Ask how many cases a drop needs, and find out how often it is called worse with so many."""
    name, drawn = f"{kind.name}, drop {drop}, planned", effort.of(600, 80)
    found = screened(
        name, partial(_draw_planned, kind=kind, drop=drop), _screen, _is_found, drawn=drawn, asked=drawn // 4
    )
    cases = survey(name, lambda source: float(_planned_cases(source, kind, drop)), effort.of(100, 20))
    return found.rate(bool), cases.mean(float)


def _draw(source: Generator, *, kind: Kind, n: int, repeats: int) -> _Drawn:
    quality = kind.quality(source, (n,))
    no_op = kind.side(source, quality, repeats) - kind.side(source, quality, repeats)
    aim = measure_spread([(difference, 1) for difference in no_op.tolist()]).detectable()
    return _dropped(source, kind, n, repeats, aim or 0.0)


def _draw_planned(source: Generator, *, kind: Kind, drop: float) -> _Drawn:
    return _dropped(source, kind, _planned_cases(source, kind, drop), 1, drop)


def _planned_cases(source: Generator, kind: Kind, drop: float) -> int:
    quality = kind.quality(source, (PILOT,))
    run, base = (run_of({"e": kind.trials(source, quality, 1)}) for _ in range(2))
    (need,) = required_sizes(Comparison(run, base, pairs=((0, 0),)), drop)
    return need.cases


def _dropped(source: Generator, kind: Kind, n: int, repeats: int, drop: float) -> _Drawn:
    quality = kind.quality(source, (n,))
    base = kind.side(source, quality, repeats)
    found = kind.side(source, kind.lowered(quality, drop), repeats) - base
    found[abs(found) < 1e-9] = 0.0
    return _Drawn(found, drop)


def _screen(drawn: _Drawn) -> float:
    return quick_p(drawn.differences)


def _is_found(drawn: _Drawn) -> bool:
    found = estimate_difference(pairs_of(drawn.differences), scale=1.0)
    return found.p <= ALPHA and found.delta < 0
