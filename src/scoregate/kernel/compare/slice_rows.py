"""The comparison of slices: a row for each evaluator and slice of a suite, corrected as families of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TypeAlias

from scoregate.kernel.compare.adjusted_rows import AdjustRows, RowSides, label_adjusted
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.extra_trials import ExtraTrials
from scoregate.kernel.compare.lost_scores import CaseSets
from scoregate.kernel.compare.pairing import case_clusters
from scoregate.kernel.compare.slice_sides import SlicedSuite, SliceSides
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.evidence import TrialRole, Use, does_count
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.slices import SuiteSlices, list_cases, slice_name

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
        baselines: Mapping[int, Sequence[SuiteResult]] = MappingProxyType({}),
        adjusters: Sequence[AdjustRows] = (),
        *,
        criteria_of: Callable[[SuiteResult], Criteria],
        extras: Mapping[int, ExtraTrials] = MappingProxyType({}),
    ) -> SliceTable:
        """Compare every slice.

        Args:
            run: the run.
            rows: the rows of its whole suites.
            criteria: the level and the smallest effects that count.
            baselines: the suites of the baseline's runs, by the index of the run's suite; the newest first.
            adjusters: adjust rows before they are labelled.
            criteria_of: returns the criteria of one suite.
            extras: more trials of both sides, by the index of the run's suite.
        """
        suites = [
            SlicedSuite(
                suite,
                slices,
                tuple(row for row in rows if row.suite == suite.label),
                baselines.get(index, ()),
                criteria_of(suite),
                tuple(self.limited_of(suite)),
                extras.get(index) if does_count(TrialRole.EXTRA, Use.SLICES) else None,
            )
            for index, (suite, slices) in enumerate(zip(run.suites, self.suites, strict=bool(self.suites)))
        ]
        return compare_slices(suites, criteria, adjusters)


_Chosen: TypeAlias = dict[tuple[str, str, bool], Sequence[int]]


def compare_slices(
    suites: Sequence[SlicedSuite], criteria: Criteria, adjusters: Sequence[AdjustRows] = ()
) -> SliceTable:
    """Compare every slice of every suite: the same test and interval as for whole suites, on the cases of the slice.

    The slices that limits name are one family of the correction, all others another one: slices that only inform don't
    weaken a gate. Of each field, only the values with the most cases are compared, so that the number of rows is
    bounded.

    Args:
        suites: the suites of the run.
        criteria: the level and the smallest effects that count.
        adjusters: adjust rows before they are labelled.
    """
    tables = sum(len(each.slices) * len(each.rows) for each in suites)
    most = max(_LEAST_SLICES, min(_MOST_SLICES, _MOST_ROWS // max(1, tables)))
    left_out, chosen_of_suites = list[UncomparedValues](), list[tuple[SlicedSuite, _Chosen]]()
    for sliced in suites:
        chosen: _Chosen = {}
        for name, by_value in sliced.slices.items():
            limited, others = _order_values(name, by_value, sliced.limited)
            compared = [*((each, True) for each in limited[:_MOST_LIMITED]), *((each, False) for each in others[:most])]
            for value, is_limited in compared:
                chosen[name, value, is_limited] = by_value[value]
            if hidden := len(by_value) - len(compared):
                left_out.append(
                    UncomparedValues(sliced.suite.label, name, hidden, max(0, len(limited) - _MOST_LIMITED))
                )
        chosen_of_suites += [(sliced, chosen)] if chosen else []
    counts = {is_limited: _count_rows(chosen_of_suites, is_limited=is_limited) for is_limited in (True, False)}
    found = (each for sliced, chosen in chosen_of_suites for each in _compare_suite(sliced, chosen, counts))
    rows = [(row, sides if adjusters else None) for row, sides in found]  # sides hold all scores of an evaluator
    labelled = tuple(_label_families(rows, criteria, adjusters))
    limited_suites = frozenset(each.row.suite for each in labelled if each.limited)
    return SliceTable(labelled, tuple(left_out), limited_suites, tuple(_find_empty(suites)))


def _count_rows(suites: Iterable[tuple[SlicedSuite, _Chosen]], *, is_limited: bool) -> int:
    return sum(len(sliced.rows) * sum(limited is is_limited for *_, limited in chosen) for sliced, chosen in suites)


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


def _label_families(
    rows: Sequence[tuple[SliceRow, RowSides | None]], criteria: Criteria, adjusters: Sequence[AdjustRows]
) -> list[SliceRow]:
    labelled = [each for each, _ in rows]
    for is_limited in (True, False):
        places = [index for index, each in enumerate(labelled) if each.limited is is_limited]
        family, sides = [labelled[index].row for index in places], [rows[index][1] for index in places]
        for index, row in zip(places, label_adjusted(family, sides, criteria, adjusters), strict=True):
            labelled[index] = replace(labelled[index], row=row)
    return labelled


def _compare_suite(
    sliced: SlicedSuite, chosen: _Chosen, counts: Mapping[bool, int]
) -> Iterator[tuple[SliceRow, RowSides]]:
    """The rows of the slices of a suite, each with what it compares."""
    columns, clusters = sliced.suite.columns, case_clusters(sliced.suite.columns)
    cases = CaseSets.from_columns(columns, sliced.baseline_suites[0].columns) if sliced.baseline_suites else None
    for row in sliced.rows:
        if row.label in _NOT_SLICED or row.evaluator in columns.unscaled or row.unscaled:
            continue
        sides = SliceSides.read(sliced, row.evaluator)
        is_paired = cases is not None and row.label not in _NOT_PAIRED
        table = sides.make_table(clusters) if is_paired else None
        for (name, value, is_limited), rows in chosen.items():
            if cases is not None and is_paired:
                pairs = None if table is None else table.pair(rows)
                compared = sides.compare(row, rows, clusters, cases=cases, pairs=pairs, is_limited=is_limited)
                compared = sides.check_lost(compared, counts[is_limited])
            else:
                compared = sides.describe(row, list_cases(columns.hashes, rows))
            yield SliceRow(name, value, len(rows), compared, is_limited), sides.select(rows)
