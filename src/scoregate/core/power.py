"""How many cases or repeats it would take to see a drop, from the variance that was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, isnan, sqrt
from statistics import fmean, variance

from scoregate.core.columns import Columns
from scoregate.core.compare import Comparison
from scoregate.core.criteria import Criteria
from scoregate.core.distributions import normal_quantile, t_quantile
from scoregate.core.pairs import pair_scores, trials
from scoregate.core.record import SuiteResult

MOST_REPEATS = 1_000


@dataclass(frozen=True, slots=True)
class Need:
    """What one evaluator of one suite needs.

    `n` cases with `repeats` trials each were measured. `detectable` is the smallest drop seen four times in five as it
    is; `cases` (at the same repeats) or `more_repeats` (at the same cases) are what the wanted drop takes, None where
    no number suffices. `source` says what the variance comes from.
    """

    suite: str
    evaluator: str
    n: int
    repeats: float
    detectable: float
    cases: int
    more_repeats: int | None
    source: str


@dataclass(frozen=True, slots=True)
class _Variance:
    """Of a case's difference between two runs: `lasting` whatever the repeats, `noise` for one trial on each side."""

    lasting: float
    noise: float
    source: str

    def at(self, repeats: float) -> float:
        return self.lasting + self.noise / repeats


def needs(comparison: Comparison, drop: float) -> Iterator[Need]:
    """A row for each evaluator that scored at least two cases. `drop` is of the mean, over 0 and up to 1."""
    pairs = dict(comparison.pairs)
    for at, suite in enumerate(comparison.run.suites):
        old = comparison.base.suites[pairs[at]] if comparison.base is not None and at in pairs else None
        for name in suite.evaluators:
            yield from _need(suite, old, name, drop=drop)


def _need(suite: SuiteResult, old: SuiteResult | None, name: str, *, drop: float) -> Iterator[Need]:
    trials = list(_trials(suite.columns, name))
    n = len(trials)
    if n < 2:
        return
    repeats = fmean(len(scores) for scores in trials)
    found = _variance(trials, suite, old, name=name, repeats=repeats)
    yield Need(
        suite.label,
        name,
        n,
        repeats,
        detectable=_reach(n) * sqrt(found.at(repeats) / n),
        cases=max(Criteria().few, _cases(found.at(repeats), drop)),
        more_repeats=_repeats(found, n, drop),
        source=found.source,
    )


def _trials(columns: Columns, evaluator: str) -> Iterable[list[float]]:
    found: dict[str, list[float]] = {}
    for case, score in trials([columns], evaluator):
        if not isnan(score):
            found.setdefault(case, []).append(score)
    return found.values()


def _variance(
    trials: list[list[float]], suite: SuiteResult, old: SuiteResult | None, *, name: str, repeats: float
) -> _Variance:
    """From the pairs where there are some, split by the spread within repeats; else the worst that it can be."""
    within = _within(trials)
    pairs = pair_scores(suite.columns, [old.columns], name) if old is not None else None
    if pairs is not None and len(pairs.clusters) >= 2:
        whole = variance([total / size for total, size in pairs.clusters])
        if not whole:
            # As Bonett and Price do: one more case that got better, one that got worse.
            return _Variance(0.0, 2 / (pairs.n + 2) * repeats, "no pair differs: at most")
        if within is None:
            return _Variance(0.0, whole * repeats, "differences from the base; repeats: at least")
        noise = 2 * within
        return _Variance(max(0.0, whole - noise / repeats), noise, "differences from the base, and repeats")
    if within is not None:
        more = sum(map(len, trials)) - len(trials)
        return _Variance(0.0, 2 * (within or _one_of(more)), "repeats" if within else "no repeat differs: at most")
    spread = variance([scores[0] for scores in trials])
    told = "spread of the scores: at most" if spread else "every score alike: at most"
    return _Variance(0.0, 2 * (spread or _one_of(len(trials))), told)


def _one_of(seen: int) -> float:
    """The variance of a trial where none of so many differed: as if of two more one had."""
    share = 1 / (seen + 2)
    return share * (1 - share)


def _within(trials: list[list[float]]) -> float | None:
    """The variance of one trial around its case's mean; None where nothing was repeated."""
    several = [scores for scores in trials if len(scores) > 1]
    freedom = sum(len(scores) - 1 for scores in several)
    if not freedom:
        return None
    return sum((score - fmean(scores)) ** 2 for scores in several for score in scores) / freedom


def _reach(n: int) -> float:
    return t_quantile(0.975, n - 1) + t_quantile(0.8, n - 1)


def _cases(spread: float, drop: float) -> int:
    """The smallest n with (t(.975) + t(.80))² · variance / n ≤ drop². Source: Miller (2024), arXiv 2411.00640."""
    normal = normal_quantile(0.975) + normal_quantile(0.8)
    n = max(2, ceil(normal**2 * spread / drop**2))
    while _reach(n) ** 2 * spread / drop**2 > n:
        n += 1
    return n


def _repeats(found: _Variance, n: int, drop: float) -> int | None:
    room = n * drop**2 / _reach(n) ** 2 - found.lasting
    if room <= 0:
        return None
    needed = max(1, ceil(found.noise / room))
    return needed if needed <= MOST_REPEATS else None
