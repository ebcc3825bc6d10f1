"""The verdict of a whole run: how often is it red by any relative gate if nothing changed, and if rows fell?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import ge

import numpy as np
from calibration_family import draw_scores
from calibration_runs import CRITERIA, run_of, survey
from calibration_scores import MIXED, RUBRIC, SKEWED, Array, Kind, pass_fail
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.features.decline.declare import MAX_DECLINE
from scoregate.features.decline.keys import COMPARED
from scoregate.features.decline.rule import CHECK as DECLINE
from scoregate.features.slices.declare import MAX_SLICE_DROP
from scoregate.features.slices.rows import add_slices
from scoregate.features.slices.rule import CHECK as SLICE_DROP
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.exemptions import AcceptedRegression, Exemptions
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

KINDS = (MIXED, RUBRIC, SKEWED)
RED_MOST = 0.025
# The number of pushes, and how often a pull request without a change may be red at least once.
PUSHES = {1: 0.025, 5: 0.1, 15: 0.2}
NOISE, LEVELS = 0.6, 0.5
CHECKS = (SLICE_DROP, DECLINE)
_AMOUNTS = ("durations_ms", "costs", "tokens")
ALL_GATES = Limits(
    min_pass_rate=0.0,
    fail_on_regression=True,
    max_drop={"*": 0.02},
    more={"max_slice_drop": {"f=*": 0.02}, "max_decline": {"*": 0.02}},
    max_cost_ratio=1.05,
    max_tokens_ratio=1.05,
    max_p95_ratio=1.05,
)
_RATIOS = Limits(min_pass_rate=0.0, max_cost_ratio=1.2, max_tokens_ratio=1.2, max_p95_ratio=1.2)
_REGRESSION = Limits(min_pass_rate=0.0, fail_on_regression=True)
_ENTRY = AcceptedRegression("*", "2999-12-31", "simulated", "ana", "*", at_most=1.0)
TEXT = """\
`red`: the verdict is red by any gate; `unmeasurable`: exit code 3. All gates: `fail_on_regression`, `max_drop`,
`max_slice_drop` for two slices, `max_decline`, and the three limits on ratios, each with a limit that noise exceeds."""


@dataclass(frozen=True)
class Answer:
    """The conclusion of a run."""

    red: bool
    unmeasurable: bool


@dataclass(frozen=True)
class _World:
    """So many suites of n cases with the same evaluators, the limits, and what a pull request does to each suite.

    `change` returns the qualities of a suite after the change; `silent` is the share of scores that are None at random;
    `of_first` are more limits for the first suite.
    """

    name: str
    suites: int
    evaluators: int
    n: int
    limits: Limits
    kinds: Sequence[Kind] = KINDS
    has_amounts: bool = False
    correlation: float = 0.5
    exemptions: Exemptions = field(default_factory=Exemptions)
    change: Callable[[int, Array], Array] = lambda _, quality: quality
    silent: float = 0.0
    of_first: Limits = field(default_factory=Limits)


def report(effort: Effort) -> Iterator[Target]:
    """Print how often runs are red, and compare it with the targets."""
    print_table("Verdicts of whole runs", ["world", "red", "unmeasurable"], TEXT)
    yield from _report_all_gates(effort)
    yield from _report_single_gates(effort)
    yield from _report_small_suites(effort)
    yield from _report_accepted(effort)
    yield from _report_lost_scores(effort)
    yield from _report_pushes(effort)


def _report_all_gates(effort: Effort) -> Iterator[Target]:
    red = {}
    for suites, evaluators in ((1, 1), (3, 3), (8, 2)):
        name = f"no change, all gates, {suites} × {evaluators}"
        world = _World(name, suites, evaluators, 50, ALL_GATES, has_amounts=True)
        red[name], _ = _measure(world, effort.of(800, 60))
    legs = _World("no change, four legs of a matrix, merged", 4, 3, 50, ALL_GATES, has_amounts=True, correlation=0.0)
    red[legs.name], _ = _measure(legs, effort.of(800, 60))
    yield hold("no change, all relative gates on: red", red, 0.0, RED_MOST)


def _report_single_gates(effort: Effort) -> Iterator[Target]:
    world = _World("no change, limits on ratios, 20 suites", 20, 1, 50, _RATIOS, has_amounts=True)
    red, _ = _measure(world, effort.of(500, 40))
    yield hold("no change, ratio limits of 20 suites: red", {world.name: red}, 0.0, RED_MOST)
    alone = _World("one row of scores falls by 15 %", 1, 1, 200, _REGRESSION, (MIXED,), change=_lower(0.15, {0}))
    beside = replace(alone, name="the same, with limits on ratios of 20 suites", suites=20, has_amounts=True)
    beside = replace(beside, limits=_RATIOS, of_first=_REGRESSION)
    powers = [_measure(each, effort.of(200, 30))[0] for each in (alone, beside)]
    lost = Rate(powers[0].value - powers[1].value, max(powers[0].error, powers[1].error))
    yield hold("power that limits on ratios cost a row of scores", {beside.name: lost}, -1.0, 0.06)


def _report_small_suites(effort: Effort) -> Iterator[Target]:
    small = _World("", 12, 1, 8, _REGRESSION, (pass_fail(0.95),))
    no_op, open_cases = {}, {}
    for kind in (pass_fail(0.95), MIXED, SKEWED):
        for n in (3, 5, 8):
            world = replace(small, name=f"12 suites of {n}, {kind.name}, no change", kinds=(kind,), n=n)
            no_op[world.name], open_cases[world.name] = _measure(world, effort.of(1_000, 60))
    yield hold("12 suites of 3, 5 or 8 cases, no change: red", no_op, 0.0, RED_MOST)
    yield hold("the same: unmeasurable", open_cases, 0.0, RED_MOST)
    for name, change, least in (
        ("12 suites of 8, .95 → .85", _set(0.85), 0.55),
        ("12 suites of 8, .95 → .75", _set(0.75), 0.95),
        ("12 suites of 8, one of them .95 → 0", _set(0.0, {0}), 0.85),
    ):
        red, _ = _measure(replace(small, name=name, change=change), effort.of(300, 40))
        yield hold(f"{name}: red", {name: red}, least)
    graded = Kind("graded", pass_fail(0.5).quality, _graded, 0.5)
    apart = replace(small, name="six suites of 8 rise by .3 and six fall by .3", kinds=(graded,), change=_apart)
    red, _ = _measure(apart, effort.of(100, 30))
    yield hold(f"{apart.name}: red", {apart.name: red}, 0.95)


def _report_accepted(effort: Effort) -> Iterator[Target]:
    red = {}
    for evaluators in (12, 40):
        name = f"no change, {evaluators} rows, an entry for `*`"
        world = _World(name, 1, evaluators, 50, _REGRESSION, exemptions=_exempt(replace(_ENTRY, at_most=0.02)))
        red[name], _ = _measure(world, effort.of(600, 40))
    name = "12 rows, 6 accepted fall by 30 points"
    entries = _exempt(replace(_ENTRY, suite="bot-[0-5]"))
    world = _World(name, 12, 1, 50, _REGRESSION, (MIXED,), exemptions=entries, change=_lower(0.3, set(range(6))))
    red[name], _ = _measure(world, effort.of(600, 40))
    yield hold("accepted regressions, no other change: red", red, 0.0, RED_MOST)


def _report_lost_scores(effort: Effort) -> Iterator[Target]:
    found = {}
    for n in (60, 200):
        name = f"12 rows, None for 30 % at random, n = {n}"
        world = _World(name, 1, 12, n, _REGRESSION, (MIXED,), correlation=0.0, silent=0.3)
        _, found[name] = _measure(world, effort.of(500, 40))
    yield hold("scores lost at random: unmeasurable", found, 0.0, RED_MOST)


def _report_pushes(effort: Effort) -> Iterator[Target]:
    text = (
        "No change, `fail_on_regression`, one suite: red at least once in so many pushes compared with the same base."
    )
    print_table("Pushes of one pull request", ["n", *map(str, PUSHES)], text)
    cells = {pushes: dict[str, Rate]() for pushes in PUSHES}
    for n in (50, 200, 1_000):
        found = survey(f"pushes, n = {n}", partial(_find_first_red, n=n), effort.of(600 if n < 1_000 else 200, 30))
        rates = [found.rate(partial(ge, pushes)) for pushes in PUSHES]
        print_row(n, *rates)
        for pushes, rate in zip(PUSHES, rates, strict=True):
            cells[pushes][f"n = {n}"] = rate
    for pushes, most in PUSHES.items():
        yield hold(f"no change, {pushes} pushes: red at least once", cells[pushes], 0.0, most)


def _find_first_red(source: Generator, *, n: int) -> int:
    """The number of the first push that is red; one more than the last if none is."""
    quality = MIXED.quality(source, (n,))
    base, policy = run_of({"e": MIXED.trials(source, quality, 1)}), Policy(_REGRESSION, criteria=CRITERIA)
    for push in range(1, max(PUSHES) + 1):
        comparison = compare(run_of({"e": MIXED.trials(source, quality, 1)}), base, criteria=CRITERIA)
        if evaluate_gates(comparison, policy, checks=CHECKS).conclusion is Conclusion.FAILED:
            return push
    return max(PUSHES) + 1


def _exempt(entry: AcceptedRegression) -> Exemptions:
    return Exemptions((entry,), today="2026-11-23")


def _lower(share: float, suites: set[int]) -> Callable[[int, Array], Array]:
    return lambda suite, quality: quality * (1 - share) if suite in suites else quality


def _set(rate: float, suites: set[int] | None = None) -> Callable[[int, Array], Array]:
    return lambda suite, quality: np.full_like(quality, rate) if suites is None or suite in suites else quality


def _apart(suite: int, quality: Array) -> Array:
    return quality + (0.3 if suite % 2 else -0.3)


def _graded(source: Generator, quality: Array, _luck: Array) -> Array:
    graded: Array = np.clip(quality + 0.15 * source.standard_normal(quality.shape), 0, 1)
    return graded


def _measure(world: _World, count: int) -> tuple[Rate, Rate]:
    found = survey(world.name, partial(_ask, world=world), count)
    red, unmeasurable = found.rate(lambda each: each.red), found.rate(lambda each: each.unmeasurable)
    print_row(world.name, red, unmeasurable)
    return red, unmeasurable


def _ask(source: Generator, *, world: _World) -> Answer:
    sides = [_draw_suite(source, world, suite) for suite in range(world.suites)]
    run, base, earlier = (_join([side[at] for side in sides]) for at in range(3))
    names = {"f": {"a": list(range(0, world.n, 2)), "b": list(range(1, world.n, 2))}}
    policy = Policy(world.limits, {"bot-0": world.of_first}, criteria=CRITERIA)
    comparison = compare(run, base, criteria=CRITERIA, exemptions=world.exemptions)
    if limited := MAX_SLICE_DROP.of(world.limits):
        comparison = add_slices(comparison, lambda _: [names] * world.suites, lambda _: limited)
    if MAX_DECLINE.is_set(world.limits):
        slots = comparison.slots.put(COMPARED, compare(run, earlier, criteria=CRITERIA))
        comparison = replace(comparison, slots=slots)
    conclusion = evaluate_gates(comparison, policy, checks=CHECKS).conclusion
    return Answer(conclusion is Conclusion.FAILED, conclusion is Conclusion.UNMEASURABLE)


def _draw_suite(source: Generator, world: _World, suite: int) -> tuple[Run, Run, Run]:
    """The suite in the run, in the base and in an earlier run."""
    kinds = [world.kinds[at % len(world.kinds)] for at in range(world.evaluators)]
    qualities = [kind.quality(source, (world.n,)) for kind in kinds]
    changed = [world.change(suite, quality) for quality in qualities]
    level, runs = source.normal(6, LEVELS, (world.n, 1)), []
    for side in (changed, qualities, qualities):
        scores = draw_scores(source, kinds, side, world.correlation)
        scores[source.random(scores.shape) < world.silent] = np.nan
        amounts = {name: np.exp(level + NOISE * source.standard_normal((world.n, 1))) for name in _AMOUNTS}
        given = {f"e{at}": row[:, None] for at, row in enumerate(scores)}
        runs.append(run_of(given, amounts=amounts if world.has_amounts else None))
    new, base, earlier = (
        replace(each, suites=(replace(each.suites[0], id=f"bot-{suite}", label=f"bot-{suite}"),)) for each in runs
    )
    return new, base, earlier


def _join(runs: Sequence[Run]) -> Run:
    return replace(runs[0], suites=tuple(run.suites[0] for run in runs))
