"""Cases of a run and of its base brought together: one difference a case, whatever it was repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite, log

from scoregate.core.case import Status
from scoregate.core.columns import Columns

Values = Callable[[Columns], Iterable[float]]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Pairs:
    """The differences of n pairs, run − base in the scores' own direction.

    `clusters` holds sum and size for each cluster, a case alone being one of size 1. `dropped` pairs have an error on
    one side. `binary`: every score is 0 or 1 and stands alone, so that the pairs are a fourfold table. `mean` and
    `base` are over all cases of either side, however often each was repeated.
    """

    n: int = 0
    clusters: tuple[tuple[float, int], ...] = ()
    rose: int = 0
    fell: int = 0
    dropped: int = 0
    binary: bool = False
    clustered: bool = False
    mean: float | None = None
    base: float | None = None

    @property
    def sums(self) -> list[float]:
        """The sum of differences of each cluster."""
        return [total for total, _ in self.clusters]


def pair_scores(new: Columns, olds: Sequence[Columns], evaluator: str, *, more: Sequence[Columns] = ()) -> Pairs:
    """The pairs of one evaluator. `more` trials of the run, and several columns of the base, pool into repeats."""
    here, there = _Side.of([new, *more], evaluator), _Side.of(olds, evaluator)
    differences = {case: mean - there.means[case] for case, mean in here.means.items() if case in there.means}
    lost = sum(1 for case in here.errored | there.errored if here.tried(case) and there.tried(case))
    pairs = _pairs(differences, new, dropped=lost, binary=here.binary and there.binary)
    return replace(pairs, mean=here.mean, base=there.mean)


def pair_ratios(new: Columns, olds: Sequence[Columns], values: Values) -> Pairs:
    """The pairs of a quantity such as milliseconds or dollars, as differences of its logarithm."""
    here, there = _Measured.of([new], values), _Measured.of(olds, values)
    ratios = {case: log(mean) - log(there.means[case]) for case, mean in here.means.items() if case in there.means}
    lost = sum(1 for case in here.errored | there.errored if here.tried(case) and there.tried(case))
    return _pairs(ratios, new, dropped=lost, binary=False)


def trials(runs: Iterable[Columns], evaluator: str) -> Iterator[tuple[str, float]]:
    """Every score with its case. What was made from the same stored answers is no new evidence and comes once."""
    seen = set[tuple[str, str]]()
    for columns in runs:
        found = zip(columns.hashes, columns.scores.get(evaluator, ()), strict=False)
        answers = columns.answers.get(evaluator)
        yield from found if answers is None else _fresh(found, answers, seen)


def _fresh(
    found: Iterable[tuple[str, float]], answers: Mapping[int, str], seen: set[tuple[str, str]]
) -> Iterator[tuple[str, float]]:
    for row, (case, score) in enumerate(found):
        if (answer := answers.get(row)) is not None:
            if (case, answer) in seen:
                continue
            seen.add((case, answer))
        yield case, score


def _pairs(found: Mapping[str, float], new: Columns, *, dropped: int, binary: bool) -> Pairs:
    # repeats that finished in another order have another last digit in their mean: that is no difference
    differences = {case: d if abs(d) > _ROUNDING else 0.0 for case, d in found.items()}
    return Pairs(
        len(differences),
        tuple(_clusters(differences, new)),
        rose=sum(1 for d in differences.values() if d > 0),
        fell=sum(1 for d in differences.values() if d < 0),
        dropped=dropped,
        binary=binary and bool(differences) and not new.clusters,
        clustered=bool(new.clusters),
    )


def _clusters(differences: Mapping[str, float], new: Columns) -> Iterator[tuple[float, int]]:
    if not new.clusters:
        yield from ((difference, 1) for difference in differences.values())
        return
    sums: dict[tuple[str, str], tuple[float, int]] = {}
    of_case = {new.hashes[row]: cluster for row, cluster in new.clusters.items()}
    for case, difference in differences.items():
        key = ("cluster", of_case[case]) if case in of_case else ("case", case)
        total, size = sums.get(key, (0.0, 0))
        sums[key] = (total + difference, size + 1)
    yield from sums.values()


@dataclass(frozen=True, slots=True)
class _Side:
    means: dict[str, float]
    errored: set[str]
    binary: bool

    @property
    def mean(self) -> float | None:
        return sum(self.means.values()) / len(self.means) if self.means else None

    def tried(self, case: str) -> bool:
        return case in self.means or case in self.errored

    @classmethod
    def of(cls, runs: Sequence[Columns], evaluator: str) -> _Side:
        valid, means = _means(trials(runs, evaluator))
        alone = valid == len(means)
        binary = alone and all(mean in (0.0, 1.0) for mean in means.values())
        return cls(means, set(chain.from_iterable(_errored(c, evaluator) for c in runs)) - means.keys(), binary)


def _errored(columns: Columns, evaluator: str) -> Iterator[str]:
    yield from (columns.hashes[row] for row in columns.errored.get(evaluator, ()))
    if columns.count(Status.ERRORED):
        of_evaluators = set().union(*columns.errored.values())
        rows = (row for row in range(len(columns)) if columns.status(row) is Status.ERRORED)
        yield from (columns.hashes[row] for row in rows if row not in of_evaluators)


@dataclass(frozen=True, slots=True)
class _Measured:
    """What was used up for a case: an error cuts it short, and a stored answer takes nothing."""

    means: dict[str, float]
    errored: set[str]

    def tried(self, case: str) -> bool:
        return case in self.means or case in self.errored

    @classmethod
    def of(cls, runs: Sequence[Columns], values: Values) -> _Measured:
        errored = [columns.erring() for columns in runs]
        found = (
            (case, value)
            for columns, bad in zip(runs, errored, strict=True)
            for row, (case, value) in enumerate(zip(columns.hashes, values(columns), strict=False))
            if value > 0 and row not in bad and row not in columns.cached
        )
        means = _means(found)[1]
        lost = {columns.hashes[row] for columns, bad in zip(runs, errored, strict=True) for row in bad}
        return cls(means, lost - means.keys())


def _means(scores: Iterable[tuple[str, float]]) -> tuple[int, dict[str, float]]:
    """How many valid scores there are, and the mean of each case."""
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    valid = 0
    for case, score in scores:
        if isfinite(score):
            valid += 1
            if case in totals:
                totals[case] += score
                counts[case] = counts.get(case, 1) + 1
            else:
                totals[case] = score
    for case, count in counts.items():
        totals[case] /= count
    return valid, totals
