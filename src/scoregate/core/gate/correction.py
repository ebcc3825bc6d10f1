"""Corrects the p-values of everything that relative gates watch, and labels the rows by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scoregate.core.comparison.comparison import Comparison
from scoregate.core.comparison.comparison_rows import Row, RowLabel
from scoregate.core.comparison.row_labels import COMPARED, label_row
from scoregate.core.gate.baseline_rules import list_decline_limits, list_limits, list_slice_limits
from scoregate.core.gate.families import (
    Families,
    GateLimit,
    Shares,
    SmallRow,
    SmallRows,
    correct_ratios,
    correct_scores,
)
from scoregate.core.gate.finding import RatioTest, SuiteContext
from scoregate.core.gate.quantity_rules import measure_ratios
from scoregate.core.limit_checks import reaches
from scoregate.core.records import record
from scoregate.core.runs.policy import Criteria, Severity


@record
class CorrectedSuites:
    """The contexts of all suites after the correction, the comparison with the new labels, and the families."""

    comparison: Comparison
    suites: tuple[SuiteContext, ...]
    families: Families


def correct_gates(comparison: Comparison, suites: Sequence[SuiteContext], alpha: float) -> CorrectedSuites:
    """Correct the p of all rows that a relative gate watches: a run without a change is red by any in at most 2.5 %.

    Two families share the level: scores (with slices that have a limit, and declines), and the ratios of cost, tokens
    and latency. Watched rows get the corrected p and the label that it gives, so that labels and gates agree. Other
    rows keep theirs.

    Args:
        comparison: the run and its baseline.
        suites: the contexts of all suites of the run.
        alpha: the two-sided level of the whole run, in (0, 1).
    """
    watched = {suite.suite.label: suite for suite in reversed(suites)}
    tables = _Tables.read(comparison)
    members = list(_find_members(comparison, tables, watched))
    ratios = {suite.index: tuple(measure_ratios(suite)) for suite in suites}
    tested = [(suite.index, place) for suite in suites for place in _find_tested_ratios(suite, ratios[suite.index])]
    shares = Shares.divide(alpha, has_scores=bool(members), has_ratios=bool(tested))
    labelled, small = _label_members(tables, members, watched, shares)
    qs = correct_ratios([ratios[index][place].p or 0.0 for index, place in tested], shares)
    q_by_place = dict(zip(tested, qs, strict=True))
    ratios = {
        index: tuple(replace(test, q=q_by_place.get((index, place))) for place, test in enumerate(tests))
        for index, tests in ratios.items()
    }
    by_measure = {(suite.suite.label, test.measure): test for suite in suites for test in ratios[suite.index]}
    quantities = (
        _label_quantity(row, by_measure.get((row.suite, row.measure)), watched) for row in comparison.quantities
    )
    comparison = replace(labelled.write(comparison), quantities=tuple(quantities))
    families = Families(shares, small)
    corrected = (_update_context(suite, comparison, ratios[suite.index], families) for suite in suites)
    return CorrectedSuites(comparison, tuple(corrected), families)


@record
class _Tables:
    """The rows of a comparison that gates on scores may watch."""

    rows: tuple[Row, ...]
    slices: tuple[Row, ...]
    declines: tuple[Row, ...]

    @classmethod
    def read(cls, comparison: Comparison) -> _Tables:
        earlier = comparison.earlier
        slices = tuple(each.row for each in comparison.slices.rows)
        return cls(comparison.rows, slices, () if earlier is None else earlier.rows)

    def write(self, comparison: Comparison) -> Comparison:
        """The comparison with these rows."""
        slices, earlier = comparison.slices, comparison.earlier
        by_name = {(row.suite, row.evaluator): row for row in self.rows}
        arms = (
            each if each.change is None else replace(each, change=by_name.get((each.suite, each.change.evaluator)))
            for each in comparison.arms
        )
        sliced = (replace(each, row=row) for each, row in zip(slices.rows, self.slices, strict=True))
        return replace(
            comparison,
            rows=self.rows,
            arms=tuple(arms),
            slices=replace(slices, rows=tuple(sliced)),
            earlier=None if earlier is None else replace(earlier, rows=self.declines),
        )


@record
class _Member:
    """A row that a relative gate can make red: the name of its table, its place in it, and its limits."""

    table: str
    place: int
    limits: tuple[GateLimit, ...]


def _find_members(comparison: Comparison, tables: _Tables, watched: Mapping[str, SuiteContext]) -> Iterator[_Member]:
    if comparison.base is not None:
        for place, row in enumerate(tables.rows):
            if row.suite in watched and (limits := tuple(list_limits(row, watched[row.suite]))):
                yield _Member("rows", place, limits)
        for place, each in enumerate(comparison.slices.rows):
            suite = watched.get(each.row.suite)
            if suite is not None and (limits := tuple(list_slice_limits(each.name, each.row, suite))):
                yield _Member("slices", place, limits)
    for place, row in enumerate(tables.declines):
        if row.suite in watched and (limits := tuple(list_decline_limits(row, watched[row.suite]))):
            yield _Member("declines", place, limits)


def _label_members(
    tables: _Tables, members: Sequence[_Member], watched: Mapping[str, SuiteContext], shares: Shares
) -> tuple[_Tables, SmallRows]:
    """The tables with the labels of the gates, and the rows that are tested together."""
    rows = [getattr(tables, each.table)[each.place] for each in members]
    correction = correct_scores(rows, shares)
    labelled = [
        _label_watched(row, worse, watched[row.suite].criteria, is_named=index in correction.named)
        for index, (row, worse) in enumerate(zip(rows, correction.worse, strict=True))
    ]
    lists = {name: list(getattr(tables, name)) for name in ("rows", "slices", "declines")}
    for each, row in zip(members, labelled, strict=True):
        lists[each.table][each.place] = row
    small = tuple(SmallRow(labelled[index], members[index].limits) for index in correction.small)
    return _Tables(**{name: tuple(rows) for name, rows in lists.items()}), SmallRows(small, correction.q)


def _update_context(
    suite: SuiteContext, comparison: Comparison, ratios: tuple[RatioTest, ...], families: Families
) -> SuiteContext:
    label = suite.suite.label
    return replace(
        suite,
        comparison=comparison,
        rows=comparison.rows_of(label),
        quantities=tuple(row for row in comparison.quantities if row.suite == label),
        ratios=ratios,
        families=families,
    )


def _find_tested_ratios(suite: SuiteContext, ratios: Sequence[RatioTest]) -> Iterator[int]:
    for place, test in enumerate(ratios):
        if test.p is not None and suite.limits.severity_of(test.finding.rule) is Severity.FAIL:
            yield place


def _label_watched(row: Row, worse: float | None, criteria: Criteria, *, is_named: bool) -> Row:
    """The row with the p of the gate for getting worse, and the label that it gives."""
    if is_named:
        smallest = criteria.evaluator_criteria(row.evaluator).min_effect or 0.0
        is_worse = row.gain < 0 and reaches(-row.gain, smallest)
        return replace(row, q=worse, label=RowLabel.WORSE if is_worse else row.label)
    if row.label not in COMPARED:
        return row
    falls = _p_or_one(row.p_worse) < _p_or_one(row.p_better)
    q = worse if falls else row.q
    labelled = label_row(replace(row, q=q, min_effect=None, label=RowLabel.NOISE), criteria)
    is_explained = row.label is RowLabel.DRIFT and labelled.label is not RowLabel.WORSE
    return replace(labelled, label=RowLabel.DRIFT) if is_explained else labelled


def _label_quantity(row: Row, test: RatioTest | None, watched: Mapping[str, SuiteContext]) -> Row:
    """The row with the p of its gate, which tests the total or the percentile and not the typical case."""
    if test is None or test.p is None or test.q is None:
        return row
    criteria = watched[row.suite].criteria
    is_worse = test.q <= criteria.alpha and reaches(test.value, criteria.ratio_criteria.min_effect or 0.0)
    label = RowLabel.WORSE if is_worse else RowLabel.NOISE if row.label is RowLabel.WORSE else row.label
    q = test.q if test.p < _EVEN else row.q
    return replace(row, p_worse=test.p, p=min(1.0, 2 * min(test.p, 1 - test.p)), q=q, label=label, min_effect=None)


_EVEN = 0.5


def _p_or_one(p: float | None) -> float:
    return 1.0 if p is None else p
