"""Slices of one suite: how often is any of them called where nothing changed, and does its interval hold the truth?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from calibration_repeats import holds
from calibration_runs import CALLED, CRITERIA, quick_p, run_of, screened, survey
from calibration_scores import MIXED, RUBRIC, SKEWED, Array, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.features.slices.declare import MAX_SLICE_DROP
from scoregate.features.slices.keys import TABLE, SliceRow, SliceTable
from scoregate.features.slices.rows import add_slices
from scoregate.features.slices.rule import CHECK
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.policy import Limits, Policy

COUNTS = (2, 5, 10, 20)
SIZES = (10, 20, 50, 100, 200)
KINDS = (MIXED, RUBRIC, SKEWED)
LABELS_MOST, RED_MOST = 0.05, 0.025
COVERAGE = (0.93, 0.975)
TEXT = """\
n is the number of cases in each slice. `apart`: every case is in one slice. `overlapping`: each slice shares half of
its cases with the next, as with tags. `label`: any slice is `better` or `worse`; `red`: a limit of 0 that names every
slice fails."""

_POLICY = Policy(Limits(more={"max_slice_drop": {"f=*": 0.0}}))


@dataclass(frozen=True)
class Answer:
    """What scoregate reported about one pull request."""

    label: bool
    red: bool


def report(effort: Effort) -> Iterator[Target]:
    """Print families of slices and the coverage of their intervals, and compare them with the targets."""
    yield from report_families(effort)
    yield from report_intervals(effort)


def report_families(effort: Effort) -> Iterator[Target]:
    """Print how often slices are called if nothing changed."""
    print_table("Families of slices", ["scores", "slices", "n", "cases", "label", "red"], TEXT)
    labels, reds = dict[str, Rate](), dict[str, Rate]()
    for at, (count, n) in enumerate((count, n) for count in COUNTS for n in SIZES):
        kind, overlapping = KINDS[at % len(KINDS)], bool(at % 2)
        cases = "overlapping" if overlapping else "apart"
        name = f"{kind.name}, {count} slices of {n}, {cases}"
        label, red = measure(name, kind, count, n, overlapping=overlapping, effort=effort)
        print_row(kind.name, count, n, cases, label, red)
        labels[name], reds[name] = label, red
    yield hold("no change: any slice `better` or `worse`", labels, 0.0, LABELS_MOST)
    yield hold("no change: a limit for every slice red", reds, 0.0, RED_MOST)


def report_intervals(effort: Effort) -> Iterator[Target]:
    """Print how often the interval of a slice contains the true change."""
    print_table("Intervals of slices", ["scores", "n", "true change of the slice", "interval"])
    few, many = dict[str, Rate](), dict[str, Rate]()
    for kind in KINDS:
        for n in SIZES:
            for drop in (0.0, 0.1):
                name = f"{kind.name}, n = {n}, drop {drop}"
                found = survey(name, partial(_ask_row, kind=kind, n=n, drop=drop), effort.of(1_000, 60))
                covered = found.rate(partial(holds, truth=-drop))
                print_row(kind.name, n, -drop or 0, covered)
                (few if n < 50 else many)[name] = covered
    yield hold("n ≥ 50: the interval contains the slice's true difference", many, *COVERAGE)
    yield hold("n < 50: the same (more is inherent)", few, COVERAGE[0])


def measure(name: str, kind: Kind, count: int, n: int, *, overlapping: bool, effort: Effort) -> tuple[Rate, Rate]:
    """Draw pull requests that change nothing, and ask the comparison and the gate about their slices."""
    members = _members(count, n, overlapping=overlapping)
    draw = partial(_draw, kind=kind, cases=1 + max(map(max, members)), drop=0.0)
    found = screened(
        name,
        draw,
        partial(_screen, members=members),
        partial(_ask, members=members),
        drawn=effort.of(4_000, 300),
        asked=effort.of(400, 40),
    )
    return found.rate(lambda answer: answer.label), found.rate(lambda answer: answer.red)


def _members(count: int, n: int, *, overlapping: bool) -> list[list[int]]:
    """The cases of each slice."""
    if not overlapping:
        return [list(range(at * n, (at + 1) * n)) for at in range(count)]
    return [list(range(at * n // 2, at * n // 2 + n)) for at in range(count)]


def _draw(source: Generator, *, kind: Kind, cases: int, drop: float) -> tuple[Array, Array]:
    quality = kind.quality(source, (cases,))
    old, new = (kind.side(source, side, 1) for side in (quality, kind.lowered(quality, drop)))
    return old, new


def _screen(drawn: tuple[Array, Array], *, members: list[list[int]]) -> float:
    """The smallest p by t tests, corrected for the number of slices."""
    old, new = drawn
    differences = new - old
    return min(quick_p(differences[cases]) for cases in members) * len(members)


def _compare(drawn: tuple[Array, Array], members: list[list[int]], *, limited: bool) -> Comparison:
    old, new = (run_of({"e": side[:, None]}) for side in drawn)
    slices = [{"f": {f"v{at}": cases for at, cases in enumerate(members)}}]
    limits = MAX_SLICE_DROP.of(_POLICY.default) if limited else ()
    return add_slices(compare(new, old, criteria=CRITERIA), lambda _: slices, lambda _: limits)


def _rows_of(comparison: Comparison) -> tuple[SliceRow, ...]:
    return (comparison.slots.get(TABLE) or SliceTable()).rows


def _ask(drawn: tuple[Array, Array], *, members: list[list[int]]) -> Answer:
    free = _compare(drawn, members, limited=False)
    limited = evaluate_gates(_compare(drawn, members, limited=True), _POLICY, checks=(CHECK,))
    red = limited.conclusion is Conclusion.FAILED
    return Answer(any(each.row.label in CALLED for each in _rows_of(free)), red)


def _ask_row(source: Generator, *, kind: Kind, n: int, drop: float) -> Row:
    """The row of a slice that changes, in a suite that has as many other cases."""
    changed, others = (_draw(source, kind=kind, cases=n, drop=each) for each in (drop, 0.0))
    drawn = (np.concatenate([changed[0], others[0]]), np.concatenate([changed[1], others[1]]))
    rows = _rows_of(_compare(drawn, [list(range(n)), list(range(n, 2 * n))], limited=False))
    return next(each.row for each in rows if each.value == "v0")
