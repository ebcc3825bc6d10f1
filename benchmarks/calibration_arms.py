"""The arms of skills: how often is an effect, or a change, reported that is none?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from calibration_runs import run_of
from calibration_scores import Array
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.features.arms.comparison import compare_arms
from scoregate.features.arms.section import build_arms
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.types.runs.arms import EXPECTATIONS, Arm
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.suite import TASK

SIZES = (20, 50, 100, 200)
COUNTS = (1, 3, 5)
REPEATS = (1, 3)
FEW = 50
LOWEST, HIGHEST = 0.02, 0.055
GAIN = 0.15
TEXT = """\
Each case has some expectations, which the agent meets with a chance of its own. `effect`: the skill changes nothing,
and the report says that it helps or harms. `change`: the pull request changes nothing, and the report says better or
worse. `found`: the report finds that a skill helps which adds 15 points to each chance."""


@dataclass(frozen=True)
class Cell:
    """Rates over pull requests."""

    effect: Rate
    change: Rate
    found: Rate


def report(effort: Effort) -> Iterator[Target]:
    """Print the rates of each condition and compare them with the targets."""
    print_table("Arms", ["expectations", "trials", "n", "effect", "change", "found"], TEXT)
    effects, changes, few = dict[str, Rate](), dict[str, Rate](), dict[str, Rate]()
    for count in COUNTS:
        for repeats in REPEATS:
            for n in SIZES:
                cell = measure(count, repeats, n, effort=effort)
                print_row(count, repeats, n, cell.effect, cell.change, cell.found)
                name = f"{count} expectations, {repeats} trials, n = {n}"
                if n < FEW:
                    few |= {f"effect, {name}": cell.effect, f"change, {name}": cell.change}
                else:
                    effects[name], changes[name] = cell.effect, cell.change
    yield hold("n ≥ 50: a skill without an effect is reported to help or harm", effects, LOWEST, HIGHEST)
    yield hold("n ≥ 50: a pull request without an effect is called better or worse", changes, LOWEST, HIGHEST)
    yield hold("n = 20: both", few, 0.0, HIGHEST)


def measure(count: int, repeats: int, n: int, *, effort: Effort) -> Cell:
    """The rates for one number of expectations, trials and cases."""
    source, runs = np.random.default_rng([count, repeats, n]), effort.of(1_500, 100)
    hits = {"effect": 0, "change": 0, "found": 0}
    for _ in range(runs):
        chances = source.beta(1.5, 1.0, n)
        with_it, without, base = (_draw(source, chances, count, repeats) for _ in range(3))
        effect, change = _compare(with_it, without, base)
        hits["effect"] += _is_reported(effect)
        hits["change"] += _is_reported(change)
        helped, _ = _compare(_draw(source, np.minimum(chances + GAIN, 1.0), count, repeats), without, base)
        hits["found"] += helped is not None and helped.label is RowLabel.BETTER
    return Cell(**{name: Rate.of(number, runs) for name, number in hits.items()})


def _draw(source: Generator, chances: Array, count: int, repeats: int) -> Array:
    """The share of expectations that hold: a row for each case, a column for each trial."""
    drawn: Array = source.binomial(count, np.repeat(chances[:, None], repeats, axis=1)) / count
    return drawn


def _compare(with_it: Array, without: Array, base: Array) -> tuple[Row | None, Row | None]:
    """The effect and the change, as the product compares them."""
    run, other = (run_of({EXPECTATIONS: scores}) for scores in (with_it, without))
    arm = replace(other.suites[0], params={TASK: Arm.WITHOUT.value}, label="without")
    both = replace(run, suites=(*run.suites, arm))
    rows = compare(both, run_of({EXPECTATIONS: base})).rows
    (found,) = build_arms(compare_arms(both.suites, lambda _: Criteria()), rows)
    return found.comparison.effect, found.change


def _is_reported(row: Row | None) -> bool:
    return row is not None and row.label in (RowLabel.BETTER, RowLabel.WORSE)
