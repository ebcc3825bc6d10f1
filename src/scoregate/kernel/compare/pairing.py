"""Pairs of the cases of a run and its baseline: one difference per case, however often the case was repeated."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import fsum, isfinite, isnan, log
from statistics import fmean
from typing import TypeAlias

from scoregate.kernel.compare.statistics.significance import Trials
from scoregate.kernel.compare.trial_blocks import Slots, group_cases, sum_blocks
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.case_means import TrialValue, average_cases, number_slots, score_trials
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run, SuiteResult

Values: TypeAlias = Callable[[Columns], Sequence[float]]
ReadValues: TypeAlias = Callable[[], Iterator[TrialValue]]

_ROUNDING = 1e-9
_FURTHER = 1_000_000_000


@record
class Pairs:
    """The differences of n pairs, run − baseline, in the unit of the values; higher may be better or worse.

    Attributes:
        n: the number of pairs.
        clusters: the sum of differences and the size of each cluster; a case without a cluster is one of size 1.
        rose: the number of differences above 0.
        fell: the number of differences below 0.
        errored: the number of cases without a pair because of an error on one side.
        errored_in_run: the number of them with an error in the run; `errored_in_base`, in the baseline.
        mean: the run's mean over the pairs, each case counted once; None without pairs.
        base: the baseline's mean over the pairs; None without pairs.
        step: the difference that one more trial with another value makes; 0 unless most cases have one value only.
        trials: the trials that may be exchanged between run and baseline, see `trial_blocks.sum_blocks`; empty if each
            case has as many values on both sides.
        names: the name of each cluster, in their order; a case without a cluster is named by its hash.
        lowerable: the number of clusters whose scores can still become lower, as the baseline has one above 0.
        raisable: the number of clusters whose scores can still become higher, as the baseline has one below 1.
    """

    n: int = 0
    clusters: tuple[tuple[float, int], ...] = ()
    rose: int = 0
    fell: int = 0
    errored: int = 0
    errored_in_run: int = 0
    errored_in_base: int = 0
    mean: float | None = None
    base: float | None = None
    step: float = 0.0
    trials: tuple[Trials, ...] = ()
    names: Sequence[Hashable] = ()
    lowerable: int = 0
    raisable: int = 0

    @property
    def sums(self) -> list[float]:
        """The sum of differences of each cluster."""
        return [total for total, _ in self.clusters]

    def describe_errors(self) -> str:
        """On which side the errors are."""
        if self.errored_in_run and self.errored_in_base:
            return f"({self.errored_in_run:,} in this run, {self.errored_in_base:,} in the baseline)"
        return "in this run" if self.errored_in_run else "in the baseline"

    @property
    def has_clusters(self) -> bool:
        """Whether a cluster has several cases."""
        return self.n > len(self.clusters)


@record
class Side:
    """The values of one side, the run or the baseline.

    Attributes:
        read: yields every value.
        means: the mean of each case.
        counts: the number of values of each case that has more than one.
        errored: the cases without a value because of an error.
    """

    read: ReadValues
    means: Mapping[str, float]
    counts: Mapping[str, int]
    errored: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def from_reader(cls, read: ReadValues, errored: Iterable[str] = ()) -> Side:
        """Read the finite values of one side.

        Args:
            read: yields every value.
            errored: cases with an error; those that have a value too are ignored.
        """
        means, counts = average_cases(read())
        return cls(read, means, counts, frozenset(errored).difference(means))

    @property
    def mean_trials(self) -> float:
        """The mean number of values of a case that has any."""
        more = sum(self.counts.values()) - len(self.counts)
        return 1 + more / len(self.means) if self.means else 0.0

    def has_run(self, case: str) -> bool:
        """Whether the case was run, with or without an error."""
        return case in self.means or case in self.errored

    def select(self, cases: Iterable[str], values: Mapping[str, Slots]) -> Side:
        """The side with some of its cases only.

        Args:
            cases: the cases; unknown ones are ignored.
            values: the values of all cases; may be empty if no case has more than one on either side.
        """
        means = {case: self.means[case] for case in cases if case in self.means}
        counts = {case: self.counts[case] for case in means if case in self.counts} if self.counts else {}
        errored = self.errored.intersection(cases) if self.errored else self.errored

        def read() -> Iterator[TrialValue]:
            return ((case, slot, value) for case in means for slot, value in values.get(case, {}).items())

        return Side(read, means, counts, errored)

    def values(self, cases: Iterable[str]) -> dict[str, dict[int, float]]:
        """The finite values of these cases, by slot."""
        values: dict[str, dict[int, float]] = {case: {} for case in cases}
        for case, slot, value in self.read():
            if isfinite(value) and (known := values.get(case)) is not None:
                free = slot
                while free in known:  # other tools may give several trials the same repeat
                    free += _FURTHER
                known[free] = value
        return values


def score_side(runs: Sequence[Columns], evaluator: str) -> Side:
    """The scores of one evaluator; the columns of several runs count as repeats."""
    errored = frozenset(columns.hashes[row] for columns in runs for row in evaluator_error_rows(columns, evaluator))
    first, *others = runs
    if not others and evaluator not in first.answers:
        means = _read_single_trials(first.hashes, first.scores.get(evaluator, ()))
        if means is not None:
            return Side(lambda: score_trials(runs, evaluator), means, {}, errored.difference(means))
    return Side.from_reader(lambda: score_trials(runs, evaluator), errored)


def quantity_side(runs: Sequence[Columns], values: Values, *, is_paid: bool) -> Side:
    """The milliseconds, dollars or tokens of the trials, without errored trials (incomplete) and stored answers (free).

    Args:
        runs: the columns of one or several runs, which count as repeats.
        values: returns the column of the quantity.
        is_paid: whether the quantity is dollars or tokens, to which judges add. Trials of which only some calls were
            paid are left out then.
    """

    errored_of_runs = [columns.errored_rows() for columns in runs]
    ignored_of_runs = [
        errored | columns.cached | (columns.partly_paid if is_paid else set())
        for columns, errored in zip(runs, errored_of_runs, strict=True)
    ]

    def read() -> Iterator[TrialValue]:
        for (columns, slots), ignored in zip(number_slots(runs), ignored_of_runs, strict=True):
            for row, (case, slot, value) in enumerate(zip(columns.hashes, slots, values(columns), strict=False)):
                if value > 0 and row not in ignored:
                    yield case, slot, value

    if len(runs) == 1 and not ignored_of_runs[0]:
        amounts = _read_single_trials(runs[0].hashes, values(runs[0]))
        if amounts is not None:
            return Side(read, {case: value for case, value in amounts.items() if value > 0}, {})
    return Side.from_reader(
        read, (columns.hashes[row] for columns, rows in zip(runs, errored_of_runs, strict=True) for row in rows)
    )


def _read_single_trials(cases: Sequence[str], values: Sequence[float]) -> Mapping[str, float] | None:
    """The finite value of each case; None if a case occurs twice.

    This takes a third of the time of `Side.from_reader`.
    """
    means = dict(zip(cases, values, strict=False))
    if len(means) < min(len(cases), len(values)):
        return None
    return means if all(map(isfinite, values)) else {case: value for case, value in means.items() if isfinite(value)}


def log_side(amounts: Side) -> Side:
    """The natural logarithms of amounts, taken per trial.

    The logarithm of a mean grows with the number of trials, so it would be biased for unequal numbers of trials.
    """

    def read() -> Iterator[TrialValue]:
        return ((case, slot, log(value)) for case, slot, value in amounts.read() if isfinite(value))

    if amounts.counts:
        return Side.from_reader(read, amounts.errored)
    return Side(read, {case: log(value) for case, value in amounts.means.items()}, {}, amounts.errored)


def pair_sides(new: Side, baseline: Side, clusters: Mapping[str, str]) -> Pairs:
    """Pair the cases of two sides.

    Args:
        new: the values of the run.
        baseline: the values of the baseline.
        clusters: the clusters of the run's cases, see `case_clusters`.
    """
    shared, means, base_means = pair_means(new.means, baseline.means)
    differences = list_differences(means, base_means)
    trials: dict[str, tuple[Slots, Slots]] = {}
    has_repeats = new.counts or baseline.counts
    if has_repeats and any(new.counts.get(case, 1) != baseline.counts.get(case, 1) for case in shared):
        values, base_values = new.values(shared), baseline.values(shared)
        trials = {case: (values[case], base_values[case]) for case in shared}
    n, members = len(shared), _name_clusters(shared, clusters)
    errored = {case for case in new.errored | baseline.errored if new.has_run(case) and baseline.has_run(case)}
    return Pairs(
        n,
        tuple(sum_clusters(shared, differences, clusters)),
        rose=len([None for difference in differences if difference > 0]),
        fell=len([None for difference in differences if difference < 0]),
        errored=len(errored),
        errored_in_run=len(errored & new.errored),
        errored_in_base=len(errored & baseline.errored),
        mean=fmean(means) if n else None,
        base=fmean(base_means) if n else None,
        step=_single_trial_step(trials.values()),
        trials=tuple(sum_blocks(trials, clusters)),
        names=shared if members is None else tuple(dict.fromkeys(members)),
        lowerable=_count_clusters(base_means, 0.0, members),
        raisable=_count_clusters(base_means, 1.0, members),
    )


def pair_means(new: Mapping[str, float], baseline: Mapping[str, float]) -> tuple[list[str], list[float], list[float]]:
    """The cases of both sides, with their means on each. Looking up each case only once takes a third of the time."""
    shared, means, base_values = list(new), list(new.values()), list(map(baseline.get, new))
    base_means = [base for base in base_values if base is not None]
    if len(base_means) < len(base_values):
        shared = [case for case, base in zip(shared, base_values, strict=True) if base is not None]
        means = [mean for mean, base in zip(means, base_values, strict=True) if base is not None]
    return shared, means, base_means


def list_differences(means: Iterable[float], base_means: Iterable[float]) -> list[float]:
    """The differences of means, run − baseline."""
    # the order in which repeats finish changes the last digit of a mean; this is not a difference
    return [
        difference if abs(difference := mean - base_mean) > _ROUNDING else 0.0
        for mean, base_mean in zip(means, base_means, strict=True)
    ]


def pair_scores(
    new: Columns, baseline_runs: Sequence[Columns], evaluator: str, *, more: Sequence[Columns] = ()
) -> Pairs:
    """Pair the scores of one evaluator.

    Args:
        new: the columns of the run.
        baseline_runs: the columns of one or several runs of the baseline, which count as repeats.
        evaluator: the id of the evaluator.
        more: more trials of the run, which count as repeats.
    """
    return pair_sides(score_side([new, *more], evaluator), score_side(baseline_runs, evaluator), case_clusters(new))


def _single_trial_step(trials: Iterable[tuple[Slots, Slots]]) -> float:
    """The largest range within a case, divided by the smaller number of its trials; 0 if most cases vary.

    Unequal repeats hide how large a change can be: one failure of one trial weighs more than one of five.
    """
    ranges = []
    for new, baseline in trials:
        values = (*new.values(), *baseline.values())
        ranges.append((max(values) - min(values), min(len(new), len(baseline))))
    constant = sum(1 for width, _ in ranges if width <= _ROUNDING)
    if 2 * constant <= len(ranges):
        return 0.0
    return max(width / fewer for width, fewer in ranges)


def case_clusters(columns: Columns) -> dict[str, str]:
    """The cluster of each case that has one."""
    return {columns.hashes[row]: cluster for row, cluster in columns.clusters.items()}


def sum_clusters(
    cases: Sequence[str], differences: Sequence[float], clusters: Mapping[str, str]
) -> Iterator[tuple[float, int]]:
    """The sum of the differences of each cluster, and its number of cases."""
    if not clusters:
        yield from ((difference, 1) for difference in differences)
        return
    by_case = dict(zip(cases, differences, strict=True))
    for members in group_cases(cases, clusters):
        # an exact sum, so that the order in which cases finish changes no digit
        yield fsum(map(by_case.__getitem__, members)), len(members)


def _name_clusters(cases: Sequence[str], clusters: Mapping[str, str]) -> Sequence[Hashable] | None:
    """The cluster of each case; a case without one is its own. None if no case has a cluster."""
    if not clusters:
        return None
    return [("cluster", clusters[case]) if case in clusters else ("case", case) for case in cases]


def _count_clusters(base_means: Sequence[float], end: float, members: Sequence[Hashable] | None) -> int:
    """The number of clusters with a value that is not at this end of the scale."""
    if members is None:
        return len(base_means) - base_means.count(end)
    return len({key for key, mean in zip(members, base_means, strict=True) if mean != end})


def evaluator_error_rows(columns: Columns, evaluator: str) -> set[int]:
    """The rows in which the evaluator raised, or in which the function under test raised before it."""
    rows = set(columns.errored.get(evaluator, ()))
    if errored := columns.rows_with(Status.ERRORED):
        rows.update(set(errored).difference(*columns.errored.values()))
    return rows


def find_undecided_cases(run: Run, base: Run, suite: int, base_suite: int) -> list[str]:
    """Find the cases whose scores differ between two runs or within one run; which side is better doesn't matter.

    Args:
        run: the run.
        base: the baseline.
        suite: the index of a suite in the run.
        base_suite: the index of the same suite in the baseline.

    Returns:
        The hashes of the cases, in the order of the run.
    """
    new, baseline = run.suites[suite], base.suites[base_suite]
    shared = new.evaluators.keys() & baseline.evaluators.keys()
    scores: dict[str, dict[str, set[float]]] = {name: {} for name in shared}
    for twin in (*_same_suites(new, run), *_same_suites(baseline, base)):
        for name in shared:
            for case, score in zip(twin.columns.hashes, twin.columns.scores.get(name, ()), strict=False):
                if not isnan(score):
                    scores[name].setdefault(case, set()).add(score)
    varying = {case for by_case in scores.values() for case, values in by_case.items() if len(values) > 1}
    known = set(baseline.columns.hashes)
    return [case for case in dict.fromkeys(new.columns.hashes) if case in varying and case in known]


def _same_suites(suite: SuiteResult, run: Run) -> Iterator[SuiteResult]:
    yield suite
    for extra in run.companions_of(TrialRole.EXTRA):
        yield from (twin for twin in extra.suites if (twin.script, twin.id) == (suite.script, suite.id))
