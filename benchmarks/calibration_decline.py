"""A slow decline: ten merges that each cost a point. How often does any of their gates see it, and `max_decline`?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from calibration_runs import CRITERIA, quick_p, run_of, screened
from calibration_scores import MIXED, RUBRIC, Array, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.features.decline.keys import COMPARED
from scoregate.features.decline.rule import CHECK
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS

MERGES = 10
STEPS = (0.0, 0.01, 0.02)
SIZES = (50, 200, 1_000)
KINDS = (MIXED, RUBRIC)
RED_MOST, POWER_LEAST = 0.025, 0.7
TEXT = """\
Every merge lowers the mean by `step`. `any merge`: `fail_on_regression` is red on one of the ten pull requests;
`decline`: `max_decline = 0` is red on the branch after the tenth, ten runs after the first."""

_POLICY = Policy(Limits(min_pass_rate=0.0, fail_on_regression=True))
_DECLINE = Policy(Limits(min_pass_rate=0.0, more={"max_decline": {"*": 0.0}}))


@dataclass(frozen=True)
class Answer:
    """Which gates were red."""

    merge: bool
    decline: bool


def report(effort: Effort) -> Iterator[Target]:
    """Print how often a decline is found, and compare it with the targets."""
    print_table("Slow declines", ["scores", "n", "step", "any merge", "decline"], TEXT)
    false, found = dict[str, Rate](), dict[str, Rate]()
    for kind in KINDS:
        for n in SIZES:
            for step in STEPS:
                name = f"{kind.name}, n = {n}, step {step}"
                survey = screened(
                    f"decline: {name}",
                    partial(_draw, kind=kind, n=n, step=step),
                    lambda scores: quick_p(scores[-1] - scores[0]),
                    _ask,
                    drawn=effort.of(4_000, 300),
                    asked=effort.of(400, 40),
                )
                merge, decline = survey.rate(lambda answer: answer.merge), survey.rate(lambda answer: answer.decline)
                print_row(kind.name, n, step, merge, decline)
                if not step:
                    false[name] = decline
                if step == 0.01 and n >= 200:
                    found[name] = decline
    yield hold("no change: `max_decline` red", false, 0.0, RED_MOST)
    yield hold("−1 point a merge, n ≥ 200: `max_decline` red after ten", found, POWER_LEAST)


def _draw(source: Generator, *, kind: Kind, n: int, step: float) -> Array:
    """The scores of a run before the first merge, and after each: a row for each run."""
    quality = kind.quality(source, (n,))
    lowered = (kind.lowered(quality, step * at) for at in range(MERGES + 1))
    return np.array([kind.trial(source, each, source.random(n)) for each in lowered])


def _ask(scores: Array) -> Answer:
    runs = [run_of({"e": row[:, None]}) for row in scores]
    return Answer(any(_is_red(new, base) for base, new in pairwise(runs)), _has_declined(runs[-1], runs[0]))


def _is_red(new: Run, base: Run) -> bool:
    return evaluate_gates(compare(new, base, criteria=CRITERIA), _POLICY).conclusion is Conclusion.FAILED


def _has_declined(new: Run, earlier: Run) -> bool:
    comparison = compare(new, None, criteria=CRITERIA)
    comparison = replace(comparison, slots=NO_SLOTS.put(COMPARED, compare(new, earlier, criteria=CRITERIA)))
    return evaluate_gates(comparison, _DECLINE, checks=(CHECK,)).conclusion is Conclusion.FAILED
