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
from scoregate.features.measure_again.level import CERTAIN_SHARE, DOUBTFUL_SHARE, LEVEL_SHARE
from scoregate.features.measure_again.pooled_sides import pool_again
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.pooled_trials import TrialPool
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.gate.families import LEVEL_FACTOR
from scoregate.kernel.judge.judgement import Baseline
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


AGAIN = ("once", "again", "alone")
PUSHES = 15
AGAIN_TEXT = """\
`once`: one run of each side decides. `again`: as here, a doubtful drop is measured twice more, and once more in the
base. `alone`: the base can't run. `extra runs`: of one push, on both sides."""
PUSHES_TEXT = "The same 200 cases, and one run of the base for all pushes of a pull request."


STEADY = Kind("binary, 70 % at .98", _steady_and_doubtful, pass_fail(0.5).trial, 0.836)


@dataclass(frozen=True)
class Push:
    """Whether a push is red by one measurement, by more on both sides, by more here alone; and the extra runs."""

    once: bool
    again: bool
    alone: bool
    runs: int


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
    yield from _print_again(effort)


def _print_again(effort: Effort) -> Iterator[Target]:
    """Print what measuring again before red changes: for one push, and for ten against one base."""
    print_table("Measured again before red", ["true drop", *AGAIN, "extra runs"], AGAIN_TEXT)
    for drop in DROPS:
        found = survey(f"again, drop {drop}", partial(_push, drop=drop), effort.of(2_000, 100))
        rates = {name: found.rate(attrgetter(name)) for name in AGAIN}
        print_row(drop, *rates.values(), found.mean(attrgetter("runs")))
        if drop:
            yield hold(f"−{drop:.0%}, measured again: red", _pick(rates, "again"), {0.05: 0.40, 0.1: 0.90}[drop])
    names = ("once", "again")
    print_table("Pushes without a change, red at least once", ["pushes", *names], PUSHES_TEXT)
    lives = survey("pushes", _push_often, effort.of(600, 40))
    for number in (1, 5, 10, PUSHES):
        rates = {name: lives.rate(partial(_is_any_red, name=name, number=number)) for name in names}
        print_row(number, *rates.values())
        if number == 10:
            yield hold("no change, ten pushes, measured again: red", _pick(rates, "again"), 0.0, 0.05)


def _is_any_red(pushes: list[Push], *, name: str, number: int) -> bool:
    return any(getattr(each, name) for each in pushes[:number])


def _push(source: Generator, *, drop: float) -> Push:
    quality = STEADY.quality(source, (200,))
    return _judge_push(source, quality, STEADY.lowered(quality, drop), run_of({"e": STEADY.trials(source, quality, 1)}))


def _push_often(source: Generator) -> list[Push]:
    quality = STEADY.quality(source, (200,))
    base = run_of({"e": STEADY.trials(source, quality, 1)})
    return [_judge_push(source, quality, quality, base) for _ in range(PUSHES)]


def _judge_push(source: Generator, before: Array, after: Array, base: Run) -> Push:
    """One push as `measure_again` judges it, with the base run again and without."""
    run = run_of({"e": STEADY.trials(source, after, 1)})
    once = _is_red(run, base)
    if _is_red(run, base, CERTAIN_SHARE) or not _is_red(run, base, DOUBTFUL_SHARE):
        return Push(once, once, once, 0)
    for _ in range(2):
        run = run.add_companion(TrialRole.AGAIN, run_of({"e": STEADY.trials(source, after, 1)}))
    alone = pool_again(run, Baseline(base)).run
    again = TrialPool.of(base)
    more = run_of({"e": STEADY.trials(source, before, 1)})
    again.add(more, dict(again.pair_measured(more)))
    return Push(once, _is_red(alone, again.finish(), LEVEL_SHARE), _is_red(alone, base, LEVEL_SHARE), 3)


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


def _is_red(run: Run, base: Run, share: float = 1.0) -> bool:
    comparison = compare(run, base, criteria=CRITERIA)
    comparison = replace(comparison, slots=comparison.slots.put(LEVEL_FACTOR, share))
    return evaluate_gates(comparison, POLICY).conclusion is Conclusion.FAILED
