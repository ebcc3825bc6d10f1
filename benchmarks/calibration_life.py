"""The life of a pull request: a red job is run again, whole or only the red legs of a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

import numpy as np
from calibration_runs import CRITERIA, run_of, survey
from calibration_scores import Array, Kind, pass_fail
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.features.attempts.pooled_run import pool_earlier
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

ATTEMPTS, LEGS = 3, 4
DROPS = (0.0, 0.05, 0.1)
POLICY = Policy(Limits(min_pass_rate=0.0, fail_on_regression=True), criteria=CRITERIA)
TEXT = f"""\
`fail_on_regression`, one suite, one run of the base. An author runs a red job again until it is green, at most
{ATTEMPTS} times. `last`: the last attempt alone decides. `pooled`: all attempts count as repeats, as here. `any`:
{ATTEMPTS} attempts whatever their verdict, red at least once."""
LEGS_TEXT = f"""\
The same for a matrix of {LEGS} legs, of which only red ones run again; the pull request is red if a leg is."""


def _steady_and_doubtful(source: Generator, shape: tuple[int, ...]) -> Array:
    """Return qualities of cases of which seven in ten pass at .98; the others at any rate."""
    return np.where(source.random(shape) < 0.7, 0.98, source.random(shape))


STEADY = Kind("binary, 70 % at .98", _steady_and_doubtful, pass_fail(0.5).trial, 0.836)


@dataclass(frozen=True)
class Life:
    """Whether a pull request was red: at its first attempt, at its end, and at any attempt."""

    first: bool
    last: bool
    pooled: bool
    any: bool


def report(effort: Effort) -> Iterator[Target]:
    """Print how often pull requests end red, and compare it with the targets."""
    lives = _print_lives("Attempts", TEXT, 1, effort)
    no_op, small, _ = lives
    yield hold("no change, run again while red: red at the end", _pick(no_op, "pooled"), 0.0, 0.02)
    yield hold("the same: red at any of three attempts", _pick(no_op, "any"), 0.0, 0.05)
    yield hold("−5 points, run again while red: red at the end", _pick(small, "pooled"), 0.3)
    legs = _print_lives("Attempts of the red legs of a matrix", LEGS_TEXT, LEGS, effort)
    yield hold("no change, a matrix: red at the end", _pick(legs[0], "pooled"), 0.0, 0.08)
    # All legs together were red at the first attempt in .86; the last attempts alone in .45.
    yield hold("−5 points, a matrix: red at the end", _pick(legs[1], "pooled"), 0.7)


def _pick(rates: dict[str, Rate], name: str) -> dict[str, Rate]:
    return {name: rates[name]}


def _print_lives(title: str, text: str, legs: int, effort: Effort) -> list[dict[str, Rate]]:
    names = ("first", "last", "pooled", "any")
    print_table(title, ["true drop", *names], text)
    lives = []
    for drop in DROPS:
        found = survey(f"{title}, drop {drop}", partial(_live, drop=drop, legs=legs), effort.of(1_000 // legs, 40))
        rates = {name: found.rate(attrgetter(name)) for name in names}
        print_row(drop, *rates.values())
        lives.append(rates)
    return lives


def _live(source: Generator, *, drop: float, legs: int) -> Life:
    """The attempts of one pull request; a leg is run again while it is red by its own rule."""
    found = [_live_leg(source, drop) for _ in range(legs)]
    return Life(*(any(getattr(leg, name) for leg in found) for name in ("first", "last", "pooled", "any")))


def _live_leg(source: Generator, drop: float) -> Life:
    quality = STEADY.quality(source, (200,))
    base = run_of({"e": STEADY.trials(source, quality, 1)})
    worse = STEADY.lowered(quality, drop)
    attempts = [run_of({"e": STEADY.trials(source, worse, 1)}) for _ in range(ATTEMPTS)]
    alone = [_is_red(attempt, base) for attempt in attempts]
    pooled = [alone[0], *(_is_red(_join(attempts[: number + 1]), base) for number in range(1, ATTEMPTS))]
    return Life(alone[0], _ends_red(alone), _ends_red(pooled), any(pooled))


def _ends_red(verdicts: Sequence[bool]) -> bool:
    """Whether an author who tries until an attempt is green ends with a red one."""
    return all(verdicts)


def _join(attempts: Sequence[Run]) -> Run:
    run = attempts[-1]
    for number, each in enumerate(attempts[:-1]):
        run = run.add_companion(TrialRole.MAIN, replace(each, id=str(number)))
    return pool_earlier(run)[0]


def _is_red(run: Run, base: Run) -> bool:
    comparison = compare(run, base, criteria=CRITERIA)
    return evaluate_gates(comparison, POLICY).conclusion is Conclusion.FAILED
