"""Variants of a suite: grid searches and several tasks, ranked by each evaluator on the cases that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from math import ceil, fsum, sqrt
from typing import Any

from scoregate.kernel.compare.leader import Lead, compare_with_leader, correct_level
from scoregate.kernel.compare.pairing import Side, evaluator_error_rows, score_side
from scoregate.kernel.compare.statistics.distributions import normal_quantile
from scoregate.kernel.compare.statistics.intervals import required_clusters
from scoregate.kernel.types.amounts import exceeds_share, find_known, round_off
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns, percentiles
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.suite import TASK

MOST_VARIANTS = 50
"""More variants of one suite are listed without ranks."""
DIFFERENCE = 0.05
"""The difference of means that `VariantRanking.needed_cases` is for."""
_MOST_NAMES, _LONGEST_NAME = 5, 200
_LEAST_OPTIMISM = 0.0005


class VariantState(StrEnum):
    """What is known about a variant by one evaluator."""

    BEST = "best"
    CANDIDATE = "may be the best"
    WORSE = "worse"
    UNRANKED = "not ranked"
    NOT_COMPARABLE = "not comparable"


@record
class VariantScore:
    """One variant in a ranking.

    Attributes:
        name: the name of the task, or the parameters: `model=small, k=3`.
        label: the label of its suite; unique in the run.
        state: what is known about it.
        rank: its first possible rank, from 1; None without ranks.
        last_rank: its last possible rank: variants that may be the best share the first ranks.
        mean: the mean score of the compared cases, in [0, 1]; of its own cases if it is not compared; None without one.
        delta: the difference of `mean` from the leader's, the variant with the best mean.
        low: the lower end of the interval of the difference; None for the leader.
        high: the upper end of the interval. All intervals of a ranking hold together with 95 % confidence.
        scored: the number of cases with a score.
        missing: the number of cases without a score that another variant has.
        errors: the number of trials with an error.
        reason: why it is not comparable; else empty.
        p50_ms: the median duration of a trial, in milliseconds; None if unknown.
        tokens: the tokens of all model calls; None if unknown.
        cost: the cost of all model calls, in US dollars; None if unknown.
    """

    name: str
    label: str
    state: VariantState = VariantState.UNRANKED
    rank: int | None = None
    last_rank: int | None = None
    mean: float | None = None
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    scored: int = 0
    missing: int = 0
    errors: int = 0
    reason: str = ""
    p50_ms: float | None = None
    tokens: float | None = None
    cost: float | None = None


@record
class VariantRanking:
    """The variants of a suite, ranked by one evaluator.

    Attributes:
        suite: the id of the suite.
        evaluator: the id of the evaluator.
        rows: the variants, the best first; those that are not comparable last.
        higher_is_better: whether a higher score is better.
        cases: the number of cases that all comparable variants have a score for; the ranking uses only these.
        reason: why there are no ranks; empty if there are.
        needed_cases: about how many cases distinguish the leader from the other variants that may be the best, if they
            differ by `difference`; None if one variant is the best, and without ranks.
        difference: the difference of means that `needed_cases` is for.
        optimism: by how much the leader's mean is better than its true mean on average, if all variants that may be the
            best are equally good; None if one variant is the best, and without ranks.
    """

    suite: str
    evaluator: str
    rows: tuple[VariantScore, ...]
    higher_is_better: bool = True
    cases: int = 0
    reason: str = ""
    needed_cases: int | None = None
    difference: float = DIFFERENCE
    optimism: float | None = None

    @property
    def best(self) -> VariantScore | None:
        """The variant that is better than all other comparable ones; None if several may be the best."""
        return next((row for row in self.rows if row.state is VariantState.BEST), None)

    @property
    def candidates(self) -> tuple[VariantScore, ...]:
        """The variants that may be the best; with 95 % confidence the best one is among them."""
        return tuple(row for row in self.rows if row.state in (VariantState.BEST, VariantState.CANDIDATE))

    def describe(self, show: Callable[[str], str] = str) -> str:
        """What the ranking says, in one to three sentences; `show` formats the names of variants."""
        if self.reason:
            return f"Not ranked: {self.reason}."
        names, size = [show(row.name) for row in self.candidates], f"at {self.cases:,} cases"
        compared = sum(1 for row in self.rows if row.rank is not None)
        if self.best is not None:
            return f"{names[0]} is the best of {compared} variants {size} (95% confidence)."
        listed = [*names[:_MOST_NAMES], *([f"{len(names) - _MOST_NAMES:,} more"] if len(names) > _MOST_NAMES else [])]
        listing = f"{', '.join(listed[:-1])} and {listed[-1]}"
        text = f"{listing} can't be distinguished {size}."
        if len(names) > 2:
            text = f"Any of {listing} may be the best: {self.cases:,} cases can't decide."
        text = f"{text} It takes about {self.needed_cases:,} cases to detect a difference of {self.difference:g}."
        return f"{text}{self._describe_optimism()}"

    def _describe_optimism(self) -> str:
        if self.optimism is None or self.optimism < _LEAST_OPTIMISM:
            return ""
        direction = "high" if self.higher_is_better else "low"
        return f" If they are equally good, the leader's score is about {self.optimism:.2g} too {direction}."

    def __str__(self) -> str:
        return f"{self.evaluator}: {self.describe()}"


def variant_name(params: Mapping[str, Any]) -> str:
    """The name of a variant: that of its task, or its parameters."""
    text = ", ".join(f"{name}={value}" for name, value in params.items())
    if set(params) == {TASK}:
        text = str(params[TASK])
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def group_variants(suites: Sequence[SuiteResult]) -> Iterator[tuple[SuiteResult, ...]]:
    """Yield the variants of each suite that has at least two: suites with parameters, of one id and file."""
    groups: dict[tuple[str, str], list[SuiteResult]] = {}
    for suite in suites:
        if suite.params:
            file = suite.script or (suite.origin.file if suite.origin else "")
            groups.setdefault((suite.id, file), []).append(suite)
    yield from (tuple(variants) for variants in groups.values() if len(variants) > 1)


def rank_suites(
    suites: Sequence[SuiteResult], criteria_of: Callable[[SuiteResult], Criteria], *, difference: float = DIFFERENCE
) -> Iterator[VariantRanking]:
    """Rank the variants of each suite that has any, by each evaluator with a score.

    The evaluator whose mean scores differ most comes first. Of equal ones, those with a threshold do, as they decide
    whether cases pass; then the others, both by name.

    Args:
        suites: the suites of a run.
        criteria_of: returns the criteria of a suite.
        difference: the difference of means that `VariantRanking.needed_cases` is for, above 0.
    """
    for variants in group_variants(suites):
        names = sorted({name for suite in variants for name in suite.evaluators})
        names.sort(key=lambda name: not any(suite.columns.judged.get(name) for suite in variants))
        scored = (name for name in names if any(suite.columns.scores.get(name) for suite in variants))
        rankings = (_rank(variants, name, criteria_of(variants[0]), difference) for name in scored)
        yield from sorted(rankings, key=_difference_order)


def _difference_order(ranking: VariantRanking) -> tuple[bool, float]:
    """Rankings with ranks first, by the difference of their means, the largest first."""
    means = [row.mean for row in ranking.rows if row.mean is not None and row.state is not VariantState.NOT_COMPARABLE]
    return bool(ranking.reason), round_off(min(means, default=0.0) - max(means, default=0.0))


@record
class _Entry:
    """A variant before it is ranked: its row so far, its scores and its columns."""

    row: VariantScore
    side: Side
    columns: Columns

    @property
    def is_comparable(self) -> bool:
        return self.row.state is not VariantState.NOT_COMPARABLE

    def limit_to(self, cases: Sequence[str]) -> _Entry:
        """The same variant with only these cases, and its mean over them."""
        means = {case: self.side.means[case] for case in cases}
        row = replace(self.row, mean=fsum(means.values()) / len(means) if means else None)
        return replace(self, row=row, side=replace(self.side, means=means))


def _rank(suites: Sequence[SuiteResult], evaluator: str, criteria: Criteria, difference: float) -> VariantRanking:
    infos = [suite.evaluators[evaluator] for suite in suites if evaluator in suite.evaluators]
    direction = criteria.evaluator_criteria(evaluator).higher_is_better
    higher_is_better = infos[0].higher_is_better if direction is None else direction
    entries = _list_entries(suites, evaluator, criteria)
    compared, others = ([each for each in entries if each.is_comparable is kind] for kind in (True, False))
    ranking = VariantRanking(suites[0].id, evaluator, (), higher_is_better, difference=difference)
    reason = ""
    if any(describe_fingerprint_change(info, infos[0]) for info in infos):
        reason = "the scorer is not the same for all variants"
    elif len(entries) > MOST_VARIANTS:
        reason = f"there are more than {MOST_VARIANTS} variants"
    elif len(compared) < 2:
        reason = "fewer than two variants can be compared"
    else:
        cases = [case for case in compared[0].side.means if all(case in each.side.means for each in compared)]
        compared = [each.limit_to(cases) for each in compared]
        ranking = replace(ranking, cases=len(cases))
        if (clusters := _count_clusters(compared[0])) < criteria.few:
            noun = "cases" if clusters == len(cases) else "clusters"
            reason = f"only {clusters} {noun} have a score in each variant, and ranks need {criteria.few}"
    if reason:
        rows = sorted((each.row for each in compared), key=partial(_mean_order, higher_is_better=higher_is_better))
        return replace(ranking, reason=reason, rows=(*rows, *(each.row for each in others)))
    return _with_ranks(ranking, compared, [each.row for each in others], criteria.alpha)


def _list_entries(suites: Sequence[SuiteResult], evaluator: str, criteria: Criteria) -> list[_Entry]:
    sides = [score_side([suite.columns], evaluator) for suite in suites]
    known = set[str]().union(*(side.means for side in sides))
    names = list_names(suites)
    return [
        _Entry(
            _describe(suite, names[index], evaluator, sides[index], len(known), criteria), sides[index], suite.columns
        )
        for index, suite in enumerate(suites)
    ]


def list_names(suites: Sequence[SuiteResult]) -> list[str]:
    """The names of the variants of a suite, in their order; equal ones get a number."""
    return number_equal([variant_name(suite.params or {}) for suite in suites])


def number_equal(names: Sequence[str]) -> list[str]:
    """The names, of which those that came before get a number: `a`, `b`, `a #2`."""
    return [
        f"{name} #{names[:index].count(name) + 1}" if name in names[:index] else name
        for index, name in enumerate(names)
    ]


def _describe(
    suite: SuiteResult, name: str, evaluator: str, side: Side, known: int, criteria: Criteria
) -> VariantScore:
    """The row of a variant without a rank. With too many missing scores, or without its end, it is not comparable."""
    missing = known - len(side.means)
    unscaled = len(suite.columns.unscaled.get(evaluator, ()))
    reason = ""
    if unscaled:
        reason = f"{unscaled:,} scores are outside [0, 1]: set the `scale` of the scorer in [evaluators]"
    elif exceeds_share(missing, known, criteria.max_dropped):
        reason = f"{missing:,} of {known:,} cases have no score"
    elif not suite.complete:
        reason = "it did not finish"
    return VariantScore(
        name,
        suite.label,
        VariantState.NOT_COMPARABLE if reason else VariantState.UNRANKED,
        mean=fsum(side.means.values()) / len(side.means) if side.means and not unscaled else None,
        scored=len(side.means),
        missing=missing,
        errors=len(evaluator_error_rows(suite.columns, evaluator)),
        reason=reason,
        p50_ms=percentiles(suite.columns.durations_ms, 0.5)[0],
        tokens=find_known(suite.tokens),
        cost=find_known(suite.cost),
    )


def _mean_order(row: VariantScore, *, higher_is_better: bool) -> float:
    return -(row.mean or 0.0) if higher_is_better else row.mean or 0.0


def _count_clusters(entry: _Entry) -> int:
    """The number of independent units: clusters, and cases without one."""
    clusters = {entry.columns.hashes[row]: cluster for row, cluster in entry.columns.clusters.items()}
    return len({("cluster", clusters[case]) if case in clusters else ("case", case) for case in entry.side.means})


def _with_ranks(
    ranking: VariantRanking, entries: Sequence[_Entry], others: Sequence[VariantScore], alpha: float
) -> VariantRanking:
    """The ranking with the comparable variants in their order, then the others."""
    higher_is_better = ranking.higher_is_better
    leads = compare_with_leader(
        [each.side for each in entries], entries[0].columns, higher_is_better=higher_is_better, alpha=alpha
    )
    candidates = sum(not lead.is_worse for lead in leads)
    sign = -1 if higher_is_better else 1
    ranked = sorted(zip(entries, leads, strict=True), key=lambda each: (each[1].is_worse, sign * each[1].delta))
    rows = []
    for rank, (entry, lead) in enumerate(ranked, 1):
        state = VariantState.WORSE
        if not lead.is_worse:
            state = VariantState.BEST if candidates == 1 else VariantState.CANDIDATE
        row = replace(
            entry.row,
            state=state,
            rank=rank if lead.is_worse else 1,
            last_rank=rank if lead.is_worse else candidates,
            delta=lead.delta,
        )
        rows.append(row if lead.spread is None else replace(row, low=lead.low, high=lead.high))
    needed = _count_needed_cases(ranking, leads, alpha) if candidates > 1 else None
    optimism = estimate_optimism(leads) if candidates > 1 else None
    return replace(ranking, rows=(*rows, *others), needed_cases=needed, optimism=optimism)


def estimate_optimism(leads: Sequence[Lead]) -> float:
    """By how much the leader's mean is too good on average, if all variants that may be the best are equally good.

    The leader has the best of k means, partly by luck. The best of k normal means with the same variance and
    correlation is above their mean by the expected maximum of k standard normal variables times the standard error of a
    difference / √2. `benchmarks/calibration_variants.py` simulates it.

    Args:
        leads: the differences from the leader, at least one of them of another variant that may be the best.

    Source: Blom (1958), Statistical Estimates and Transformed Beta-Variables, for the expected maximum.
    """
    errors = [lead.spread.error for lead in leads if not lead.is_worse and lead.spread is not None]
    count = len(errors) + 1
    expected_maximum = normal_quantile((count - 0.375) / (count + 0.25))
    return expected_maximum * sqrt(fsum(error**2 for error in errors) / len(errors) / 2)


def _count_needed_cases(ranking: VariantRanking, leads: Sequence[Lead], alpha: float) -> int:
    """The cases for the candidate whose differences vary most, with a power of 80 %."""
    level, counts = correct_level(len(leads), alpha), []
    for spread in (lead.spread for lead in leads if not lead.is_worse and lead.spread is not None):
        variance, typical = spread.expected_variance()
        count = required_clusters(variance, typical, ranking.difference, alpha=level)
        counts.append(ceil(count * ranking.cases / spread.clusters))
    return max(counts)
