"""*Better* if the mean didn't change: rare cases collapse and all others rise a little. And what it costs in power."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from calibration_runs import compare_scores, survey
from calibration_scores import MIXED, NORMAL, RUBRIC, SKEWED, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison_rows import Row, RowLabel

# (cases, expected number of cases that collapse, standard deviation of a score)
COLLAPSES = tuple((n, seen, noise) for n in (20, 50, 200) for seen in (0.4, 1, 2, 4, 6) for noise in (0.01, 0.07))
_CEILING = 0.97
# (n, gain): what *better* finds with the test of the other direction in about half of the pull requests or more
GAINS = ((20, 0.2), (50, 0.15), (200, 0.08), (1_000, 0.04))
MOST_LOST = 0.1


def report(effort: Effort) -> Iterator[Target]:
    """Print false *better* and the power for improvements, and compare them with the targets."""
    yield from _report_false(effort)
    yield from _report_power(effort)


def _report_false(effort: Effort) -> Iterator[Target]:
    head = ["n", "share that collapses", "noise", "`better`", "`better` without one more fall"]
    print_table("A mean that didn't change", head, "A share of the cases falls to 0, and all others rise.")
    rates = dict[str, Rate]()
    for n, seen, noise in COLLAPSES:
        share = seen / n
        ask = partial(_ask, n=n, share=share, noise=noise)
        found = survey(f"skewed, {n} {seen} {noise}", ask, effort.of(400, 100))
        better = found.rate(lambda row: row.label is RowLabel.BETTER)
        print_row(n, f"{share:.3f}", noise, better, found.rate(_was_better))
        rates[f"n = {n}, share {share:.3f}, noise {noise:g}"] = better
    yield hold("mean unchanged, rare collapses: `better`", rates, 0.0, 0.05)


def _was_better(row: Row) -> bool:
    return row.estimate.p <= 0.05 and row.gain > 0


def _report_power(effort: Effort) -> Iterator[Target]:
    head = ["scores", "n", "gain", "`better`", "`better` without one more fall"]
    print_table("Improvements", head, "The mean rises, and no case collapses.")
    lost, pass_fail = dict[str, Rate](), dict[str, Rate]()
    for kind in (MIXED, RUBRIC, SKEWED, NORMAL):
        for n, gain in GAINS:
            ask = partial(_ask_gain, kind=kind, n=n, gain=gain)
            found = survey(f"gain, {kind.name} {n} {gain}", ask, effort.of(200, 80))
            better = found.rate(lambda row: row.label is RowLabel.BETTER)
            print_row(kind.name, n, gain, better, found.rate(_was_better))
            difference = found.mean(lambda row: float(_was_better(row)) - float(row.label is RowLabel.BETTER))
            (pass_fail if kind is MIXED else lost)[f"{kind.name}, n = {n}"] = difference
    yield hold("pass and fail: improvements that are not found any more", pass_fail, 0.0, 0.0)
    yield hold("other scores: the same", lost, 0.0, MOST_LOST)


def _ask(source: Generator, *, n: int, share: float, noise: float) -> Row:
    """Some cases fall from their level to 0; all others rise, so that the expected change is 0."""
    level = _CEILING * (1 - share)
    old, new = (level + noise * source.standard_normal(n) for _ in range(2))
    new = np.where(source.random(n) < share, 0.0, new + level * share / (1 - share))
    return compare_scores(new[:, None], old[:, None])


def _ask_gain(source: Generator, *, kind: Kind, n: int, gain: float) -> Row:
    quality = kind.quality(source, (n,))
    lowered = kind.lowered(quality, gain)
    old, new = (kind.side(source, each if kind is NORMAL else np.clip(each, 0, 1), 1) for each in (lowered, quality))
    return compare_scores(new[:, None], old[:, None])
