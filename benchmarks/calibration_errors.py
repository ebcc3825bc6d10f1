"""The rule `new_errors`: how often is a run unmeasurable where errors come by chance, and where a change makes them?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from calibration_runs import run_of, survey
from calibration_scores import Flags
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.runs.cases import STATUSES, Status
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

SIZES = (30, 200)
RATES = (0.02, 0.1, 0.3)
FALSE_ALARMS_MOST, FOUND_LEAST = 0.025, 0.9
TEXT = """\
`rate`: the share of trials that meet an error, in the base and in the run; `unmeasurable`: the rule `new_errors` has a
finding. `levels`: cases differ in their rate. `clusters of 5`: five cases meet errors together. `10 suites`: only the
first one changes."""
_POLICY = Policy(Limits(fail_on_regression=True, max_error_rate=None))


@dataclass(frozen=True)
class _Scenario:
    """How errors come.

    `new` and `old`: the trials of each side; `clusters`: the cases in a cluster; `levels`: whether cases differ.
    """

    name: str
    new: int = 1
    old: int = 1
    clusters: int = 1
    levels: bool = False
    suites: int = 1


ONCE = _Scenario("once")
SCENARIOS = (
    ONCE,
    _Scenario("once, levels", levels=True),
    _Scenario("3 against 3, levels", new=3, old=3, levels=True),
    _Scenario("PR × 5, base × 1", new=5),
    _Scenario("PR × 1, base × 5, levels", old=5, levels=True),
    _Scenario("clusters of 5", clusters=5),
    _Scenario("10 suites", suites=10),
)


def report(effort: Effort) -> Iterator[Target]:
    """Print how often new errors are reported, and compare it with the targets."""
    print_table("New errors", ["trials", "n", "rate", "rate of the run", "unmeasurable"], TEXT)
    by_chance, real = dict[str, Rate](), dict[str, Rate]()
    for scenario in SCENARIOS:
        for n in SIZES:
            for rate in RATES:
                by_chance[f"{scenario.name}, n = {n}, rate {rate}"] = _print(scenario, n, rate, rate, effort)
    for scenario in (ONCE, *SCENARIOS[2:4]):
        real[scenario.name] = _print(scenario, 200, 0.02, 0.12, effort)
    yield hold("the same rate of errors on both sides: unmeasurable", by_chance, 0.0, FALSE_ALARMS_MOST)
    yield hold("200 cases, .02 of trials meet an error, .12 after the change: unmeasurable", real, FOUND_LEAST)


def _print(scenario: _Scenario, n: int, rate: float, changed: float, effort: Effort) -> Rate:
    found = measure(scenario, n, rate, changed, effort)
    print_row(scenario.name, n, rate, changed, found)
    return found


def measure(scenario: _Scenario, n: int, rate: float, changed: float, effort: Effort) -> Rate:
    """Draw pull requests, and ask the gate how often it reports new errors."""
    count = effort.of(2_000 if changed == rate else 300, 60)
    ask = partial(_ask, scenario=scenario, n=n, rates=(rate, changed))
    return survey(f"errors, {scenario.name}, n = {n}, {rate}, {changed}", ask, count).rate(bool)


def _ask(source: Generator, *, scenario: _Scenario, n: int, rates: Sequence[float]) -> bool:
    base, run = _draw(source, scenario, n, rates)
    verdict = evaluate_gates(compare(run, base), _POLICY)
    return any(finding.rule == "new errors" for finding in verdict.findings)


def _draw(source: Generator, scenario: _Scenario, n: int, rates: Sequence[float]) -> tuple[Run, Run]:
    """The base and the run; only the first suite has another rate in the run."""
    sides = list[list[Run]]([[], []])
    for number in range(scenario.suites):
        luck = np.repeat(source.random(-(-n // scenario.clusters)), scenario.clusters)[:n]
        for at, repeats in enumerate((scenario.old, scenario.new)):
            rate = rates[at] if number == 0 else rates[0]
            of_cases = 2 * rate * luck if scenario.levels else np.full(n, rate)
            draws = source.random((-(-n // scenario.clusters), repeats))
            errors = np.repeat(draws, scenario.clusters, axis=0)[:n] < of_cases[:, None]
            sides[at].append(_run(errors, number, scenario.clusters))
    base, run = (replace(runs[0], suites=tuple(each.suites[0] for each in runs)) for runs in sides)
    return base, run


def _run(errors: Flags, number: int, clusters: int) -> Run:
    """A run of one suite in which these trials met an error and all others have the score 1."""
    run = run_of({"e": np.where(errors, np.nan, 1.0)}, passed=np.ones(errors.shape))
    suite, name = run.suites[0], f"bot-{number}"
    for row in np.flatnonzero(errors).tolist():
        suite.columns.statuses[row] = STATUSES.index(Status.ERRORED)
    if clusters > 1:
        suite.columns.clusters.update({row: str(row // errors.shape[1] // clusters) for row in range(errors.size)})
    return replace(run, suites=(replace(suite, id=name, label=name),))
