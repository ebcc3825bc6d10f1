"""Many evaluators of the same answers: how often is any of them called, or the gate red, where none got worse?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np
from calibration_runs import CALLED, CRITERIA, quick_p, run_of, screened
from calibration_scores import MIXED, RUBRIC, SKEWED, Array, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator
from scipy.special import ndtr

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.compare.statistics.significance import correct_by_direction
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.policy import Limits, Policy

COUNTS = (1, 12, 40)
SIZES = (50, 200)
CORRELATIONS = (0.0, 0.5, 0.85, 0.95)
LABELS_MOST, RED_MOST = 0.05, 0.025
KINDS = (MIXED, RUBRIC, SKEWED)
TEXT = """\
A third of the evaluators gives pass or fail, a third a rubric's steps, a third any number; their luck has the given
correlation. `label`: any row is `better` or `worse`; `red`: `fail_on_regression` fails; `differ`: the gate is red and
no row is `worse`, or the other way round. `half better`: every case improves in half of the rows; labels are right
then, and only red is wrong."""

_POLICY = Policy(Limits(fail_on_regression=True))
_CORRELATIONS_OF_BETTER = (0.0, 0.85)


@dataclass(frozen=True)
class Answer:
    """What scoregate reported about one pull request."""

    label: bool
    red: bool
    differ: bool


@dataclass(frozen=True)
class Family:
    """Shares of pull requests in which no row got worse: any label, the gate red, and where both differ."""

    name: str
    label: Rate
    red: Rate
    differ: Rate


def report(effort: Effort) -> Iterator[Target]:
    """Print families of rows and compare them with the targets."""
    print_table("Families of evaluators", ["evaluators", "n", "correlation", "rows", "label", "red", "differ"], TEXT)
    same, half = list[Family](), list[Family]()
    for count in COUNTS:
        for n in SIZES:
            for better, found in ((False, same), (True, half)):
                for correlation in _correlations(count, better=better):
                    family = measure(count, n, correlation, better=better, effort=effort)
                    rows = "half better" if better else "unchanged"
                    print_row(count, n, correlation, rows, "" if better else family.label, family.red, family.differ)
                    found.append(family)
    yield hold("no change: any label `better` or `worse`", {each.name: each.label for each in same}, 0.0, LABELS_MOST)
    yield hold("no change: `fail_on_regression` red", {each.name: each.red for each in same}, 0.0, RED_MOST)
    yield hold("half of the rows better, none worse: red", {each.name: each.red for each in half}, 0.0, RED_MOST)
    differ = sum(each.differ.value for each in (*same, *half))
    yield Target("red exactly where a row is `worse`", "everywhere" if not differ else "not everywhere", not differ)


def _correlations(count: int, *, better: bool) -> Sequence[float]:
    if count == 1:
        return () if better else (0.0,)
    return _CORRELATIONS_OF_BETTER if better else CORRELATIONS


def measure(count: int, n: int, correlation: float, *, better: bool, effort: Effort) -> Family:
    """Draw pull requests that make no row worse and ask the comparison and the gate about them."""
    name = f"{count} evaluators, n = {n}, correlation {correlation}{', half better' if better else ''}"
    draw = partial(_draw, count=count, n=n, correlation=correlation, better=better)
    drawn, asked = effort.of(6_000, 300), effort.of(500, 40)
    found = screened(name, draw, partial(_screen, better=better), _ask, drawn=drawn, asked=asked)
    rates = (found.rate(hit) for hit in (lambda a: a.label, lambda a: a.red, lambda a: a.differ))
    return Family(name, *rates)


def _draw(source: Generator, *, count: int, n: int, correlation: float, better: bool) -> tuple[Array, Array]:
    kinds = [KINDS[at % len(KINDS)] for at in range(count)]
    qualities = [kind.quality(source, (n,)) for kind in kinds]
    improved = [1 - 0.7 * (1 - quality) if better and at % 2 else quality for at, quality in enumerate(qualities)]
    base, new = (draw_scores(source, kinds, side, correlation) for side in (qualities, improved))
    return base, new


def draw_scores(source: Generator, kinds: Sequence[Kind], qualities: Sequence[Array], correlation: float) -> Array:
    """Return a row of scores for each evaluator; they see the same answers, so that they share some of their luck."""
    common, own = source.standard_normal(len(qualities[0])), source.standard_normal((len(kinds), len(qualities[0])))
    luck = ndtr(sqrt(correlation) * common + sqrt(1 - correlation) * own)
    return np.array([kind.trial(source, qualities[at], luck[at]) for at, kind in enumerate(kinds)])


def _screen(drawn: tuple[Array, Array], *, better: bool) -> float:
    """The smallest corrected p by t tests; of getting worse alone where rows got better."""
    base, new = drawn
    differences = new - base
    falls = differences.mean(axis=1) < 0
    halves = np.array([quick_p(row) / 2 for row in differences])
    down, up = np.where(falls, halves, 1 - halves), np.where(falls, 1 - halves, halves)
    corrected = correct_by_direction(down.tolist(), ([1.0] * len(down)) if better else up.tolist())
    return min(corrected)


def _ask(drawn: tuple[Array, Array]) -> Answer:
    base, new = (run_of({f"e{at}": row[:, None] for at, row in enumerate(side)}) for side in drawn)
    comparison = compare(new, base, criteria=CRITERIA)
    red = evaluate_gates(comparison, _POLICY).conclusion is Conclusion.FAILED
    worse = any(row.label is RowLabel.WORSE for row in comparison.rows)
    return Answer(any(row.label in CALLED for row in comparison.rows), red, red != worse)
