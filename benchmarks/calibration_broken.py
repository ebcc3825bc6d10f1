"""Cases that a change breaks, among cases that fail by chance: how often fresh trials of both sides say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import sqrt
from operator import attrgetter

import numpy as np
from calibration_runs import survey
from calibration_targets import Effort, Target, hold, print_row, print_table
from numpy.random import Generator
from numpy.typing import NDArray

from scoregate.features.confirm.tries import ROUNDS
from scoregate.kernel.job.fresh_trials import MOST_CASES, FailingCase, FreshTrials, count_rounds
from scoregate.kernel.types.runs.confirmations import ConfirmationOutcome

CASES = 53
TEXT = f"""\
`fail_on_regression`, {CASES} cases that nearly always pass, one run of the base. `flips`: how often two trials of a
case differ; a broken case passes as seldom as others fail. `calls`: the calls of fresh trials on both sides, as a
share of those of one run."""
CRITICAL_TEXT = f"""\
`fail_on_critical`: newly failing critical cases run {ROUNDS} times on both sides. Twenty of them always failed
this often."""
ALONE_TEXT = """\
The base can't run: how often a run without a change is unmeasurable. 70 % of cases pass at .98, the others at any
rate."""


@dataclass(frozen=True)
class Outcome:
    """Whether any case was found, and the calls of its fresh trials per case of the run."""

    red: bool
    calls: float


def report(effort: Effort) -> Iterator[Target]:
    """Print how often cases are found, and compare it with the targets."""
    yield from _print_flips(effort)
    yield from _print_critical(effort)
    yield from _print_alone(effort)


def _print_flips(effort: Effort) -> Iterator[Target]:
    print_table("Broken cases", ["flips", "no change: red", "one broken: red", "no change: calls"], TEXT)
    for flips, most, least in ((0.0, 0.0005, 0.999), (0.01, 0.0005, 0.97), (0.1, 0.001, 0.6)):
        same = survey(f"flips {flips}, no change", partial(_try_stable, flips=flips, broken=0), effort.of(20_000, 500))
        one = survey(f"flips {flips}, one broken", partial(_try_stable, flips=flips, broken=1), effort.of(4_000, 200))
        red, found = same.rate(attrgetter("red")), one.rate(attrgetter("red"))
        calls = same.mean(attrgetter("calls"))
        print_row(flips, red, found, calls)
        yield hold(f"no change at {flips:.0%} flips: red", {"red": red}, 0.0, most)
        yield hold(f"one broken case of {CASES} at {flips:.0%} flips: red", {"red": found}, least)
        yield hold(f"no change at {flips:.0%} flips: calls of fresh trials per case", {"calls": calls}, 0.0, 0.2)


def _print_critical(effort: Effort) -> Iterator[Target]:
    print_table("Critical cases", ["failed before", "no change: red"], CRITICAL_TEXT)
    for rate in (0.2, 0.3, 0.5):
        found = survey(f"critical, {rate}", partial(_try_critical, rates=[(rate, rate)] * 20), effort.of(4_000, 200))
        print_row(rate, found.rate(attrgetter("red")))
        yield hold(
            f"20 critical cases that fail {rate:.0%} of the time: red",
            {"red": found.rate(attrgetter("red"))},
            0.0,
            0.005,
        )
    worse = survey("critical, worse", partial(_try_critical, rates=[(0.02, 0.8)]), effort.of(2_000, 200))
    print(f"\nOne that failed 2 % of the time fails 80 %: red {worse.rate(attrgetter('red'))}")
    yield hold("a critical case from 2 % to 80 %: red", {"red": worse.rate(attrgetter("red"))}, 0.6)


def _print_alone(effort: Effort) -> Iterator[Target]:
    print_table("Without a base that can run", ["cases", "no change: unmeasurable"], ALONE_TEXT)
    for number in (20, 53, 200):
        found = survey(f"alone, {number}", partial(_try_alone, number=number), effort.of(4_000, 200))
        print_row(number, found.rate(attrgetter("red")))
        yield hold(
            f"no base, {number} cases, no change: unmeasurable", {"red": found.rate(attrgetter("red"))}, 0.0, 0.05
        )


def _try_stable(source: Generator, *, flips: float, broken: int) -> Outcome:
    chance = (1 - sqrt(1 - 2 * flips)) / 2  # two trials differ in 2 f (1 - f)
    before, after = np.full(CASES, chance), np.full(CASES, chance)
    after[:broken] = 1 - chance
    return _run(source, before, after, 0)


def _try_critical(source: Generator, *, rates: list[tuple[float, float]]) -> Outcome:
    before, after = np.array(rates).T
    return _run(source, before, after, ROUNDS)


def _try_alone(source: Generator, *, number: int) -> Outcome:
    failing = 1 - np.where(source.random(number) < 0.7, 0.98, source.random(number))
    fresh = _find_failing(source, failing, failing, 0, problem="no commit")
    calls = _add_rounds(fresh, source, failing, failing)
    always = [each.outcome is ConfirmationOutcome.OPEN for each in fresh.make_confirmations()]
    return Outcome(bool(always) and all(always), calls / number)


def _run(source: Generator, before: NDArray[np.float64], after: NDArray[np.float64], rounds: int) -> Outcome:
    fresh = _find_failing(source, before, after, rounds)
    calls = _add_rounds(fresh, source, before, after)
    red = any(each.outcome is ConfirmationOutcome.CONFIRMED for each in fresh.make_confirmations())
    return Outcome(red, calls / len(before))


def _find_failing(
    source: Generator, before: NDArray[np.float64], after: NDArray[np.float64], rounds: int, problem: str = ""
) -> FreshTrials:
    """The cases that pass in a run of the base and fail in one of the change."""
    size = len(before)
    newly = np.flatnonzero((source.random(size) >= before) & (source.random(size) < after))
    source.shuffle(newly)  # which cases run again is not decided by their results
    cases = [FailingCase("demo", "eval.py", "demo", "{}", str(case)) for case in newly[:MOST_CASES]]
    rounds = rounds or count_rounds(len(cases))
    return FreshTrials(rounds, dict.fromkeys(cases, ()), dict.fromkeys(cases, ()), problem=problem)


def _add_rounds(fresh: FreshTrials, source: Generator, before: NDArray[np.float64], after: NDArray[np.float64]) -> int:
    """Run all rounds; returns the number of calls on both sides."""
    for number in range(fresh.rounds):
        for case in fresh.list_open(number, number):
            fresh.tries[case] = (*fresh.tries[case], bool(source.random() >= after[int(case.case)]))
        for case in [] if fresh.problem else fresh.list_open(number + 1, number):
            fresh.base_tries[case] = (*fresh.base_tries[case], bool(source.random() >= before[int(case.case)]))
    return sum(map(len, (*fresh.tries.values(), *fresh.base_tries.values())))
