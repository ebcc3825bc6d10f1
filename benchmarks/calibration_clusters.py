"""Cases in declared clusters whose trials depend on each other: unequal repeats, ratio limits and `--repeats auto`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from calibration_auto import REPEATS, ROUNDS
from calibration_limits import LIMITS, contains
from calibration_repeats import ONCE, POOLED, REPEATED, THREE, Sides, holds
from calibration_runs import CRITERIA, quick_p, run_of, screened, survey
from calibration_scores import Array, Scalar
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator
from numpy.typing import NDArray

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Measure, Row, RowLabel
from scoregate.kernel.compare.pairing import find_undecided_cases
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Policy
from scoregate.kernel.types.runs.run import Run

MOST, COVERAGE_LEAST = 0.025, 0.93
LATENCY_NOISE, LATENCY_OF_CLUSTERS = 0.4, 0.6
_DROP, _LOST = 0.12, 0.03


@dataclass(frozen=True)
class Shape:
    """How many clusters there are, and how many cases each has."""

    clusters: int
    size: int

    @property
    def name(self) -> str:
        """Return the shape in words."""
        return f"{self.clusters} × {self.size}"

    @property
    def names(self) -> Sequence[str]:
        """Return the cluster of each case."""
        return [f"document-{at // self.size}" for at in range(self.clusters * self.size)]

    def spread(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return a row for each case from a row for each cluster."""
        return np.repeat(values, self.size, axis=0)


SHAPES = (Shape(20, 10), Shape(50, 4))


@dataclass(frozen=True)
class Failures:
    """Scores of 0 and 1: a repeat fails for a whole cluster at one rate, else for each case at another one."""

    name: str
    together: float
    alone: float

    def trials(self, source: Generator, shape: Shape, repeats: int, *, drop: float = 0.0, lost: float = 0.0) -> Array:
        """Return a row of scores a case; the mean is lower by `drop`, and NaN takes the place of lost scores."""
        together = self.together + drop / (1 - self.alone)
        fails = shape.spread(source.random((shape.clusters, repeats)) < together)
        fails |= source.random(fails.shape) < self.alone
        return np.where(source.random(fails.shape) < lost, np.nan, 1.0 - fails)


RARE = Failures("2 % of repeats fail for a whole cluster", 0.02, 0.0)
BOTH = Failures("5 % for a whole cluster, else 10 % for a case", 0.05, 0.1)
ALONE = Failures("10 % for a case, clusters don't matter", 0.0, 0.1)
KINDS = (RARE, BOTH, ALONE)


def report(effort: Effort) -> Iterator[Target]:
    """Print false alarms, power, ratio limits and adaptive repeats, and compare them with the targets."""
    yield from _unequal(effort)
    yield from _power(effort)
    yield from _ratios(effort)
    yield from _adaptive(effort)


def _unequal(effort: Effort) -> Iterator[Target]:
    text = f"In the rows with lost scores, {_LOST:.0%} of the scores are missing at random, so no side has all trials."
    head = ["scores", "clusters", "repeats", "better", "worse"]
    print_table("Declared clusters, unequal repeats, no change", head, text)
    better, worse = dict[str, Rate](), dict[str, Rate]()
    for kind in KINDS:
        for shape in SHAPES:
            for sides, lost in ((POOLED, 0.0), (REPEATED, 0.0), (REPEATED, _LOST), (THREE, _LOST)):
                label = f"{sides.name}{', lost scores' if lost else ''}"
                name = f"{kind.name}, {shape.name}, {label}"
                draw = partial(_draw, kind=kind, shape=shape, sides=sides, lost=lost)
                ask = partial(_ask, shape=shape, pooled=sides.pooled)
                counts = {"drawn": effort.of(2_000, 150), "asked": effort.of(160, 15)}
                found = screened(name, draw, partial(_screen, shape=shape), ask, **counts)
                better[name] = found.rate(lambda row: row.label is RowLabel.BETTER)
                worse[name] = found.rate(lambda row: row.label is RowLabel.WORSE)
                print_row(kind.name, shape.name, label, better[name], worse[name])
    yield hold("declared clusters × unequal repeats, no change: `worse`", worse, 0.0, MOST)
    yield hold("declared clusters × unequal repeats, no change: `better`", better, 0.0, MOST)


def _power(effort: Effort) -> Iterator[Target]:
    text = f"The share called `worse` at a true drop of {_DROP}."
    print_table("Declared clusters, a drop", ["scores", "clusters", "repeats", "worse", "interval"], text)
    covered = dict[str, Rate]()
    for kind in KINDS:
        for shape in SHAPES:
            for sides in (ONCE, POOLED, REPEATED, THREE):
                name = f"{kind.name}, {shape.name}, {sides.name}, drop"
                found = survey(name, partial(_lower, kind=kind, shape=shape, sides=sides), effort.of(150, 12))
                covered[name] = found.rate(partial(holds, truth=-_DROP))
                worse = found.rate(lambda row: row.label is RowLabel.WORSE)
                print_row(kind.name, shape.name, sides.name, worse, covered[name])
    yield hold("declared clusters: the interval contains the true drop", covered, COVERAGE_LEAST)


def _lower(source: Generator, *, kind: Failures, shape: Shape, sides: Sides) -> Row:
    return _ask(_draw(source, kind=kind, shape=shape, sides=sides, drop=_DROP), shape=shape, pooled=sides.pooled)


@dataclass(frozen=True)
class _Drawn:
    new: Array
    old: Array


def _draw(
    source: Generator, *, kind: Failures, shape: Shape, sides: Sides, drop: float = 0.0, lost: float = 0.0
) -> _Drawn:
    old = kind.trials(source, shape, sides.old, lost=lost)
    return _Drawn(kind.trials(source, shape, sides.new, drop=drop, lost=lost), old)


def _screen(drawn: _Drawn, *, shape: Shape) -> float:
    """Return the p of the t test over clusters."""
    counts = ((side, np.maximum(1, (~np.isnan(side)).sum(axis=1))) for side in (drawn.new, drawn.old))
    new, old = (np.nansum(side, axis=1) / count for side, count in counts)
    return quick_p((new - old).reshape(-1, shape.size).sum(axis=1))


def _ask(drawn: _Drawn, *, shape: Shape, pooled: int) -> Row:
    run, base, *pool = (
        run_of({"e": each}, clusters=shape.names) for each in (drawn.new, *np.split(drawn.old, pooled, axis=1))
    )
    return compare(run, base, pool=pool, criteria=CRITERIA).rows[0]


def _ratios(effort: Effort) -> Iterator[Target]:
    text = (
        f"Lognormal amounts, σ = {LATENCY_NOISE} of one trial and {LATENCY_OF_CLUSTERS} of a cluster's repeat; "
        "limits of 1.2 ×. The interval is that of the ratio of totals."
    )
    print_table(
        "Declared clusters, limits on ratios, no change", ["limit", "clusters", "repeats", "red", "interval"], text
    )
    red, covered = dict[str, Rate](), dict[str, Rate]()
    for limit in ("max_p95_ratio", "max_cost_ratio"):
        for shape in SHAPES:
            for sides in (ONCE, REPEATED):
                name = f"`{limit}`, {shape.name}, {sides.name}"
                found = survey(name, partial(_check_ratio, limit=limit, shape=shape, sides=sides), effort.of(400, 30))
                red[name] = found.rate(lambda answer: answer[0])
                if limit == "max_cost_ratio":
                    covered[name] = found.rate(lambda answer: answer[1])
                print_row(f"`{limit}`", shape.name, sides.name, red[name], covered.get(name, "–"))
    yield hold("declared clusters, ratio limits of 1.2, no change: red", red, 0.0, MOST)
    yield hold("declared clusters: the interval of the ratio of totals contains 1", covered, COVERAGE_LEAST)


def _check_ratio(source: Generator, *, limit: str, shape: Shape, sides: Sides) -> tuple[bool, bool]:
    """Whether the limit is red, and whether the interval of the ratio of totals contains the true ratio."""
    limits, name = LIMITS[limit]
    level = source.normal(6, 0.5, (shape.clusters * shape.size, 1))
    run, base = (_spend(source, level, name, shape, repeats) for repeats in (sides.new, sides.old))
    verdict = evaluate_gates(Comparison(run, base, pairs=((0, 0),)), Policy(limits))
    rows = [row for row in compare(run, base).quantities if row.measure is Measure.COST]
    return verdict.conclusion is Conclusion.FAILED, any(contains(row.total, 0.0) for row in rows)


def _spend(source: Generator, level: Array, name: str, shape: Shape, repeats: int) -> Run:
    shared = shape.spread(source.normal(0, LATENCY_OF_CLUSTERS, (shape.clusters, repeats)))
    amounts = np.exp(level + shared + LATENCY_NOISE * source.standard_normal(shared.shape))
    return run_of({"e": np.ones_like(amounts)}, amounts={name: amounts}, clusters=shape.names)


def _adaptive(effort: Effort) -> Iterator[Target]:
    text = "In the rows with lost scores, both sides have other numbers of trials."
    head = ["scores", "clusters", "lost scores", "true change", "better", "worse", "interval"]
    print_table("`--repeats auto` with declared clusters", head, text)
    better, worse, covered = dict[str, Rate](), dict[str, Rate](), dict[str, Rate]()
    for kind in (RARE, BOTH):
        for shape in SHAPES:
            for lost, drop in ((0.0, 0.0), (_LOST, 0.0), (0.0, _DROP)):
                name = f"auto, {kind.name}, {shape.name}, {lost:.0%} lost, drop {drop}"
                ask = partial(_repeat, kind=kind, shape=shape, lost=lost, drop=drop)
                found = survey(name, ask, effort.of(300, 20))
                rates = [found.rate(lambda row, label=label: row.label is label) for label in _LABELS]  # type: ignore[misc]
                covered[name] = found.rate(partial(holds, truth=-drop))
                print_row(kind.name, shape.name, f"{lost:.0%}", -drop or 0, *rates, covered[name])
                if not drop:
                    better[name], worse[name] = rates
    yield hold("`--repeats auto` with declared clusters, no change: `worse`", worse, 0.0, MOST)
    yield hold("`--repeats auto` with declared clusters, no change: `better`", better, 0.0, MOST)
    yield hold(
        "`--repeats auto` with declared clusters: the interval contains the true change", covered, COVERAGE_LEAST
    )


_LABELS = (RowLabel.BETTER, RowLabel.WORSE)


def _repeat(source: Generator, *, kind: Failures, shape: Shape, lost: float, drop: float) -> Row:
    """Compare as the command does: more trials of the cases that differ, on both sides."""
    drops = (drop, 0.0)
    run, base = (
        run_of({"e": kind.trials(source, shape, 1, drop=each, lost=lost)}, clusters=shape.names) for each in drops
    )
    for _ in range(ROUNDS):
        chosen = [int(case.removeprefix("case-")) for case in find_undecided_cases(run, base, 0, 0)]
        more = [kind.trials(source, shape, REPEATS, drop=each, lost=lost)[chosen] for each in drops]
        extras = [_choose(scores, chosen, shape) for scores in more]
        run = run.add_companion(TrialRole.EXTRA, extras[0])
        base = base.add_companion(TrialRole.EXTRA, extras[1])
    return compare(run, base, criteria=CRITERIA).rows[0]


def _choose(scores: Array, chosen: Sequence[int], shape: Shape) -> Run:
    cases = np.repeat(np.array(chosen, dtype=int), REPEATS).tolist()
    return run_of({"e": scores.ravel()}, cases=cases, clusters=shape.names)
