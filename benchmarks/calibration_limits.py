"""Limits on cost, tokens, latency and the pass rate: red by noise, and red where it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from calibration_runs import run_of, survey
from calibration_scores import Array
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.pairing import quantity_side
from scoregate.kernel.compare.ratios import Ratio, compute_total_ratio
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.policy import Limits, Policy

SIZES = (20, 50, 200)
NOISE, LEVELS = 0.6, 0.5
RED_MOST, SLOW_LEAST = 0.025, 0.75
RED_MOST_OF_PASS_RATE = 0.03
COVERAGE = (0.93, 0.975)
LIMITS = {
    "max_cost_ratio": (Limits(max_cost_ratio=1.2), "costs"),
    "max_tokens_ratio": (Limits(max_tokens_ratio=1.2), "tokens"),
    "max_p95_ratio": (Limits(max_p95_ratio=1.2), "durations_ms"),
}

Change = Callable[[Generator, Array], Array]

_EXPLANATION = """
Of 200 cases, 8 % take five times as long: the observed 95th percentiles are apart by 1.2 in .95 of pull requests where
cases are otherwise alike, in .88 where they differ as well (σ = .5). No test of the difference can find more."""


def report(effort: Effort) -> Iterator[Target]:
    """Print the limits and compare them with the targets."""
    yield from _ratios(effort)
    yield from _totals(effort)
    yield from _pass_rate(effort)


@dataclass(frozen=True)
class _Scenario:
    """What a pull request does to the amounts.

    `factor`: by what their expected total grows; `levels`: σ between cases; `repeats`: its trials, the base having one.
    """

    name: str
    change: Change
    factor: float = 1.0
    levels: float = LEVELS
    repeats: int = 1


def _times(_source: Generator, amounts: Array, *, factor: float) -> Array:
    return amounts * factor


def _some(source: Generator, amounts: Array, *, share: float, factor: float) -> Array:
    return np.where(source.random(amounts.shape) < share, factor * amounts, amounts)


SAME = _Scenario("no change", partial(_times, factor=1.0))
SAME_REPEATED = replace(SAME, name="no change, PR × 5, base × 1", repeats=5)
HALF_MORE = _Scenario("every case × 1.5", partial(_times, factor=1.5), 1.5)
THIRD_MORE = _Scenario("every case × 1.3", partial(_times, factor=1.3), 1.3)
RUNAWAY = _Scenario("3 % of calls × 20", partial(_some, share=0.03, factor=20), 1 + 0.03 * 19)
SLOW = _Scenario("8 % of cases × 5", partial(_some, share=0.08, factor=5), 1 + 0.08 * 4)
SLOW_OF_ALIKE = replace(SLOW, name="8 % of cases × 5, cases alike", levels=0.0)


def _ratios(effort: Effort) -> Iterator[Target]:
    text = f"Lognormal amounts, σ = {NOISE} of one trial and {LEVELS} between cases; limits of 1.2 ×."
    print_table("Limits on ratios: shares red", ["limit", "change", *(f"n = {n}" for n in SIZES)], text)
    noise, slow = dict[str, Rate](), dict[str, Rate]()
    for limit in LIMITS:
        for scenario in (SAME, SAME_REPEATED, HALF_MORE, RUNAWAY, SLOW, SLOW_OF_ALIKE):
            found = {n: measure_ratio(limit, scenario, n, effort) for n in SIZES}
            print_row(f"`{limit}`", scenario.name, *found.values())
            if scenario in (SAME, SAME_REPEATED):
                noise |= {f"{limit}, {scenario.name}, n = {n}": rate for n, rate in found.items()}
            if scenario is SLOW_OF_ALIKE and limit == "max_p95_ratio":
                slow["n = 200"] = found[200]
    print(_EXPLANATION)
    yield hold("ratio limits of 1.2, no change: red", noise, 0.0, RED_MOST)
    yield hold(
        "8 % of 200 cases that are otherwise alike take five times as long: `max_p95_ratio` red", slow, SLOW_LEAST
    )


def measure_ratio(limit: str, scenario: _Scenario, n: int, effort: Effort) -> Rate:
    """Draw pull requests and ask the gate."""
    count = effort.of(1_500 if scenario in (SAME, SAME_REPEATED) else 300, 60)
    ask = partial(_is_red, limit=limit, scenario=scenario, n=n)
    return survey(f"{limit}, {scenario.name}, n = {n}", ask, count).rate(bool)


def _is_red(source: Generator, *, limit: str, scenario: _Scenario, n: int) -> bool:
    limits, name = LIMITS[limit]
    old, new = _amounts(source, n, scenario)
    base, run = (run_of({"e": np.ones_like(side)}, amounts={name: side}) for side in (old, new))
    comparison = Comparison(run, base, pairs=((0, 0),))
    return evaluate_gates(comparison, Policy(limits)).conclusion is Conclusion.FAILED


def _amounts(source: Generator, n: int, scenario: _Scenario) -> tuple[Array, Array]:
    level = source.normal(6, scenario.levels, (n, 1))
    old, new = (np.exp(level + NOISE * source.standard_normal((n, repeats))) for repeats in (1, scenario.repeats))
    return old, scenario.change(source, new)


def _totals(effort: Effort) -> Iterator[Target]:
    text = "How often the interval of the ratio of totals contains the true ratio."
    print_table("Ratio of totals", ["change", "n", "interval"], text)
    cells = dict[str, Rate]()
    for scenario in (SAME, THIRD_MORE, RUNAWAY):
        for n in SIZES:
            found = measure_total(scenario, n, effort)
            print_row(scenario.name, n, found)
            if n >= 50 and scenario is not RUNAWAY:
                cells[f"{scenario.name}, n = {n}"] = found
    yield hold("n ≥ 50: the interval of the ratio of totals contains the true ratio", cells, *COVERAGE)


def measure_total(scenario: _Scenario, n: int, effort: Effort) -> Rate:
    """Draw pull requests and compare the interval with the true ratio."""
    ask = partial(_covers, scenario=scenario, n=n)
    return survey(f"total, {scenario.name}, n = {n}", ask, effort.of(4_000, 400)).rate(bool)


def _covers(source: Generator, *, scenario: _Scenario, n: int) -> bool:
    sides = (run_of({"e": side}, amounts={"costs": side}) for side in _amounts(source, n, scenario))
    of_base, of_run = (run.suites[0].columns for run in sides)
    there, here = (quantity_side([columns], _costs, is_paid=True) for columns in (of_base, of_run))
    ratio = compute_total_ratio(here, there, of_run)
    return contains(ratio, float(np.log(scenario.factor)))


def contains(ratio: Ratio | None, truth: float) -> bool:
    """Whether the interval of a ratio, if there is one, contains the true logarithm."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return False
    return ratio.low <= truth <= ratio.high


def _costs(columns: Columns) -> Sequence[float]:
    return columns.costs


def _pass_rate(effort: Effort) -> Iterator[Target]:
    text = "Shares red at `min_pass_rate = .9`."
    head = ["true rate", "n", "plain", "`pass_rate_confidence = .95`"]
    print_table("A limit on the pass rate", head, text)
    cells = dict[str, Rate]()
    for rate in (0.92, 0.8):
        for n in (50, 100, 200):
            plain, sure = (measure_pass_rate(rate, n, confidence, effort) for confidence in (None, 0.95))
            print_row(rate, n, plain, sure)
            if rate > 0.9:
                cells[f"n = {n}"] = sure
    yield hold("a true .92, `min_pass_rate = .9` with confidence .95: red", cells, 0.0, RED_MOST_OF_PASS_RATE)


def measure_pass_rate(rate: float, n: int, confidence: float | None, effort: Effort) -> Rate:
    """Draw runs without a base and ask the gate."""
    policy = Policy(Limits(min_pass_rate=0.9, pass_rate_confidence=confidence))
    ask = partial(_is_below, rate=rate, n=n, policy=policy)
    return survey(f"pass rate {rate}, n = {n}", ask, effort.of(3_000, 300)).rate(bool)


def _is_below(source: Generator, *, rate: float, n: int, policy: Policy) -> bool:
    passed = (source.random((n, 1)) < rate).astype(float)
    comparison = compare(run_of({"e": passed}, passed=passed), None)
    return evaluate_gates(comparison, policy).conclusion is Conclusion.FAILED
