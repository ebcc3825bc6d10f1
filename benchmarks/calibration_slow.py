"""Scores that sink a little each night: how often does an alert find it in ten nights, and how often is it wrong?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from calibration_scores import MIXED, RUBRIC, Array, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator, default_rng

from scoregate.features.alert.slow_decline import FEWEST_OLDER, LEVEL, NEWEST, decline_p
from scoregate.kernel.types.runs.past_runs import MOST_RUNS

NIGHTS, SCORES = 10, (1, 12)
MIN_EFFECT = 0.01
ALARMS_MOST, FOUND_LEAST = 0.003, 0.9
TEXT = """\
The same cases each night, and up to 20 nights are known. How often does a night alert although nothing changed, with
one score, and with twelve, which share the level? `moves`: whole nights move by so much, each for itself, or with a
correlation of .5 with the night before."""
FOUND_TEXT = """\
After some steady nights, each of ten nights is lower by a step. How often does one of them alert, with one score, and
if eleven others are steady?"""
_SEED = 20_261_201


def report(effort: Effort) -> Iterator[Target]:
    """Print false alarms a night and the power; yield the targets."""
    alarms, drifts = dict[str, Rate](), dict[str, Rate]()
    print_table("False alarms a night", ["scores", "n", "moves", "one score", "twelve scores"], TEXT)
    for kind in (MIXED, RUBRIC):
        for n, moved, correlation in ((50, 0, 0), (200, 0, 0), (1_000, 0, 0), (200, 0.02, 0), (200, 0.01, 0.5)):
            source, branches = default_rng([_SEED, n, round(1000 * moved)]), effort.of(3_000, 200)
            nights = draw_nights(source, kind, n, branches, np.zeros(40), moved=moved, correlation=correlation)
            values = [find_p(each[: at + 1]) for each in nights for at in range(MOST_RUNS - 1, 40, 5)]
            rates = [_rate([p <= LEVEL / scores for p in values], scores) for scores in SCORES]
            moves = f"{moved:g}{', correlated' if correlation else ''}"
            print_row(kind.name, n, moves, *rates)
            for scores, rate in zip(SCORES, rates, strict=True):
                (drifts if correlation else alarms)[f"{kind.name}, n = {n}, moves {moves}, {scores} scores"] = rate
    yield hold("alarms a night without a change", alarms, 0.0, ALARMS_MOST)
    yield hold("the same if a night moves with the one before", drifts, 0.0, 2 * ALARMS_MOST)
    found = dict[str, Rate]()
    print_table(
        "Found within ten nights", ["scores", "n", "steady nights", "step", "one score", "twelve scores"], FOUND_TEXT
    )
    for kind in (MIXED, RUBRIC):
        for n, steady, step in (
            *((n, steady, 0.01) for n in (200, 1_000) for steady in (5, 10, 19)),
            *((n, 10, 0.005) for n in (200, 1_000)),
        ):
            drops = np.concatenate([np.zeros(steady), step * np.arange(1, NIGHTS + 1)])
            branches = effort.of(400, 60)
            nights = draw_nights(default_rng([_SEED, n, steady]), kind, n, branches, drops)
            lowest = [min(find_p(each[:end]) for end in range(steady + 1, len(drops) + 1)) for each in nights]
            rates = [Rate.of(sum(p <= LEVEL / scores for p in lowest), branches) for scores in SCORES]
            print_row(kind.name, n, steady, step, *rates)
            if steady > FEWEST_OLDER and step == 0.01:
                found |= {f"{kind.name}, n = {n}, {steady} nights": rates[0]}
    yield hold("one point a night, found within ten", found, FOUND_LEAST)


def draw_nights(
    source: Generator, kind: Kind, n: int, branches: int, drops: Array, *, moved: float = 0.0, correlation: float = 0.0
) -> Array:
    """The mean score of each night; a row is a branch with cases of its own."""
    quality, nights, move = kind.quality(source, (branches, n)), [], np.zeros(branches)
    for drop in drops:
        move = correlation * move + (1 - correlation**2) ** 0.5 * source.normal(0, moved, branches)
        now = np.clip(kind.lowered(quality, drop) + move[:, None], 0, 1)
        nights.append(kind.trial(source, now, source.random(now.shape)).mean(axis=1))
    return np.array(nights).T


def find_p(means: Array) -> float:
    """The p of the last night; 1 where there are too few nights, or where the decline is too small."""
    known = means[-MOST_RUNS:].tolist()
    if len(known) < FEWEST_OLDER + NEWEST or np.mean(known[:-NEWEST]) - np.mean(known[-NEWEST:]) < MIN_EFFECT:
        return 1.0
    return decline_p(known)


def _rate(alarms: list[bool], scores: int) -> Rate:
    """The rate of any of so many scores, from that of one."""
    one = Rate.of(sum(alarms), len(alarms))
    return Rate(1 - (1 - one.value) ** scores, scores * one.error, len(alarms))
