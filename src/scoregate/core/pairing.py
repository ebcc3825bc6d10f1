"""Cases of a run and of its base brought together: one difference a case, whatever it was repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, log
from typing import TypeAlias

from scoregate.core.cases import Columns, Status
from scoregate.core.run import Run, SuiteResult
from scoregate.core.significance import Trials

Values: TypeAlias = Callable[[Columns], Iterable[float]]
Read: TypeAlias = Callable[[], Iterator[tuple[str, float]]]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Pairs:
    """The differences of n pairs, run − base in the scores' own direction.

    Args:
        n: pairs.
        clusters: sum and size for each cluster, a case alone being one of size 1.
        rose: how many differences are above 0. fell: below.
        dropped: cases with an error on one side, so that there is no pair.
        mean: the run's mean over the pairs, each case once. base: the base's.
        step: the difference that one more trial with another value would make, where most cases have one value only.
        trials: the values of each pair, only where a case has more of them on one side than on the other.
    """

    n: int = 0
    clusters: tuple[tuple[float, int], ...] = ()
    rose: int = 0
    fell: int = 0
    dropped: int = 0
    mean: float | None = None
    base: float | None = None
    step: float = 0.0
    trials: tuple[Trials, ...] = ()

    @property
    def sums(self) -> list[float]:
        """The sum of differences of each cluster."""
        return [total for total, _ in self.clusters]


@dataclass(frozen=True, slots=True)
class Side:
    """What one side measured: the mean of each case, how many values it has where not 1, and the cases with errors."""

    read: Read
    means: Mapping[str, float]
    counts: Mapping[str, int]
    errored: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def of(cls, read: Read, errored: Iterable[str] = ()) -> Side:
        """From a reader of every value with its case, and the cases in which something raised."""
        means, counts = _means(read())
        return cls(read, means, counts, frozenset(errored).difference(means))

    def tried(self, case: str) -> bool:
        """Whether the case was run, with or without an error."""
        return case in self.means or case in self.errored

    def values(self, cases: Iterable[str]) -> dict[str, list[float]]:
        """Every value of these cases."""
        found: dict[str, list[float]] = {case: [] for case in cases}
        for case, value in self.read():
            if case in found and isfinite(value):
                found[case].append(value)
        return found


def score_side(runs: Sequence[Columns], evaluator: str) -> Side:
    """The scores of one evaluator; several columns pool into repeats."""
    errored = frozenset(columns.hashes[row] for columns in runs for row in errored_rows(columns, evaluator))
    if (means := _unrepeated_scores(runs, evaluator)) is not None:
        return Side(lambda: score_trials(runs, evaluator), means, {}, errored.difference(means))
    return Side.of(lambda: score_trials(runs, evaluator), errored)


def _unrepeated_scores(runs: Sequence[Columns], evaluator: str) -> dict[str, float] | None:
    """The scores by case, where each case comes once; None elsewhere. Takes a third of the time of `_means`."""
    first, *others = runs
    if others or evaluator in first.answers:
        return None
    scores = first.scores.get(evaluator, ())
    means = dict(zip(first.hashes, scores, strict=False))
    if len(means) < min(len(first.hashes), len(scores)):
        return None
    return means if all(map(isfinite, scores)) else {case: score for case, score in means.items() if isfinite(score)}


def quantity_side(runs: Sequence[Columns], values: Values) -> Side:
    """What was used up: milliseconds, dollars or tokens.

    An error cuts a trial short, and a stored answer takes nothing: neither counts.
    """

    def read() -> Iterator[tuple[str, float]]:
        for columns, bad in zip(runs, errored, strict=True):
            passed_over = bad | columns.cached
            for row, (case, value) in enumerate(zip(columns.hashes, values(columns), strict=False)):
                if value > 0 and row not in passed_over:
                    yield case, value

    errored = [columns.erring() for columns in runs]
    return Side.of(read, (c.hashes[row] for c, bad in zip(runs, errored, strict=True) for row in bad))


def log_side(amounts: Side) -> Side:
    """The same on a logarithmic scale, taken of each trial.

    The logarithm of a mean grows with the number of trials, so it would not do where sides are repeated unequally.
    """

    def read() -> Iterator[tuple[str, float]]:
        return ((case, log(value)) for case, value in amounts.read() if isfinite(value))

    if amounts.counts:
        return Side.of(read, amounts.errored)
    return Side(read, {case: log(value) for case, value in amounts.means.items()}, {}, amounts.errored)


def pair_sides(here: Side, there: Side, new: Columns) -> Pairs:
    """The pairs of two sides. `new` are the columns of the run, which know the clusters."""
    shared = [case for case in here.means if case in there.means]
    ours, theirs = ([side.means[case] for case in shared] for side in (here, there))
    # repeats that finished in another order have another last digit in their mean: that is no difference
    found = [d if abs(d := mine - other) > _ROUNDING else 0.0 for mine, other in zip(ours, theirs, strict=True)]
    dropped = sum(1 for case in here.errored | there.errored if here.tried(case) and there.tried(case))
    dealt = _unequal_trials(here, there, shared)
    n = len(shared)
    return Pairs(
        n,
        tuple(_cluster_sums(shared, found, new)),
        rose=sum(1 for d in found if d > 0),
        fell=sum(1 for d in found if d < 0),
        dropped=dropped,
        mean=sum(ours) / n if n else None,
        base=sum(theirs) / n if n else None,
        step=_smallest_step(dealt),
        trials=dealt,
    )


def pair_scores(new: Columns, olds: Sequence[Columns], evaluator: str, *, more: Sequence[Columns] = ()) -> Pairs:
    """The pairs of one evaluator. `more` trials of the run, and several columns of the base, pool into repeats."""
    return pair_sides(score_side([new, *more], evaluator), score_side(olds, evaluator), new)


def _unequal_trials(here: Side, there: Side, shared: Sequence[str]) -> tuple[Trials, ...]:
    """The values of every pair, if any of them has more on one side; else none."""
    if not here.counts and not there.counts:
        return ()
    if all(here.counts.get(case, 1) == there.counts.get(case, 1) for case in shared):
        return ()
    ours, theirs = here.values(shared), there.values(shared)
    return tuple((ours[case], theirs[case]) for case in shared)


def _smallest_step(dealt: Sequence[Trials]) -> float:
    """Unequal repeats hide how large a change can be: one failure of one trial weighs more than one of five.

    So where most cases have one value only, the largest range within a case, over the fewer trials of its sides.
    """
    ranges = [(max(*new, *old) - min(*new, *old), min(len(new), len(old))) for new, old in dealt]
    constant = sum(1 for width, _ in ranges if width <= _ROUNDING)
    if 2 * constant <= len(ranges):
        return 0.0
    return max(width / fewer for width, fewer in ranges)


def score_trials(runs: Iterable[Columns], evaluator: str) -> Iterator[tuple[str, float]]:
    """Every score with its case. What was made from the same stored answers is no new evidence and comes once."""
    seen = set[tuple[str, str]]()
    for columns in runs:
        found = zip(columns.hashes, columns.scores.get(evaluator, ()), strict=False)
        answers = columns.answers.get(evaluator)
        yield from found if answers is None else _without_cached(found, answers, seen)


def _without_cached(
    found: Iterable[tuple[str, float]], answers: Mapping[int, str], seen: set[tuple[str, str]]
) -> Iterator[tuple[str, float]]:
    for row, (case, score) in enumerate(found):
        if (answer := answers.get(row)) is not None:
            if (case, answer) in seen:
                continue
            seen.add((case, answer))
        yield case, score


def _cluster_sums(cases: Sequence[str], differences: Sequence[float], new: Columns) -> Iterator[tuple[float, int]]:
    if not new.clusters:
        yield from ((difference, 1) for difference in differences)
        return
    sums: dict[tuple[str, str], tuple[float, int]] = {}
    of_case = {new.hashes[row]: cluster for row, cluster in new.clusters.items()}
    for case, difference in zip(cases, differences, strict=True):
        key = ("cluster", of_case[case]) if case in of_case else ("case", case)
        total, size = sums.get(key, (0.0, 0))
        sums[key] = (total + difference, size + 1)
    yield from sums.values()


def errored_rows(columns: Columns, evaluator: str) -> set[int]:
    """The trials in which the evaluator raised, or the function under test before it."""
    rows = set(columns.errored.get(evaluator, ()))
    if columns.count(Status.ERRORED):
        of_evaluators = set().union(*columns.errored.values())
        whole = (row for row in range(len(columns)) if columns.status(row) is Status.ERRORED)
        rows.update(row for row in whole if row not in of_evaluators)
    return rows


def _means(values: Iterable[tuple[str, float]]) -> tuple[dict[str, float], dict[str, int]]:
    """The mean of each case over its finite values, and the number of those where there are several."""
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    for case, value in values:
        if isfinite(value):
            if case in totals:
                totals[case] += value
                counts[case] = counts.get(case, 1) + 1
            else:
                totals[case] = value
    for case, count in counts.items():
        totals[case] /= count
    return totals, counts


def find_undecided_cases(run: Run, base: Run, suite: int, base_suite: int) -> list[str]:
    """The hashes of cases on which the two runs differ, or a run disagrees with itself, in the order of the run.

    Which side is better plays no part in the choice. Args: the indices of one suite in both runs.
    """
    here, there = run.suites[suite], base.suites[base_suite]
    shared = here.evaluators.keys() & there.evaluators.keys()
    known = set(there.columns.hashes)
    seen: dict[str, dict[str, set[float]]] = {name: {} for name in shared}
    for twin in (*_same_suites(here, run), *_same_suites(there, base)):
        for name, case, score in _suite_scores(twin, shared):
            seen[name].setdefault(case, set()).add(score)
    mixed = {case for scores in seen.values() for case, values in scores.items() if len(values) > 1}
    return [case for case in dict.fromkeys(here.columns.hashes) if case in mixed and case in known]


def _same_suites(suite: SuiteResult, run: Run) -> Iterator[SuiteResult]:
    yield suite
    for extra in run.extras:
        yield from (twin for twin in extra.suites if (twin.script, twin.id) == (suite.script, suite.id))


def _suite_scores(suite: SuiteResult, evaluators: Iterable[str]) -> Iterator[tuple[str, str, float]]:
    columns = suite.columns
    for name in evaluators:
        for case, score in zip(columns.hashes, columns.scores.get(name, ()), strict=False):
            if not isnan(score):
                yield name, case, score
