"""The comparison of slices: a row for each evaluator and slice of a suite, corrected as families of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from statistics import fmean
from types import MappingProxyType

from scoregate.core.comparison_rows import Row, RowLabel, label_rows, with_estimate
from scoregate.core.extra_trials import ExtraTrials
from scoregate.core.lost_scores import CaseSets, LostScores, Reason, find_lost_scores
from scoregate.core.pairing import Pairs, Side, case_clusters, pair_sides, score_side
from scoregate.core.policy import Criteria
from scoregate.core.records import record
from scoregate.core.run import Run, SuiteResult
from scoregate.core.slices import SuiteSlices, list_cases, slice_name

_MOST_SLICES = 100
_MOST_LIMITED = 1_000
_MOST_ROWS = 5_000
_LEAST_SLICES = 5
_NOT_SLICED = (RowLabel.REMOVED, RowLabel.LABELS)
_NOT_PAIRED = (RowLabel.NEW, RowLabel.NOT_COMPARABLE, RowLabel.UNAFFECTED)


@record
class SliceRow:
    """The comparison of one evaluator in one slice.

    Attributes:
        field: the name of the field.
        value: the value that the cases of the slice have.
        cases: the number of cases of the run in the slice.
        row: the comparison; its suite is the whole suite.
        limited: whether a limit names the slice.
    """

    field: str
    value: str
    cases: int
    row: Row
    limited: bool = False

    @property
    def name(self) -> str:
        """The name of the slice: `language=fr`."""
        return slice_name(self.field, self.value)


@record
class LeftOut:
    """The values of a field of a suite that are not compared: those with the fewest cases.

    Attributes:
        suite: the label of the suite.
        field: the name of the field.
        values: the number of these values.
        limited: how many of them a limit names.
    """

    suite: str
    field: str
    values: int
    limited: int = 0


@record
class SliceTable:
    """The rows of all slices.

    Attributes:
        rows: the rows.
        left_out: what is left out.
        limited_suites: the labels of the suites with a slice that a limit names.
        empty: the fields that no case of any suite has.
    """

    rows: tuple[SliceRow, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    limited_suites: frozenset[str] = frozenset()
    empty: tuple[str, ...] = ()


def _find_no_limits(_: SuiteResult) -> Iterable[str]:
    return ()


@record
class SliceChoice:
    """The slices that a comparison shows.

    Attributes:
        suites: the slices of each suite of the run, in the order of the suites; empty for none.
        limited_of: returns globs of the slices of a suite that limits name.
    """

    suites: tuple[SuiteSlices, ...] = ()
    limited_of: Callable[[SuiteResult], Iterable[str]] = _find_no_limits

    def compare(
        self,
        run: Run,
        rows: Sequence[Row],
        criteria: Criteria,
        *,
        criteria_of: Callable[[SuiteResult], Criteria],
        baselines: Mapping[int, Sequence[SuiteResult]] = MappingProxyType({}),
        extras: Mapping[int, ExtraTrials | None] = MappingProxyType({}),
    ) -> SliceTable:
        """Compare every slice.

        Args:
            run: the run.
            rows: the rows of its whole suites.
            criteria: the level and the smallest effects that count.
            criteria_of: returns the criteria of one suite.
            baselines: the suites of the baseline's runs, by the index of the run's suite; the newest first.
            extras: more trials of both sides, by the index of the run's suite.
        """
        suites = [
            SlicedSuite(
                suite,
                slices,
                tuple(row for row in rows if row.suite == suite.label),
                baselines.get(at, ()),
                criteria_of(suite),
                tuple(self.limited_of(suite)),
                extras.get(at),
            )
            for at, (suite, slices) in enumerate(zip(run.suites, self.suites, strict=bool(self.suites)))
        ]
        return compare_slices(suites, criteria)


@record
class SlicedSuite:
    """A suite with its slices and everything that its rows are compared with.

    Attributes:
        suite: the suite of the run.
        slices: the cases of its slices.
        rows: the rows of the whole suite.
        baseline_suites: the suite in the runs of the baseline, the newest first; empty without one.
        criteria: the criteria of the suite.
        limited: globs of slices that limits name.
        extras: more trials of some cases on both sides.
    """

    suite: SuiteResult
    slices: SuiteSlices
    rows: tuple[Row, ...]
    baseline_suites: Sequence[SuiteResult] = ()
    criteria: Criteria = field(default_factory=Criteria)
    limited: tuple[str, ...] = ()
    extras: ExtraTrials | None = None


def compare_slices(suites: Sequence[SlicedSuite], criteria: Criteria) -> SliceTable:
    """Compare every slice of every suite: the same test and interval as for whole suites, on the cases of the slice.

    The slices that limits name are one family of the correction, all others another one: slices that only inform don't
    weaken a gate. Of each field, only the values with the most cases are compared, so that the number of rows is
    bounded.

    Args:
        suites: the suites of the run.
        criteria: the level and the smallest effects that count.
    """
    tables = sum(len(each.slices) * len(each.rows) for each in suites)
    most = max(_LEAST_SLICES, min(_MOST_SLICES, _MOST_ROWS // max(1, tables)))
    rows, left_out = list[SliceRow](), list[LeftOut]()
    for sliced in suites:
        chosen: dict[tuple[str, str, bool], list[str]] = {}
        for name, by_value in sliced.slices.items():
            limited, others = _order_values(name, by_value, sliced.limited)
            compared = [*((each, True) for each in limited[:_MOST_LIMITED]), *((each, False) for each in others[:most])]
            for value, is_limited in compared:
                chosen[name, value, is_limited] = list_cases(sliced.suite.columns.hashes, by_value[value])
            if hidden := len(by_value) - len(compared):
                left_out.append(LeftOut(sliced.suite.label, name, hidden, max(0, len(limited) - _MOST_LIMITED)))
        if chosen:
            rows += _compare_suite(sliced, chosen)
    limited_suites = frozenset(each.row.suite for each in rows if each.limited)
    labelled = tuple(_label_families(rows, criteria))
    return SliceTable(labelled, tuple(left_out), limited_suites, tuple(_find_empty(suites)))


def _find_empty(suites: Iterable[SlicedSuite]) -> Iterator[str]:
    """The fields that no case of any suite has; none if no suite has cases."""
    found: dict[str, bool] = {}
    for sliced in suites:
        for name, by_value in sliced.slices.items() if len(sliced.suite.columns) else ():
            found[name] = found.get(name, False) or bool(by_value)
    yield from (name for name, has_values in found.items() if not has_values)


def _order_values(name: str, values: Mapping[str, Sequence[int]], limited: Iterable[str]) -> tuple[list[str], ...]:
    """The values that limits name and the others, those with the most cases first."""
    globs = tuple(limited)
    named, others = list[str](), list[str]()
    for value in sorted(values, key=lambda each: (-len(values[each]), each)):
        is_named = any(fnmatchcase(slice_name(name, value), glob) for glob in globs)
        (named if is_named else others).append(value)
    return named, others


def _label_families(rows: Sequence[SliceRow], criteria: Criteria) -> list[SliceRow]:
    labelled = list(rows)
    for is_limited in (True, False):
        places = [at for at, each in enumerate(rows) if each.limited is is_limited]
        for at, row in zip(places, label_rows([rows[at].row for at in places], criteria), strict=True):
            labelled[at] = replace(rows[at], row=row)
    return labelled


def _compare_suite(sliced: SlicedSuite, chosen: Mapping[tuple[str, str, bool], list[str]]) -> Iterator[SliceRow]:
    columns, clusters = sliced.suite.columns, case_clusters(sliced.suite.columns)
    cases = CaseSets.from_columns(columns, sliced.baseline_suites[0].columns) if sliced.baseline_suites else None
    for row in sliced.rows:
        if row.label in _NOT_SLICED or row.evaluator in columns.unscaled or row.unscaled:
            continue
        sides = _Sides.read(sliced, row.evaluator)
        for (name, value, is_limited), members in chosen.items():
            if cases is None or row.label in _NOT_PAIRED:
                compared = sides.describe(row, members)
            else:
                compared = sides.compare(row, members, clusters, cases=cases)
            yield SliceRow(name, value, len(members), compared, is_limited)


@record
class _Sides:
    """The scores of one evaluator, read once for all slices; the test may have more trials on both sides."""

    sliced: SlicedSuite
    new: _Scores
    baseline: _Scores
    test_new: _Scores | None = None
    test_baseline: _Scores | None = None

    @classmethod
    def read(cls, sliced: SlicedSuite, evaluator: str) -> _Sides:
        new, baseline = [sliced.suite], list(sliced.baseline_suites)
        pairs = [(new, baseline)]
        if sliced.extras is not None:
            pairs.append(([*new, *sliced.extras.new], [*baseline, *sliced.extras.baseline]))
        return cls(sliced, *(scores for sides in pairs for scores in _read_scores(evaluator, *sides)))

    def describe(self, row: Row, members: Sequence[str]) -> Row:
        """The means of a slice whose scores can't be compared, for the reason of the whole row."""
        mean = _mean(self.new.side.means, members)
        base = None if row.base is None else _mean(self.baseline.side.means, members)
        return Row(row.suite, row.evaluator, row.label, mean, base, reason=row.reason)

    def compare(self, row: Row, members: Sequence[str], clusters: Mapping[str, str], *, cases: CaseSets) -> Row:
        """The row of a slice, whose cases are `members`."""
        criteria, suite = self.sliced.criteria, self.sliced.suite
        new, baseline = self.new.select(members), self.baseline.select(members)
        pairs = pair_sides(new, baseline, clusters)
        lost = LostScores()
        if pairs.n < len(baseline.means):  # looking for them takes as long as the rest
            lost = find_lost_scores(
                suite.columns,
                [each.columns for each in self.sliced.baseline_suites],
                row.evaluator,
                replace(cases, new=frozenset(members)),
                new=new,
                baseline=baseline,
            )
        mean = pairs.mean if pairs.n else _mean(new.means, members)
        base = pairs.base if pairs.n else _mean(baseline.means, members)
        compared = Row(
            *(row.suite, row.evaluator, RowLabel.NOISE, mean, base),
            lost=lost.reasons,
            higher_is_better=row.higher_is_better,
            checked=row.checked,
            accepted=row.accepted,
            base_runs=row.base_runs,
            movement=row.movement,
        )
        is_enough = len(pairs.clusters) >= criteria.few
        test_pairs = self._pair_tests(members, clusters) if is_enough else None
        compared = with_estimate(compared, pairs, criteria, scale=1.0, test_pairs=test_pairs, estimate=is_enough)
        if pairs.n and not is_enough:
            delta = (pairs.mean or 0.0) - (pairs.base or 0.0)
            compared = replace(compared, n=pairs.n, clusters=len(pairs.clusters), delta=delta)
        if compared.label is RowLabel.NEW and baseline.means:
            return replace(compared, label=RowLabel.UNMEASURABLE, reason="no case has a score any more")
        too_many = lost.is_too_many(criteria.max_lost, criteria.alpha)
        if too_many and compared.label is not RowLabel.UNMEASURABLE and not suite.evaluators[row.evaluator].battles:
            reason = f"{lost.reasons[Reason.NONE]:,} of {lost.total:,} cases lost their score"
            return replace(compared, label=RowLabel.UNMEASURABLE, reason=reason, lost_too_many=True)
        return compared

    def _pair_tests(self, members: Sequence[str], clusters: Mapping[str, str]) -> Pairs | None:
        if self.test_new is None or self.test_baseline is None:
            return None
        return pair_sides(self.test_new.select(members), self.test_baseline.select(members), clusters)


@record
class _Scores:
    """The scores of one side; `values` has every trial if a case was repeated on either side."""

    side: Side
    values: Mapping[str, Sequence[float]]

    def select(self, members: Sequence[str]) -> Side:
        return self.side.select(members, self.values)


def _read_scores(evaluator: str, *suites_of_sides: Sequence[SuiteResult]) -> Iterator[_Scores]:
    sides = [score_side([each.columns for each in suites], evaluator) for suites in suites_of_sides if suites]
    has_repeats = any(side.counts for side in sides)
    for side in sides:
        yield _Scores(side, side.values(side.means) if has_repeats else {})
    if len(sides) < len(suites_of_sides):  # without a baseline
        yield _Scores(Side(_read_nothing, {}, {}), {})


def _read_nothing() -> Iterator[tuple[str, float]]:
    return iter(())


def _mean(means: Mapping[str, float], members: Iterable[str]) -> float | None:
    known = [means[case] for case in members if case in means]
    return fmean(known) if known else None
