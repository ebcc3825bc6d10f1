"""The comparison of slices: a row for each evaluator and slice of a suite, corrected as families of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TypeAlias

from scoregate.features.slices.cases import SuiteSlices, list_cases, slice_name
from scoregate.features.slices.keys import TABLE, SliceRow, SliceTable, UncomparedValues
from scoregate.features.slices.sides import SlicedSuite, SliceSides
from scoregate.kernel.compare.compared_suites import COMPARED
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.compare.lost_scores import CaseSets
from scoregate.kernel.compare.pairing import case_clusters
from scoregate.kernel.compare.row_labels import AdjustRows, RowSides, label_adjusted
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, SuiteResult

_MOST_SLICES = 100
_MOST_LIMITED = 1_000
_MOST_ROWS = 5_000
_LEAST_SLICES = 5
_NOT_SLICED = (RowLabel.REMOVED, RowLabel.LABELS)
_NOT_PAIRED = (RowLabel.NEW, RowLabel.NOT_COMPARABLE, RowLabel.UNAFFECTED)


LimitedOf: TypeAlias = Callable[[SuiteResult], Iterable[str]]
"""Returns globs of the slices of a suite that limits name."""


def add_slices(
    comparison: Comparison, collect: Callable[[Run], Sequence[SuiteSlices]], limited_of: LimitedOf = lambda _: ()
) -> Comparison:
    """The comparison with the rows of slices.

    Args:
        comparison: a comparison as it was made, before gates label its rows.
        collect: returns the slices of each suite of a run, in the order of the suites.
        limited_of: returns which of them limits name.
    """
    compared = comparison.slots.get(COMPARED)
    if compared is None:
        return comparison
    suites = [
        SlicedSuite(suite, slices, comparison.rows_of(suite.suite.label), tuple(limited_of(suite.suite)))
        for suite, slices in zip(compared.suites, collect(compared.run), strict=True)
    ]
    table = compare_slices(suites, compared.criteria, compared.adjusters)
    return replace(comparison, slots=comparison.slots.put(TABLE, table))


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
                    UncomparedValues(sliced.compared.suite.label, name, hidden, max(0, len(limited) - _MOST_LIMITED))
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
        for name, by_value in sliced.slices.items() if len(sliced.compared.suite.columns) else ():
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
    columns = sliced.compared.suite.columns
    clusters, baselines = case_clusters(columns), sliced.baselines
    cases = CaseSets.from_columns(columns, baselines[0].columns) if baselines else None
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
