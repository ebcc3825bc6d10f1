"""The comparison of slices: a row for each evaluator and slice of a suite, corrected as families of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from statistics import fmean
from types import MappingProxyType

from scoregate.core.comparison.case_table import CaseTable, make_case_table
from scoregate.core.comparison.comparison_rows import Row, RowLabel, with_estimate
from scoregate.core.comparison.drift import DriftEstimate, estimate_drift
from scoregate.core.comparison.drift_rows import ControlledSuite, label_corrected
from scoregate.core.comparison.extra_trials import ExtraTrials
from scoregate.core.comparison.lost_scores import CaseSets, LostScores, Reason, find_lost_scores
from scoregate.core.comparison.pairing import Pairs, Side, case_clusters, pair_sides, score_side
from scoregate.core.comparison.row_labels import label_rows
from scoregate.core.records import record
from scoregate.core.runs.case_means import TrialValue
from scoregate.core.runs.policy import Criteria
from scoregate.core.runs.run import Run, SuiteResult
from scoregate.core.runs.slices import SuiteSlices, list_cases, slice_name

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
class UncomparedValues:
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
    left_out: tuple[UncomparedValues, ...] = ()
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
        controls: Mapping[str, ControlledSuite] = MappingProxyType({}),
    ) -> SliceTable:
        """Compare every slice.

        Args:
            run: the run.
            rows: the rows of its whole suites.
            criteria: the level and the smallest effects that count.
            criteria_of: returns the criteria of one suite.
            baselines: the suites of the baseline's runs, by the index of the run's suite; the newest first.
            extras: more trials of both sides, by the index of the run's suite.
            controls: the suites with their drift controls, by label.
        """
        suites = [
            SlicedSuite(
                suite,
                slices,
                tuple(row for row in rows if row.suite == suite.label),
                baselines.get(index, ()),
                criteria_of(suite),
                tuple(self.limited_of(suite)),
                extras.get(index),
                controls.get(suite.label),
            )
            for index, (suite, slices) in enumerate(zip(run.suites, self.suites, strict=bool(self.suites)))
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
        controlled: the suite with its drift control; None without one.
    """

    suite: SuiteResult
    slices: SuiteSlices
    rows: tuple[Row, ...]
    baseline_suites: Sequence[SuiteResult] = ()
    criteria: Criteria = field(default_factory=Criteria)
    limited: tuple[str, ...] = ()
    extras: ExtraTrials | None = None
    controlled: ControlledSuite | None = None


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
    rows, left_out = list[tuple[SliceRow, DriftEstimate | None]](), list[UncomparedValues]()
    for sliced in suites:
        chosen: dict[tuple[str, str, bool], Sequence[int]] = {}
        for name, by_value in sliced.slices.items():
            limited, others = _order_values(name, by_value, sliced.limited)
            compared = [*((each, True) for each in limited[:_MOST_LIMITED]), *((each, False) for each in others[:most])]
            for value, is_limited in compared:
                chosen[name, value, is_limited] = by_value[value]
            if hidden := len(by_value) - len(compared):
                left_out.append(
                    UncomparedValues(sliced.suite.label, name, hidden, max(0, len(limited) - _MOST_LIMITED))
                )
        if chosen:
            rows += _compare_suite(sliced, chosen)
    labelled = tuple(_label_families(rows, criteria))
    limited_suites = frozenset(each.row.suite for each in labelled if each.limited)
    return SliceTable(labelled, tuple(left_out), limited_suites, tuple(_find_empty(suites)))


def _find_empty(suites: Iterable[SlicedSuite]) -> Iterator[str]:
    """The fields that no case of any suite has; none if no suite has cases."""
    has_values_by_name: dict[str, bool] = {}
    for sliced in suites:
        for name, by_value in sliced.slices.items() if len(sliced.suite.columns) else ():
            has_values_by_name[name] = has_values_by_name.get(name, False) or bool(by_value)
    yield from (name for name, has_values in has_values_by_name.items() if not has_values)


def _order_values(name: str, values: Mapping[str, Sequence[int]], limited: Iterable[str]) -> tuple[list[str], ...]:
    """The values that limits name and the others, those with the most cases first."""
    globs = tuple(limited)
    named, others = list[str](), list[str]()
    for value in sorted(values, key=lambda each: (-len(values[each]), each)):
        is_named = any(fnmatchcase(slice_name(name, value), glob) for glob in globs)
        (named if is_named else others).append(value)
    return named, others


def _label_families(rows: Sequence[tuple[SliceRow, DriftEstimate | None]], criteria: Criteria) -> list[SliceRow]:
    labelled = [each for each, _ in rows]
    for is_limited in (True, False):
        places = [index for index, each in enumerate(labelled) if each.limited is is_limited]
        family, estimates = [labelled[index].row for index in places], [rows[index][1] for index in places]
        rows_of_family = (
            label_corrected(family, estimates, criteria) if any(estimates) else label_rows(family, criteria)
        )
        for index, row in zip(places, rows_of_family, strict=True):
            labelled[index] = replace(labelled[index], row=row)
    return labelled


def _compare_suite(
    sliced: SlicedSuite, chosen: Mapping[tuple[str, str, bool], Sequence[int]]
) -> Iterator[tuple[SliceRow, DriftEstimate | None]]:
    """The rows of the slices of a suite, each with the drift that the control shows in the cases of the slice."""
    columns, clusters = sliced.suite.columns, case_clusters(sliced.suite.columns)
    cases = CaseSets.from_columns(columns, sliced.baseline_suites[0].columns) if sliced.baseline_suites else None
    for row in sliced.rows:
        if row.label in _NOT_SLICED or row.evaluator in columns.unscaled or row.unscaled:
            continue
        sides = _Sides.read(sliced, row.evaluator)
        is_paired = cases is not None and row.label not in _NOT_PAIRED
        table = sides.make_table(clusters) if is_paired else None
        for (name, value, is_limited), rows in chosen.items():
            if cases is not None and is_paired:
                pairs = None if table is None else table.pair(rows)
                compared = sides.compare(row, rows, clusters, cases=cases, pairs=pairs)
            else:
                compared = sides.describe(row, list_cases(columns.hashes, rows))
            estimate = sides.estimate_drift(compared, rows, clusters)
            yield SliceRow(name, value, len(rows), compared, is_limited), estimate


@record
class _Sides:
    """The scores of one evaluator, read once for all slices; the test may have more trials on both sides."""

    sliced: SlicedSuite
    new: _Scores
    baseline: _Scores
    test_new: _Scores | None = None
    test_baseline: _Scores | None = None
    control: Side | None = None

    @classmethod
    def read(cls, sliced: SlicedSuite, evaluator: str) -> _Sides:
        new, baseline = [sliced.suite], list(sliced.baseline_suites)
        pairs = [(new, baseline)]
        if sliced.extras is not None:
            pairs.append(([*new, *sliced.extras.new], [*baseline, *sliced.extras.baseline]))
        scores = [each for sides in pairs for each in _read_scores(evaluator, *sides)]
        test_new, test_baseline = scores[2:] or (None, None)
        is_battle = evaluator not in sliced.suite.evaluators or sliced.suite.evaluators[evaluator].battles
        known = None if sliced.controlled is None or is_battle else sliced.controlled.find_control(evaluator)
        control = None if known is None else score_side([known.columns], evaluator)
        return cls(sliced, scores[0], scores[1], test_new, test_baseline, control)

    def describe(self, row: Row, members: Sequence[str]) -> Row:
        """The means of a slice whose scores can't be compared, for the reason of the whole row."""
        mean = _mean(self.new.side.means, members)
        base = None if row.base is None else _mean(self.baseline.side.means, members)
        return Row(row.suite, row.evaluator, row.label, mean, base, reason=row.reason)

    def make_table(self, clusters: Mapping[str, str]) -> CaseTable | None:
        """The scores by row, which takes a tenth of the time for many slices; None if it can't hold them."""
        if self.test_new is not None or self.test_baseline is not None:
            return None
        return make_case_table(self.sliced.suite.columns.hashes, self.new.side, self.baseline.side, clusters)

    def compare(
        self, row: Row, rows: Sequence[int], clusters: Mapping[str, str], *, cases: CaseSets, pairs: Pairs | None
    ) -> Row:
        """The row of a slice.

        Args:
            row: the row of the whole suite.
            rows: the rows of the slice's cases.
            clusters: the clusters of cases.
            cases: the cases of both sides.
            pairs: its pairs, if the run has each score that the baseline has; else None.
        """
        if pairs is not None:
            return self._estimate(row, pairs, None)
        members = list_cases(self.sliced.suite.columns.hashes, rows)
        new, baseline = self.new.select(members), self.baseline.select(members)
        pairs = pair_sides(new, baseline, clusters)
        lost = LostScores()
        if pairs.n < len(baseline.means):  # looking for them takes as long as the rest
            lost = find_lost_scores(
                self.sliced.suite.columns,
                [each.columns for each in self.sliced.baseline_suites],
                row.evaluator,
                replace(cases, new=frozenset(members)),
                new=new,
                baseline=baseline,
            )
        if not pairs.n:
            pairs = replace(pairs, mean=_mean(new.means, members), base=_mean(baseline.means, members))
        compared = self._estimate(replace(row, lost=lost.reasons), pairs, lambda: self._pair_tests(members, clusters))
        if compared.label is RowLabel.NEW and baseline.means:
            return replace(compared, label=RowLabel.UNMEASURABLE, reason="no case has a score any more")
        return self._check_lost(compared, lost)

    def _estimate(self, row: Row, pairs: Pairs, pair_tests: Callable[[], Pairs | None] | None) -> Row:
        criteria = self.sliced.criteria
        compared = Row(
            *(row.suite, row.evaluator, RowLabel.NOISE, pairs.mean, pairs.base),
            lost=row.lost,
            higher_is_better=row.higher_is_better,
            checked=row.checked,
            accepted=row.accepted,
            base_runs=row.base_runs,
            movement=row.movement,
        )
        is_enough = len(pairs.clusters) >= criteria.few
        test_pairs = pair_tests() if pair_tests is not None and is_enough else None
        compared = with_estimate(compared, pairs, criteria, scale=1.0, test_pairs=test_pairs, estimate=is_enough)
        if pairs.n and not is_enough:
            delta = (pairs.mean or 0.0) - (pairs.base or 0.0)
            return replace(compared, n=pairs.n, clusters=len(pairs.clusters), delta=delta)
        return compared

    def _check_lost(self, compared: Row, lost: LostScores) -> Row:
        """The row, unmeasurable if too many cases lost their score."""
        criteria = self.sliced.criteria
        too_many = lost.is_too_many(criteria.max_lost, criteria.alpha)
        is_battle = self.sliced.suite.evaluators[compared.evaluator].battles
        if too_many and compared.label is not RowLabel.UNMEASURABLE and not is_battle:
            reason = f"{lost.reasons[Reason.NONE]:,} of {lost.total:,} cases lost their score"
            return replace(compared, label=RowLabel.UNMEASURABLE, reason=reason, lost_too_many=True)
        return compared

    def estimate_drift(self, row: Row, rows: Sequence[int], clusters: Mapping[str, str]) -> DriftEstimate | None:
        """The drift of a slice, by those control cases that are in it; None if it is not compared or has no control.

        The drift of the whole suite says nothing about one slice: a provider may have moved in one language only.
        """
        if self.control is None or row.label is not RowLabel.NOISE:
            return None
        members = list_cases(self.sliced.suite.columns.hashes, rows)
        new, baseline = self.new.select(members), self.baseline.select(members)
        max_dropped = self.sliced.criteria.max_dropped
        return estimate_drift(new, baseline, self.control, clusters, max_dropped=max_dropped)

    def _pair_tests(self, members: Sequence[str], clusters: Mapping[str, str]) -> Pairs | None:
        if self.test_new is None or self.test_baseline is None:
            return None
        return pair_sides(self.test_new.select(members), self.test_baseline.select(members), clusters)


@record
class _Scores:
    """The scores of one side; `values` has every trial if a case was repeated on either side."""

    side: Side
    values: Mapping[str, Mapping[int, float]]

    def select(self, members: Sequence[str]) -> Side:
        return self.side.select(members, self.values)


def _read_scores(evaluator: str, *suites_of_sides: Sequence[SuiteResult]) -> Iterator[_Scores]:
    sides = [score_side([each.columns for each in suites], evaluator) for suites in suites_of_sides if suites]
    has_repeats = any(side.counts for side in sides)
    for side in sides:
        yield _Scores(side, side.values(side.means) if has_repeats else {})
    if len(sides) < len(suites_of_sides):  # without a baseline
        yield _Scores(Side(_read_nothing, {}, {}), {})


def _read_nothing() -> Iterator[TrialValue]:
    return iter(())


def _mean(means: Mapping[str, float], members: Iterable[str]) -> float | None:
    known = [means[case] for case in members if case in means]
    return fmean(known) if known else None
