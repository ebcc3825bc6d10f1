"""Variants of a suite: how often is one called worse than the best that is not, and do the intervals hold together?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from calibration_scores import MIXED, SKEWED, Array, Kind, pass_fail
from calibration_targets import ALPHA, Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.kernel.compare.leader import Lead, compare_with_leader
from scoregate.kernel.compare.pairing import Side
from scoregate.kernel.compare.variants import estimate_optimism
from scoregate.kernel.types.runs.case_columns import Columns

COUNTS = (2, 3, 5, 12)
SIZES = (20, 60, 200, 1_000)
KINDS = (MIXED, SKEWED, pass_fail(0.95))
ROUNDING = 1e-9
# The standard error of a difference of two variants is about this, divided by the root of the number of cases.
TYPICAL = 0.55
TEXT = """\
`worse`: any variant is called worse that is as good as the best. `held`: every interval holds the true difference from
the leader. `found`: of the variants that are worse than the best, the share that is called so. `MCB`: the same share by
multiple comparisons with the best (Edwards and Hsu 1983), which call a variant worse if it is worse than each variant
that may be the best. `naive`: as `worse`, if each variant is compared with the leader at 5 %. Worse variants lie 3.5
standard errors of a difference below the best; in `steps`, variants lie at equal distances below each other, down to 5
standard errors."""


@dataclass(frozen=True)
class Answer:
    """What one run of all variants says; the last two are shares, None without a worse variant."""

    worse: bool
    held: bool
    naive: bool
    found: float | None
    found_by_mcb: float | None


@dataclass(frozen=True)
class Cell:
    """Rates over runs."""

    worse: Rate
    held: Rate
    naive: Rate
    found: float | None
    found_by_mcb: float | None


def report(effort: Effort) -> Iterator[Target]:
    """Print the rates of each condition and compare them with the targets."""
    head = ["scores", "true means", "variants", "n", "worse", "held", "naive", "found", "MCB"]
    print_table("Variants", head, TEXT)
    worse, held, pairs = dict[str, Rate](), dict[str, Rate](), list[tuple[float, float]]()
    for kind in KINDS:
        for scenario in ("equal", "one best", "two best", "steps"):
            for count in COUNTS:
                for n in SIZES:
                    if not _is_measured(kind, scenario, count):
                        continue
                    name = f"{kind.name}, {scenario}, {count} variants, n = {n}"
                    cell = measure(kind, scenario, count, n, effort=effort)
                    shares = ["" if share is None else f"{share:.2f}" for share in (cell.found, cell.found_by_mcb)]
                    print_row(kind.name, scenario, count, n, cell.worse, cell.held, cell.naive, *shares)
                    worse[name], held[name] = cell.worse, cell.held
                    if cell.found is not None and cell.found_by_mcb is not None:
                        pairs.append((cell.found, cell.found_by_mcb))
    yield hold("any variant that is as good as the best called worse", worse, 0.0, ALPHA)
    yield hold("all intervals of a ranking hold the true differences", held, 1 - ALPHA, 1.0)
    gain = float(np.mean([found - other for found, other in pairs]))
    yield Target("worse variants found, beyond MCB: at least 0", f"{gain:+.3f}", gain >= 0)
    yield from _report_optimism(effort)


def _report_optimism(effort: Effort) -> Iterator[Target]:
    """Compare the optimism that a ranking shows with how much the leader's mean is too high."""
    head = ["scores", "variants", "n", "leader too high by", "shown: equal", "shown: one best, by chance"]
    print_table(
        "The leader's mean", head, "`shown` is the mean of what rankings say if they say it; see `equal` above."
    )
    wrong = dict[str, float]()
    for kind in (MIXED, SKEWED):
        for count, n in ((3, 50), (12, 15), (12, 50), (12, 200)):
            source, runs = np.random.default_rng([count, n, 5]), effort.of(300, 40)
            scores = [draw(source, kind, [0.0] * count, n) for _ in range(runs)]
            found = [_compare(each, ALPHA) for each in scores]
            biases = [float(each.mean(axis=1).max()) - kind.mean for each in scores]
            shown = [estimate_optimism(leads) for leads in found if sum(not lead.is_worse for lead in leads) > 1]
            bias, estimate = float(np.mean(biases)), float(np.mean(shown))
            print_row(kind.name, count, n, f"{bias:.3f}", f"{estimate:.3f}")
            wrong[f"{kind.name}, {count} × {n}"] = abs(estimate - bias) - 2 * float(np.std(biases)) / sqrt(runs)
    name, most = max(wrong.items(), key=lambda each: each[1])
    yield Target("equal variants: the shown optimism is off by at most .01", f"{most:.3f} ({name})", most <= 0.01)


def _is_measured(kind: Kind, scenario: str, count: int) -> bool:
    """Whether a condition makes sense, and doesn't take too long."""
    if scenario == "equal":
        return True
    return kind is not KINDS[-1] and not (scenario == "two best" and count == 2) and not (kind is SKEWED and count > 5)


def measure(kind: Kind, scenario: str, count: int, n: int, *, effort: Effort) -> Cell:
    """Draw runs of all variants and ask the product."""
    source = np.random.default_rng([count, n, KINDS.index(kind), len(scenario)])
    shares = list_shares(kind, scenario, count, n)
    # A test of values that are on no grid takes up to 20 ms.
    is_slow = kind is SKEWED and scenario != "equal"
    runs, others = effort.of(100 if is_slow else 600 if n < 1_000 else 200, 25), effort.of(10 if is_slow else 100, 10)
    answers = [ask(draw(source, kind, shares, n), kind, shares, all_methods=at < others) for at in range(runs)]
    return Cell(
        worse=Rate.of(sum(answer.worse for answer in answers), runs),
        held=Rate.of(sum(answer.held for answer in answers), runs),
        naive=Rate.of(sum(answer.naive for answer in answers[:others]), others),
        found=_mean([answer.found for answer in answers]),
        found_by_mcb=_mean([answer.found_by_mcb for answer in answers]),
    )


def list_shares(kind: Kind, scenario: str, count: int, n: int) -> list[float]:
    """By which share the qualities of each variant are lower than those of the best."""
    error = TYPICAL / sqrt(n) / kind.mean
    drop = min(0.8, 3.5 * error)
    if scenario == "equal":
        return [0.0] * count
    if scenario == "steps":
        return [min(0.9, 5 * error) * at / (count - 1) for at in range(count)]
    best = 1 if scenario == "one best" else 2
    return [0.0] * best + [drop] * (count - best)


def draw(source: Generator, kind: Kind, shares: Sequence[float], n: int) -> Array:
    """A row of scores for each variant, on the same cases."""
    quality = kind.quality(source, (n,))
    return np.array([kind.trial(source, quality * (1 - share), source.random(n)) for share in shares])


def ask(scores: Array, kind: Kind, shares: Sequence[float], *, all_methods: bool) -> Answer:
    """Ask for the differences from the leader; `all_methods`: also what other corrections would say."""
    leads = _compare(scores, ALPHA)
    leader = next(at for at, lead in enumerate(leads) if lead.spread is None)
    others = [at for at in range(len(shares)) if at != leader]
    naive = {at for at in others if all_methods and _compare(scores[[at, leader]], ALPHA)[0].is_worse}
    called = {at for at, lead in enumerate(leads) if lead.is_worse}
    by_mcb = _find_worse_by_mcb(scores) if all_methods else set()
    true_worse = {at for at, share in enumerate(shares) if share > 0}
    held = all(
        leads[at].low - ROUNDING <= kind.mean * (shares[leader] - shares[at]) <= leads[at].high + ROUNDING
        for at in others
    )
    return Answer(
        bool(called - true_worse),
        held,
        bool(naive - true_worse),
        len(called & true_worse) / len(true_worse) if true_worse else None,
        len(by_mcb & true_worse) / len(true_worse) if true_worse and all_methods else None,
    )


def _find_worse_by_mcb(scores: Array) -> set[int]:
    """The variants that are worse than each candidate; a candidate is worse than no other variant."""
    count = len(scores)
    worse = {
        (at, other)
        for at in range(count)
        for other in range(count)
        if scores[at].mean() < scores[other].mean() and _compare(scores[[at, other]], ALPHA / (count - 1))[0].is_worse
    }
    candidates = [at for at in range(count) if not any((at, other) in worse for other in range(count))]
    return {at for at in range(count) if all((at, other) in worse for other in candidates)}


def _compare(scores: Array, alpha: float) -> list[Lead]:
    cases = [str(at) for at in range(scores.shape[1])]
    sides = [Side(lambda: iter(()), dict(zip(cases, row.tolist(), strict=True)), {}) for row in scores]
    return compare_with_leader(sides, Columns(hashes=cases), higher_is_better=True, alpha=alpha)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
