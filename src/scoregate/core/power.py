"""How many cases or repeats it would take to detect a drop, from the variance that was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, sqrt
from statistics import fmean

from scoregate.core.cases import Columns
from scoregate.core.comparison import Comparison
from scoregate.core.intervals import detectable_change, measure_spread
from scoregate.core.pairing import pair_scores, score_trials
from scoregate.core.policy import Criteria
from scoregate.core.run import SuiteResult

MOST_REPEATS = 1_000


@dataclass(frozen=True, slots=True)
class RequiredSize:
    """What one evaluator of one suite needs, if it were the only row.

    `n` cases with `repeats` trials each were measured. `detectable` is the smallest drop found four times in five as it
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
    """Of a case's difference between two runs that are alike.

    `lasting` is there whatever the repeats, `noise` for one trial on each side; `step` is the typical difference of a
    case that differs, at the repeats that were measured.
    """

    lasting: float
    noise: float
    step: float
    source: str

    def at(self, repeats: float) -> float:
        return self.lasting + self.noise / repeats


def required_sizes(comparison: Comparison, drop: float) -> Iterator[RequiredSize]:
    """A row for each evaluator that scored at least two cases. `drop` is of the mean, over 0 and up to 1."""
    pairs = dict(comparison.pairs)
    for at, suite in enumerate(comparison.run.suites):
        old = comparison.base.suites[pairs[at]] if comparison.base is not None and at in pairs else None
        for name in suite.evaluators:
            yield from _required_size(suite, old, name, drop=drop)


def _required_size(suite: SuiteResult, old: SuiteResult | None, name: str, *, drop: float) -> Iterator[RequiredSize]:
    trials = list(_case_trials(suite.columns, name))
    n = len(trials)
    if n < 2:
        return
    repeats = fmean(len(scores) for scores in trials)
    found = _estimate_variance(trials, suite, old, name=name, repeats=repeats)
    yield RequiredSize(
        suite.label,
        name,
        n,
        repeats,
        detectable=detectable_change(found.at(repeats), found.step, n),
        cases=max(Criteria().few, _required_cases(found, repeats, drop)),
        more_repeats=_required_repeats(found, n, repeats, drop),
        source=found.source,
    )


def _case_trials(columns: Columns, evaluator: str) -> Iterable[list[float]]:
    found: dict[str, list[float]] = {}
    for case, score in score_trials([columns], evaluator):
        if not isnan(score):
            found.setdefault(case, []).append(score)
    return found.values()


def _estimate_variance(
    trials: list[list[float]], suite: SuiteResult, old: SuiteResult | None, *, name: str, repeats: float
) -> _Variance:
    """From the pairs where there are some, split by the spread within repeats; else the worst that it can be.

    As in `Spread.interval`, one more case in each direction differs as much as the largest.
    """
    within = _variance_within_cases(trials)
    pairs = pair_scores(suite.columns, [old.columns], name) if old is not None else None
    if pairs is not None and len(pairs.clusters) >= 2:
        around = measure_spread(pairs.clusters)
        largest = around.largest or 1.0
        whole = (around.moment + 2 * largest**2) / (around.clusters + 2)
        step = sqrt(around.moment / around.changed) if around.changed else largest
        if not around.changed:
            return _Variance(0.0, whole * repeats, step, "no pair differs: at most")
        if within is None:
            return _Variance(0.0, whole * repeats, step, "differences from the base; repeats: at least")
        noise = min(2 * within, whole * repeats)
        return _Variance(whole - noise / repeats, noise, step, "differences from the base, and repeats")
    if within is not None:
        step = _typical_step(scores for scores in trials if len(scores) > 1)
        return _Variance(0.0, 2 * within, step / sqrt(repeats), "repeats" if step else "no repeat differs: at most")
    firsts = [scores[0] for scores in trials]
    alike = max(firsts) == min(firsts)
    told = "every score alike: at most" if alike else "spread of the scores: at most"
    return _Variance(0.0, 2 * _variance_around_mean(firsts), _typical_step([sorted(firsts)]) or 1.0, told)


def _variance_around_mean(scores: list[float]) -> float:
    """The variance of scores, with one more that lies as far from the mean as the farthest; 1 where none does."""
    mean = fmean(scores)
    farthest = max(abs(score - mean) for score in scores) or 1.0
    return (sum((score - mean) ** 2 for score in scores) + farthest**2) / (len(scores) + 1)


def _typical_step(groups: Iterable[list[float]]) -> float:
    """The root mean square of the differences between neighbours that differ; 0 where none does."""
    steps = [later - earlier for scores in groups for earlier, later in pairwise(scores) if later != earlier]
    return sqrt(fmean(step * step for step in steps)) if steps else 0.0


def _variance_within_cases(trials: list[list[float]]) -> float | None:
    """The variance of one trial around its case's mean, with one more deviation; None where nothing was repeated."""
    several = [scores for scores in trials if len(scores) > 1]
    freedom = sum(len(scores) - 1 for scores in several)
    if not freedom:
        return None
    deviations = [score - fmean(scores) for scores in several for score in scores]
    farthest = max(map(abs, deviations)) or 1.0
    return (sum(deviation**2 for deviation in deviations) + farthest**2) / (freedom + 1)


def _required_cases(found: _Variance, repeats: float, drop: float) -> int:
    """The smallest n at which the drop can be detected."""
    low, high = 1, 2
    while detectable_change(found.at(repeats), found.step, high) > drop:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if detectable_change(found.at(repeats), found.step, middle) > drop else (low, middle)
    return high


def _required_repeats(found: _Variance, n: int, repeats: float, drop: float) -> int | None:
    """The fewest repeats with which n cases detect the drop. Source: Miller (2024), arXiv 2411.00640."""

    def reach(number: int) -> float:
        variance = found.at(number)
        return detectable_change(variance, found.step * sqrt(variance / found.at(repeats)), n)

    low, high = 0, MOST_REPEATS
    if reach(high) > drop:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reach(middle) > drop else (low, middle)
    return high
