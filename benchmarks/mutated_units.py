"""Simulated mutations: how often units that break cases are noticed, and units that break none are called seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from calibration_runs import compare_scores, survey
from calibration_targets import Effort, Target, hold, print_row, print_table
from numpy.random import Generator
from numpy.typing import NDArray

from scoregate.features.interventions.mutation.outcomes import (
    Measured,
    TriedCase,
    UnitOutcome,
    is_hopeless,
    is_noisy,
    judge_units,
)
from scoregate.features.interventions.mutation.unit_measurement import MOST_CASES, count_more_rounds, count_rounds

UNITS, CASES, BROKEN_UNITS = 30, 50, 6
FLIPS = (0.0, 0.02, 0.10)
BREAKS = (1, 2, 4, 8)
ENOUGH = {0.0: 1, 0.02: 2, 0.10: 4}
"""From how many broken cases on a unit must be seen, by the rate of flips."""
TEXT = f"""\
{UNITS} units, {BROKEN_UNITS} of which break cases, and {CASES} cases. `flips`: how often a trial of a case has the
other outcome. `seen`: of the units that break cases. `blind`: units that break none and are called seen. `better`: the
same, called better without."""
"""What each table says of its columns."""
_NOTICED = (UnitOutcome.SEEN, UnitOutcome.GATED)


def report_units(effort: Effort) -> Iterator[Target]:
    """Print how often units are seen, and compare it with the targets."""
    print_table("Units that break cases", ["flips", "broken cases", "seen", "blind", "better"], TEXT)
    for flips in FLIPS:
        for breaks in BREAKS:
            found = survey(f"units {flips} {breaks}", partial(_try, flips=flips, breaks=breaks), effort.of(100, 10))
            seen, blind, better = (found.mean(partial(_get, place=place)) for place in range(3))
            print_row(flips, breaks, seen, blind, better)
            yield hold(f"{breaks} broken, {flips:.0%} flips: blind units called seen", {"": blind}, 0, 0.05)
            if breaks >= ENOUGH[flips]:
                yield hold(f"{breaks} broken, {flips:.0%} flips: seen", {"": seen}, 0.95)


def _get(shares: Sequence[float], *, place: int) -> float:
    return shares[place]


def _try(source: Generator, *, flips: float, breaks: int) -> tuple[float, float, float]:
    """The shares of units that are seen, blind units that are, and blind units that are called better without."""
    tree = _Tree(source, flips)
    outcomes = [each.outcome for each in judge_units([tree.measure(breaks * (n < BROKEN_UNITS)) for n in range(UNITS)])]
    broken, blind = outcomes[:BROKEN_UNITS], outcomes[BROKEN_UNITS:]
    seen, wrong = (sum(each in _NOTICED for each in part) / len(part) for part in (broken, blind))
    return seen, wrong, blind.count(UnitOutcome.BETTER_WITHOUT) / len(blind)


class _Tree:
    """An unedited tree, whose fresh trials all units share."""

    def __init__(self, source: Generator, flips: float) -> None:
        self.source, self.flips, self.rounds = source, flips, count_rounds(UNITS)
        self.first = self._run(np.zeros(CASES, bool))
        self.fresh = np.array([self._run(np.zeros(CASES, bool)) for _ in range(count_more_rounds(self.rounds))])

    def measure(self, breaks: int) -> Measured:
        """Measure a unit that breaks some cases, as the product does."""
        broken = np.isin(np.arange(CASES), self.source.choice(CASES, breaks, replace=False))
        run = self._run(broken)
        row = compare_scores(run.astype(float), self.first.astype(float))
        return Measured(
            fell=self._try_again(broken, np.flatnonzero(self.first & ~run), is_rise=False),
            rose=self._try_again(broken, np.flatnonzero(~self.first & run), is_rise=True),
            p_worse=row.p_worse,
            p_better=row.p_better,
        )

    def _run(self, broken: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.equal(self.source.random(CASES) < self.flips, broken)

    def _try_again(self, broken: NDArray[np.bool_], cases: NDArray[np.intp], *, is_rise: bool) -> tuple[TriedCase, ...]:
        chosen = cases[:MOST_CASES].tolist()
        runs = np.array([self._run(broken) for _ in range(count_more_rounds(self.rounds))])

        def list_tried(rounds: int) -> tuple[TriedCase, ...]:
            sides = [(runs[:rounds, case].tolist(), self.fresh[:rounds, case].tolist()) for case in chosen]
            return tuple(
                TriedCase("bot", f"{case}", "", *map(tuple, side)) for case, side in zip(chosen, sides, strict=True)
            )

        half, tried = list_tried(self.rounds // 2), list_tried(self.rounds)
        if is_hopeless(half, is_rise=is_rise):
            return half
        return list_tried(len(runs)) if is_noisy(tried) else tried
