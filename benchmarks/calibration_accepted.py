"""Accepted regressions next to other evaluators: how often is one of the others called, if none of them changed?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from calibration_family import KINDS, LABELS_MOST, RED_MOST, draw_scores
from calibration_runs import CALLED, CRITERIA, quick_p, run_of, screened
from calibration_scores import Array
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.statistics.significance import correct_by_direction
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.exemptions import AcceptedRegression, Exemptions
from scoregate.kernel.types.runs.policy import Limits, Policy

CELLS = ((1, 11), (6, 6), (11, 1))  # accepted evaluators, others
SIZES = (50, 200)
CORRELATIONS = (0.0, 0.85)
TEXT = """\
Scores of the accepted evaluators fall by 30 %, those of the others don't change. `label`: any of the others is `better`
or `worse`; `red`: `fail_on_regression` fails. `without entries`: the same, where only findings of the others count; it
shows why the p of an accepted row counts as 1 for the others."""

_POLICY = Policy(Limits(fail_on_regression=True))
_ENTRY = AcceptedRegression("*", "2999-12-31", "simulated", "ana", "a*", at_most=1.0)


@dataclass(frozen=True)
class Answer:
    """What scoregate reported about the others in one pull request."""

    label: bool
    red: bool


def report(effort: Effort) -> Iterator[Target]:
    """Print how often the others are called, with and without entries."""
    columns = ["accepted", "others", "n", "correlation", "label", "red", "label without entries", "red without entries"]
    print_table("Next to accepted regressions", columns, TEXT)
    labels, reds = dict[str, Rate](), dict[str, Rate]()
    for accepted, others in CELLS:
        for n in SIZES:
            for correlation in CORRELATIONS:
                name = f"{accepted} accepted, {others} others, n = {n}, correlation {correlation}"
                draw = partial(_draw, accepted=accepted, others=others, n=n, correlation=correlation)
                label, red = measure(name, draw, accepted, exempt=True, effort=effort)
                together = measure(name, draw, accepted, exempt=False, effort=effort)
                print_row(accepted, others, n, correlation, label, red, *together)
                labels[name], reds[name] = label, red
    yield hold("no change of the others: any of them `better` or `worse`", labels, 0.0, LABELS_MOST)
    yield hold("no change of the others: `fail_on_regression` red", reds, 0.0, RED_MOST)


def measure(
    name: str, draw: partial[tuple[Array, Array]], accepted: int, *, exempt: bool, effort: Effort
) -> tuple[Rate, Rate]:
    """Draw pull requests and ask the comparison and the gate about the others."""
    drawn, asked = effort.of(2_000, 300), effort.of(250, 40)
    screen = partial(_screen, accepted=accepted, exempt=exempt)
    ask = partial(_ask, accepted=accepted, exempt=exempt)
    found = screened(f"accepted: {name}", draw, screen, ask, drawn=drawn, asked=asked)
    return found.rate(lambda answer: answer.label), found.rate(lambda answer: answer.red)


def _draw(source: Generator, *, accepted: int, others: int, n: int, correlation: float) -> tuple[Array, Array]:
    kinds = [KINDS[at % len(KINDS)] for at in range(accepted + others)]
    qualities = [kind.quality(source, (n,)) for kind in kinds]
    fallen = [0.7 * quality if at < accepted else quality for at, quality in enumerate(qualities)]
    return draw_scores(source, kinds, qualities, correlation), draw_scores(source, kinds, fallen, correlation)


def _screen(drawn: tuple[Array, Array], *, accepted: int, exempt: bool) -> float:
    """The smallest corrected p of the others, by t tests."""
    differences = drawn[1] - drawn[0]
    falls = differences.mean(axis=1) < 0
    halves = np.array([quick_p(row) / 2 for row in differences])
    down, up = np.where(falls, halves, 1 - halves), np.where(falls, 1 - halves, halves)
    if exempt:
        down[:accepted] = up[:accepted] = 1.0
        return min(correct_by_direction(down.tolist(), up.tolist())[accepted:])
    return min(correct_by_direction(down.tolist(), up.tolist())[accepted:])


def _ask(drawn: tuple[Array, Array], *, accepted: int, exempt: bool) -> Answer:
    names = [f"{'a' if at < accepted else 'e'}{at}" for at in range(len(drawn[0]))]
    base, new = (run_of({name: row[:, None] for name, row in zip(names, side, strict=True)}) for side in drawn)
    exemptions = Exemptions((_ENTRY,) if exempt else (), today="2026-11-23")
    comparison = compare(new, base, criteria=CRITERIA, exemptions=exemptions)
    findings = evaluate_gates(comparison, _POLICY).findings
    failed = [each for each in findings if each.conclusion is Conclusion.FAILED]
    is_red = bool(failed) if exempt else any((each.evaluator or "e").startswith("e") for each in failed)
    return Answer(any(row.label in CALLED for row in comparison.rows if row.evaluator.startswith("e")), is_red)
