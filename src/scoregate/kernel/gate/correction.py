"""Corrects the p-values of everything that relative gates watch, and labels the rows by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Correction, Measure, Row, RowLabel
from scoregate.kernel.compare.estimates import NoEstimate, two_sided_p
from scoregate.kernel.compare.row_labels import COMPARED, is_falling, label_row
from scoregate.kernel.gate.baseline_rules import list_limits
from scoregate.kernel.gate.check import WatchedRows
from scoregate.kernel.gate.families import (
    LEVEL_FACTOR,
    Families,
    GateLimit,
    Shares,
    SmallRow,
    SmallRows,
    correct_ratios,
    correct_scores,
)
from scoregate.kernel.gate.finding import RatioTest, SuiteContext
from scoregate.kernel.gate.quantity_rules import measure_ratios
from scoregate.kernel.types.amounts import reaches
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria, Severity


@record
class CorrectedSuites:
    """The contexts of all suites after the correction, the comparison with the new labels, and the families."""

    comparison: Comparison
    suites: tuple[SuiteContext, ...]
    families: Families


def correct_gates(
    comparison: Comparison, suites: Sequence[SuiteContext], alpha: float, tables: Sequence[WatchedRows]
) -> CorrectedSuites:
    """Correct the p of all rows that a relative gate watches: a run without a change is red by any in at most 2.5 %.

    Two families share the level: scores (with the rows of features), and the ratios of cost, tokens and latency.
    Watched rows get the corrected p and the label that it gives, so that labels and gates agree. Other rows keep
    theirs.

    Args:
        comparison: the run and its baseline.
        suites: the contexts of all suites of the run.
        alpha: the two-sided level of the whole run, in (0, 1).
        tables: the rows in the family of scores.
    """
    watched = {suite.suite.label: suite for suite in reversed(suites)}
    members = list(_find_members(comparison, watched, tables))
    tests = [(suite, test) for suite in suites for test in measure_ratios(suite)]
    gated = {
        (suite.index, test.measure): test.p for suite, test in tests if test.p is not None and _can_fail(suite, test)
    }
    factor = comparison.slots.get(LEVEL_FACTOR) or 1.0
    shares = Shares.divide(alpha, has_scores=bool(members), has_ratios=bool(gated), factor=factor)
    labelled, small = _label_members(members, watched, shares)
    q_by_gate = dict(zip(gated, correct_ratios([*gated.values()], shares), strict=True))
    ratios: dict[int, list[RatioTest]] = {}
    gates: dict[tuple[str, Measure], RatioTest] = {}
    for suite, test in tests:
        q = q_by_gate.get((suite.index, test.measure))
        ratios.setdefault(suite.index, []).append(replace(test, q=_correct_alone(test) if q is None else q))
        if q is not None:
            gates[suite.suite.label, test.measure] = ratios[suite.index][-1]
    comparison = _replace_rows(comparison, labelled, gates, watched, tables)
    families = Families(shares, small, frozenset(label for table in tables for label in table.list_suites(comparison)))
    corrected = (_update_context(suite, comparison, ratios.get(suite.index, ()), families) for suite in suites)
    return CorrectedSuites(comparison, tuple(corrected), families)


@record
class _Member:
    """A row that a relative gate can make red: the number of its table and its place in it, and its limits."""

    key: tuple[int, int]
    row: Row
    limits: tuple[GateLimit, ...]


def _find_members(
    comparison: Comparison, watched: Mapping[str, SuiteContext], tables: Sequence[WatchedRows]
) -> Iterator[_Member]:
    for number, table in enumerate(tables):
        for place, row in enumerate(table.list_rows(comparison)):
            suite = watched.get(row.suite)
            if suite is not None and (limits := tuple(table.list_limits(place, row, suite))):
                yield _Member((number, place), row, limits)


def _label_members(
    members: Sequence[_Member], watched: Mapping[str, SuiteContext], shares: Shares
) -> tuple[Mapping[tuple[int, int], Row], SmallRows]:
    """The rows with the labels of the gates, by table and place, and those that are tested together."""
    correction = correct_scores([each.row for each in members], shares)
    labelled = [
        _label_watched(each.row, worse, watched[each.row.suite].criteria, is_named=index in correction.named)
        for index, (each, worse) in enumerate(zip(members, correction.worse, strict=True))
    ]
    small = tuple(SmallRow(labelled[index], members[index].limits) for index in correction.small)
    by_key = {each.key: row for each, row in zip(members, labelled, strict=True)}
    return by_key, SmallRows(small, correction.q)


def _replace_rows(
    comparison: Comparison,
    labelled: Mapping[tuple[int, int], Row],
    gates: Mapping[tuple[str, Measure], RatioTest],
    watched: Mapping[str, SuiteContext],
    tables: Sequence[WatchedRows],
) -> Comparison:
    """The comparison with the rows that gates label."""
    changed = {number for number, _ in labelled}
    for number, table in enumerate(tables):
        if number in changed:
            rows = enumerate(table.list_rows(comparison))
            comparison = table.put_rows(comparison, [labelled.get((number, place), row) for place, row in rows])
    quantities = (_label_quantity(row, gates.get((row.suite, row.measure)), watched) for row in comparison.quantities)
    return replace(comparison, quantities=tuple(quantities))


def _list_rows(comparison: Comparison) -> Sequence[Row]:
    return () if comparison.base is None else comparison.rows


def _put_rows(comparison: Comparison, rows: Sequence[Row]) -> Comparison:
    return replace(comparison, rows=tuple(rows))


SCORES = WatchedRows(_list_rows, lambda _, row, suite: list_limits(row, suite), _put_rows)


def _can_fail(suite: SuiteContext, test: RatioTest) -> bool:
    return test.finding.declaration.severity_in(suite.limits) is Severity.FAIL


def _correct_alone(test: RatioTest) -> float | None:
    """The two-sided p of a limit that can only warn. It is in no family, so that it weakens no gate."""
    return None if test.p is None else min(1.0, 2 * test.p)


def _update_context(
    suite: SuiteContext, comparison: Comparison, ratios: Sequence[RatioTest], families: Families
) -> SuiteContext:
    rows = comparison.rows_of(suite.suite.label)
    return replace(suite, comparison=comparison, rows=rows, ratios=tuple(ratios), families=families)


def _label_watched(row: Row, worse: float | None, criteria: Criteria, *, is_named: bool) -> Row:
    """The row with the p of the gate for getting worse, and the label that it gives."""
    if is_named:
        smallest = criteria.evaluator_criteria(row.evaluator).min_effect or 0.0
        label = RowLabel.WORSE if reaches(-row.gain, smallest) else row.label
        return replace(row, correction=replace(row.correction, q=worse), label=label)
    if row.label not in COMPARED:
        return row
    correction = Correction(worse if is_falling(row) else row.correction.q)
    labelled = label_row(replace(row, correction=correction, label=RowLabel.NOISE), criteria)
    is_explained = row.label is RowLabel.EXPLAINED and labelled.label is not RowLabel.WORSE
    return replace(labelled, label=RowLabel.EXPLAINED) if is_explained else labelled


def _label_quantity(row: Row, test: RatioTest | None, watched: Mapping[str, SuiteContext]) -> Row:
    """The row with the p of its gate, which tests the total or the percentile and not the typical case."""
    if test is None or test.p is None or test.q is None or isinstance(row.estimate, NoEstimate):
        return row
    criteria = watched[row.suite].criteria
    is_worse = test.q <= criteria.alpha and reaches(test.value, criteria.ratio_criteria.min_effect or 0.0)
    label = RowLabel.WORSE if is_worse else RowLabel.NOISE if row.label is RowLabel.WORSE else row.label
    correction = Correction(test.q if test.p < _EVEN else row.correction.q)
    tested = replace(row.estimate, p_upper=test.p, p=two_sided_p(test.p, 1 - test.p))
    return replace(row, estimate=tested, correction=correction, label=label)


_EVEN = 0.5
