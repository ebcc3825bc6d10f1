"""Rows with too few pairs: how often is the gate red or unmeasurable if nothing changed, and if scores collapse?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from calibration_family import draw_scores
from calibration_runs import CRITERIA, run_of, survey
from calibration_scores import MIXED, RUBRIC, SKEWED, Array, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

SIZES = (5, 6, 7, 8, 9)
# Evaluators and suites; one row alone with every kind of score, the others with continuous scores, which have no ties.
FAMILIES = ((1, 1), (4, 1), (12, 1), (1, 10))
KINDS = (MIXED, RUBRIC, SKEWED)
FALSE_ALARMS_MOST, FOUND_LEAST = 0.025, 0.95
CORRELATION = 0.5
TEXT = """\
`unmeasurable`, `red`: `fail_on_regression` is. `collapsed`: every score of the first suite is 0 in the run."""
_POLICY = Policy(Limits(fail_on_regression=True))


@dataclass(frozen=True)
class _Family:
    """So many suites of n cases, each with the same evaluators, whose luck is correlated."""

    n: int
    evaluators: int
    suites: int
    kind: Kind

    @property
    def name(self) -> str:
        return f"{self.kind.name}, {self.suites} suites of {self.n}, {self.evaluators} evaluators"


def report(effort: Effort) -> Iterator[Target]:
    """Print how often small suites are unmeasurable, and compare it with the targets."""
    print_table("Too few pairs", ["scores", "n", "evaluators", "suites", "change", "unmeasurable", "red"], TEXT)
    by_chance, red, real = dict[str, Rate](), dict[str, Rate](), dict[str, Rate]()
    for n in SIZES:
        for evaluators, suites in FAMILIES:
            for kind in KINDS if (evaluators, suites) == (1, 1) else (SKEWED,):
                family = _Family(n, evaluators, suites, kind)
                by_chance[family.name], red[family.name] = _print(family, effort, collapses=False)
    for n in (7, 9):
        family = _Family(n, 1, 1, RUBRIC)
        _, real[family.name] = _print(family, effort, collapses=True)
    one = {name: rate for name, rate in by_chance.items() if "1 suites" in name}
    yield hold("no change in 5 to 9 pairs: red", red, 0.0, FALSE_ALARMS_MOST)
    yield hold("no change in 5 to 9 pairs of one suite, whose gate may be unable to fail: unmeasurable", one, 0.0, 0.06)
    yield hold("7 or 9 pairs, all scores fall to 0: red", real, FOUND_LEAST)


def _print(family: _Family, effort: Effort, *, collapses: bool) -> tuple[Rate, Rate]:
    found, red = measure(family, effort, collapses=collapses)
    change = "collapsed" if collapses else "none"
    print_row(family.kind.name, family.n, family.evaluators, family.suites, change, found, red)
    return found, red


def measure(family: _Family, effort: Effort, *, collapses: bool) -> tuple[Rate, Rate]:
    """Draw pull requests, and ask the gate for its conclusions."""
    count = effort.of(300 if collapses else 2_000, 60)
    ask = partial(_ask, family=family, collapses=collapses)
    found = survey(f"{family.name}, {collapses}", ask, count)
    return found.rate(lambda each: each is Conclusion.UNMEASURABLE), found.rate(lambda each: each is Conclusion.FAILED)


def _ask(source: Generator, *, family: _Family, collapses: bool) -> Conclusion:
    pairs = [_draw(source, family, collapses=collapses and number == 0) for number in range(family.suites)]
    base, run = (_join([pair[side] for pair in pairs]) for side in (0, 1))
    comparison = compare(run, base, criteria=CRITERIA)
    assert all(row.label is RowLabel.TOO_FEW for row in comparison.rows)
    return evaluate_gates(comparison, _POLICY).conclusion


def _draw(source: Generator, family: _Family, *, collapses: bool) -> tuple[Mapping[str, Array], Mapping[str, Array]]:
    kinds = [family.kind] * family.evaluators
    qualities = [kind.quality(source, (family.n,)) for kind in kinds]
    base, run = (draw_scores(source, kinds, qualities, CORRELATION) for _ in range(2))
    return _name(base), _name(np.zeros_like(run) if collapses else run)


def _name(scores: Array) -> Mapping[str, Array]:
    return {f"e{at}": row[:, None] for at, row in enumerate(scores)}


def _join(suites: list[Mapping[str, Array]]) -> Run:
    runs = [run_of(scores) for scores in suites]
    named = [replace(run.suites[0], id=f"bot-{at}", label=f"bot-{at}") for at, run in enumerate(runs)]
    return replace(runs[0], suites=tuple(named))
