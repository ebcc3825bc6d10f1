"""`--repeats auto`: more trials, on both sides, of the cases that the product chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from calibration_repeats import holds
from calibration_runs import CALLED, CRITERIA, run_of, survey
from calibration_scores import FIXED, FIXED_STAYS, MIXED, Array, Kind, pass_fail
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.pairing import find_undecided_cases
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

ROUNDS, REPEATS = 2, 2
SIZES = (100, 200)
DROPS = (0.0, 0.05, 0.1)
FALSE_ALARMS_MOST, EQUIVALENT_MOST = 0.05, 0.025
COVERAGE, SHOWN = (0.93, 0.975), (0.9, 1.1)


@dataclass(frozen=True)
class Answer:
    """One pull request: its row after one trial a case, with adaptive repeats, and with uniform ones of that cost."""

    once: Row
    auto: Row
    uniform: Row | None
    red: bool
    extra: float


@dataclass(frozen=True)
class Cell:
    """Shares of pull requests: called, covered, red; the change shown; extra trials a case on either side."""

    name: str
    once: Rate
    auto: Rate
    uniform: Rate | None
    covered: Rate
    shown: Rate
    equivalent: Rate
    red: Rate
    extra: Rate


def report(effort: Effort) -> Iterator[Target]:
    """Print what adaptive repeats do, and compare it with the targets."""
    cells = {drop: list[Cell]() for drop in DROPS}
    head = [
        "scores",
        "n",
        "true change",
        "called, one trial",
        "called, auto",
        "interval",
        "change shown",
        "extra trials",
    ]
    print_table("`--repeats auto`", head, "Extra trials are those of a case on one side.")
    for kind in (pass_fail(0.7), MIXED):
        for n in SIZES:
            for drop in DROPS:
                cell = measure(kind, n, drop, count=effort.of(1_000, 80))
                values = (cell.once, cell.auto, cell.covered, cell.shown, f"{cell.extra.value:.2f}")
                print_row(kind.name, n, -drop or 0, *values)
                cells[drop].append(cell)
    yield hold("no change: called", {cell.name: cell.auto for cell in cells[0.0]}, 0.0, FALSE_ALARMS_MOST)
    covered = {cell.name: cell.covered for drop in DROPS for cell in cells[drop]}
    yield hold("the interval contains the true difference", covered, *COVERAGE)
    yield hold("mean change shown, of the true one", dict(_shown(cells)), *SHOWN)
    yield from _limit(effort)
    _uniform(effort)


def _shown(cells: dict[float, list[Cell]]) -> Iterator[tuple[str, Rate]]:
    for drop in DROPS[1:]:
        for cell in cells[drop]:
            yield cell.name, Rate(cell.shown.value / -drop, cell.shown.error / drop)


def _limit(effort: Effort) -> Iterator[Target]:
    text = "`max_drop = .03` at p = .98, n = 200, with adaptive repeats. *Equivalent* is within ± .02."
    print_table("A limit on the drop", ["true change", "red", "`equivalent`"], text)
    for drop in (0.0, 0.05):
        cell = measure(pass_fail(0.98), 200, drop, count=effort.of(1_000, 100))
        print_row(-drop or 0, cell.red, cell.equivalent)
        if drop:
            yield hold("p = .98, a true −.05: called *equivalent*", {cell.name: cell.equivalent}, 0.0, EQUIVALENT_MOST)
        else:
            yield hold("p = .98, no change: `max_drop = .03` red", {cell.name: cell.red}, 0.0, EQUIVALENT_MOST)


def _uniform(effort: Effort) -> None:
    text = "Shares called; `uniform` has as many trials as `auto`, dealt evenly over all cases."
    print_table(
        "Adaptive or uniform repeats at the same cost",
        ["scores", "n", "true change", "one trial", "auto", "uniform", "trials a case"],
        text,
    )
    for kind, drops in (
        (MIXED, (0.0, 0.05, 0.1)),
        (pass_fail(0.9), (0.0, 0.05, 0.1)),
        (FIXED, (0.0, 0.03, 0.05)),
        (FIXED_STAYS, (0.03, 0.05)),
    ):
        for n, drop in product((100, 200), drops):
            cell = measure(kind, n, drop, count=effort.of(400, 30), uniform=True)
            trials = f"{1 + cell.extra.value:.2f}"
            print_row(kind.name, n, -drop or 0, cell.once, cell.auto, cell.uniform, trials)


def measure(kind: Kind, n: int, drop: float, *, count: int, uniform: bool = False) -> Cell:
    """Draw pull requests that lower the mean by `drop`, and compare them as the command does."""
    name = f"{kind.name}, n = {n}, drop {drop}{', and uniform' if uniform else ''}"
    found = survey(name, partial(_ask, kind=kind, n=n, drop=drop, uniform=uniform), count)
    return Cell(
        name,
        found.rate(lambda each: each.once.label in CALLED),
        found.rate(lambda each: each.auto.label in CALLED),
        found.rate(lambda each: each.uniform is not None and each.uniform.label in CALLED) if uniform else None,
        found.rate(lambda each: holds(each.auto, -drop)),
        found.mean(lambda each: each.auto.delta or 0.0),
        found.rate(lambda each: each.auto.label is RowLabel.EQUIVALENT),
        found.rate(lambda each: each.red),
        found.mean(lambda each: each.extra),
    )


def _ask(source: Generator, *, kind: Kind, n: int, drop: float, uniform: bool) -> Answer:
    before = kind.quality(source, (n,))
    after = kind.lowered(before, drop)
    base, run = (run_of({"e": kind.trials(source, side, 1)}) for side in (before, after))
    once, extra = compare(run, base, criteria=CRITERIA).rows[0], 0
    for _ in range(ROUNDS):
        chosen = [int(case.removeprefix("case-")) for case in find_undecided_cases(run, base, 0, 0)]
        extra += REPEATS * len(chosen)
        run = run.add_companion(TrialRole.EXTRA, _more(source, kind, after, chosen))
        base = base.add_companion(TrialRole.EXTRA, _more(source, kind, before, chosen))
    comparison = compare(run, base, criteria=CRITERIA)
    red = evaluate_gates(comparison, Policy(Limits(max_drop={"*": 0.03}))).conclusion is Conclusion.FAILED
    even = _compare_evenly(source, kind, (before, after), extra) if uniform else None
    return Answer(once, comparison.rows[0], even, red, extra / n)


def _more(source: Generator, kind: Kind, quality: Array, chosen: Sequence[int]) -> Run:
    cases = np.repeat(np.array(chosen, dtype=int), REPEATS)
    scores = kind.trials(source, quality[cases], 1).ravel()
    return run_of({"e": scores}, cases=cases.tolist())


def _compare_evenly(source: Generator, kind: Kind, sides: tuple[Array, Array], extra: int) -> Row:
    """Compare runs that have one trial of each case and the extra ones dealt evenly, the rest of them at random."""
    n = len(sides[0])
    each, rest = divmod(extra, n)
    cases = np.concatenate([np.repeat(np.arange(n), 1 + each), source.permutation(n)[:rest]])
    base, run = (run_of({"e": kind.trials(source, side[cases], 1).ravel()}, cases=cases.tolist()) for side in sides)
    return compare(run, base, criteria=CRITERIA).rows[0]
