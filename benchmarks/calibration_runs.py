"""Builds simulated runs for the product to compare, and draws many pull requests with the same numbers every time."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import erfc, nan, sqrt
from typing import Generic, TypeVar

import numpy as np
from calibration_scores import Array
from calibration_targets import Rate
from numpy.random import Generator, default_rng

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.pairing import Pairs
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import STATUSES, Status
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.text_column import TextColumn

Drawn = TypeVar("Drawn")
Answer = TypeVar("Answer")

CALLED = (RowLabel.BETTER, RowLabel.WORSE)
# No smallest effect: it would hide false alarms.
CRITERIA = Criteria(min_effect=0.0)

_SEED = 20_261_122
# By the p-value of a quick test close to scoregate's: up to 0.01, 0.03, 0.08, 0.2, above; and the share drawn of each.
_LIMITS = (0.01, 0.03, 0.08, 0.2)
_SHARES = (0.15, 0.15, 0.4, 0.15, 0.15)


@cache
def _names(cases: int) -> tuple[str, ...]:
    return tuple(f"case-{at}" for at in range(cases))


def run_of(
    scores: Mapping[str, Array],
    *,
    cases: Sequence[int] | None = None,
    amounts: Mapping[str, Array] | None = None,
    passed: Array | None = None,
    clusters: Sequence[str] | None = None,
) -> Run:
    """Build a run of one suite.

    Args:
        scores: for each evaluator a row of scores a case, a column a repeat; NaN where it gave none.
        cases: the case of each score, where scores come in one dimension because cases differ in their repeats.
        amounts: `durations_ms`, `costs` and `tokens`, in the shape of the scores.
        passed: whether each trial passed, in the shape of the scores.
        clusters: the cluster of each case.
    """
    first = next(iter(scores.values()))
    repeats = first.shape[1] if first.ndim > 1 else 1
    of_trials = np.repeat(np.arange(len(first)), repeats).tolist() if cases is None else list(cases)
    names, columns, trials = _names(max(of_trials, default=-1) + 1), Columns(), len(of_trials)
    columns.hashes = [names[case] for case in of_trials]
    columns.digests, columns.repeats = TextColumn([""] * trials), _count_repeats(of_trials)
    columns.clusters = {} if clusters is None else {row: clusters[case] for row, case in enumerate(of_trials)}
    columns.statuses = bytearray([STATUSES.index(Status.PASSED)]) * trials
    if passed is not None:
        columns.statuses = bytearray(
            STATUSES.index(Status.PASSED if each else Status.FAILED) for each in passed.ravel().tolist()
        )
    for name in ("durations_ms", "costs", "tokens"):
        known = (amounts or {}).get(name)
        setattr(columns, name, array("d", [nan] * trials if known is None else known.ravel().tolist()))
    columns.scores = {name: array("d", found.ravel().tolist()) for name, found in scores.items()}
    infos = {name: EvaluatorInfo(name) for name in scores}
    suite = SuiteResult("bot", "bot", script="bot.py", evaluators=infos, trials=Trials(columns), complete=True)
    return Run("run", started=0, end=RunEnd(1, complete=True), code=RunCode("1", commit="base"), suites=(suite,))


def _count_repeats(cases: Sequence[int]) -> array[int]:
    """Return the number of the repeat of each trial, from 0."""
    known = Counter[int]()
    repeats = array("l")
    for case in cases:
        repeats.append(known[case])
        known[case] += 1
    return repeats


def compare_scores(new: Array, *olds: Array, criteria: Criteria = CRITERIA) -> Row:
    """Compare one evaluator's scores with the base's; several base runs are pooled."""
    base, *pool = (run_of({"e": old}) for old in olds)
    return compare(run_of({"e": new}), base, pool=pool, criteria=criteria).rows[0]


def pairs_of(differences: Array) -> Pairs:
    """Return the pairs with these differences, one a case."""
    values = differences.tolist()
    rose, fell = sum(1 for value in values if value > 0), sum(1 for value in values if value < 0)
    return Pairs(len(values), tuple((value, 1) for value in values), rose=rose, fell=fell)


def quick_p(differences: Array) -> float:
    """Return the two-sided p of the paired t test, by the normal distribution; 1 where nothing differs."""
    deviation = float(differences.std(ddof=1))
    mean = abs(float(differences.mean()))
    if not deviation:
        return 0.0 if mean > 1e-9 else 1.0
    return erfc(mean / deviation * sqrt(len(differences) / 2))


@dataclass(frozen=True)
class _Stratum(Generic[Answer]):
    """So many of all pull requests, and what the product answered about some of them."""

    members: int
    answers: list[Answer]


@dataclass(frozen=True)
class Survey(Generic[Answer]):
    """What the product answered about simulated pull requests, of which `drawn` were drawn."""

    drawn: int
    strata: list[_Stratum[Answer]]

    def rate(self, hit: Callable[[Answer], bool]) -> Rate:
        """Return the share of all pull requests whose answer is a hit."""
        return self.mean(lambda answer: float(hit(answer)))

    def mean(self, value: Callable[[Answer], float]) -> Rate:
        """Return the mean over all pull requests; both drawing them and asking about some make its error."""
        total = squares = variance = 0.0
        for stratum in self.strata:
            found = np.array([value(answer) for answer in stratum.answers])
            weight, asked, spread = stratum.members / self.drawn, len(found), float(found.var())
            total += weight * float(found.mean())
            squares += weight * float((found**2).mean())
            variance += weight**2 * spread * (1 / asked - 1 / stratum.members)
        return Rate(total, sqrt(variance + max(0.0, squares - total**2) / self.drawn), self.drawn)


def survey(name: str, ask: Callable[[Generator], Answer], count: int) -> Survey[Answer]:
    """Ask the product about as many pull requests; `name` decides about the random numbers."""
    return Survey(count, [_Stratum(count, [ask(_source(name, at)) for at in range(count)])])


def screened(
    name: str,
    draw: Callable[[Generator], Drawn],
    screen: Callable[[Drawn], float],
    ask: Callable[[Drawn], Answer],
    *,
    drawn: int,
    asked: int,
) -> Survey[Answer]:
    """Draw many pull requests and ask the product about some, most of them where its answer is open.

    Rates stay unbiased: pull requests are put into strata by the p of a quick test (`screen`), and the answers of a
    stratum weigh what the stratum does. Within one they are taken at even steps along p, from a random start.
    """
    ps = np.array([screen(draw(_source(name, at))) for at in range(drawn)])
    order, stratum, start = np.argsort(ps), np.digitize(ps, _LIMITS), _source(name, -1)
    strata = []
    for at, share in enumerate(_SHARES):
        members = order[stratum[order] == at]
        if not len(members):
            continue
        step = max(1.0, len(members) / max(2.0, share * asked))
        chosen = members[np.arange(start.random() * step, len(members), step).astype(int)]
        if not len(chosen):
            chosen = members[:1]
        strata.append(_Stratum(len(members), [ask(draw(_source(name, int(each)))) for each in chosen]))
    return Survey(drawn, strata)


def _source(name: str, number: int) -> Generator:
    return default_rng([_SEED, *name.encode(), number + 1])
