"""The gate rule of `max_slice_drop`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from scoregate.features.slices.declare import MAX_SLICE_DROP, RULE
from scoregate.features.slices.keys import TABLE, SliceTable
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.gate.baseline_rules import check_row, find_limit, list_gate_limits
from scoregate.kernel.gate.check import SuiteCheck, WatchedRows, describe_rows
from scoregate.kernel.gate.families import GateLimit
from scoregate.kernel.gate.finding import Finding, SuiteContext
from scoregate.kernel.gate.suite_rules import match_limit
from scoregate.kernel.types.amounts import Conclusion, exceeds
from scoregate.kernel.types.declarations.kernel import LIMITS_APPLY, REGRESSION
from scoregate.kernel.types.runs.policy import Limits
from scoregate.kernel.types.runs.run import SuiteResult


def _table_of(comparison: Comparison) -> SliceTable:
    return comparison.slots.get(TABLE) or SliceTable()


def check_slice_drops(context: SuiteContext) -> Iterator[Finding]:
    """No score of a slice is worse by more than the slice's limit."""
    limits, label = context.limits, context.suite.label
    if context.comparison.base is None:
        return
    for each in _table_of(context.comparison).rows:
        row = each.row
        limit, origin = find_limit(MAX_SLICE_DROP, each.name, limits)
        if row.suite != label or limit is None or row.evaluator in context.uncalibrated:
            continue
        is_beyond = exceeds(-row.gain, limit) and not row.is_accepted
        text = f"a drop of at most {limit:.3f}"
        findings = check_row(RULE, row, context, is_beyond=is_beyond, limit=text, origin=origin)
        if row.label is RowLabel.UNMEASURABLE:
            finding = Finding(RULE, Conclusion.UNMEASURABLE, row.reason, text, origin, label, row.evaluator)
            findings = iter((finding,))
        for finding in findings:
            is_uncertain = is_beyond and finding.applied and finding.conclusion is Conclusion.PASSED
            noise = ": above the limit, within noise" if is_uncertain and row.label is not RowLabel.TOO_FEW else ""
            value = f"{each.name}: {finding.value}{noise}"
            yield replace(finding, value=value, bound=limit, uncertain=is_uncertain, part=each.name)


def _explain_silence(context: SuiteContext) -> str:
    """No slice has a limit, or their rows can't be compared."""
    limited = (
        each.row
        for each in _table_of(context.comparison).rows
        if each.row.suite == context.suite.label
        and each.row.evaluator not in context.uncalibrated
        and match_limit(MAX_SLICE_DROP.of(context.limits), each.name)[1] is not None
    )
    return describe_rows(limited, none="no case is in a slice with a limit")


def _find_idle(comparison: Comparison, limits: Limits, suites: Iterable[SuiteResult]) -> Iterator[Finding]:
    """Limits that name a slice without cases, or more slices than are compared."""
    table, labels = _table_of(comparison), {suite.label for suite in suites}
    names = {each.name for each in table.rows if each.row.suite in labels}
    hidden = sum(each.limited for each in table.left_out if each.suite in labels)
    for glob in MAX_SLICE_DROP.of(limits):
        origin = limits.find_origin(f"max_slice_drop.{glob}", "max_slice_drop")
        if not any(fnmatchcase(name, glob) for name in names):
            value = f"{glob} in max_slice_drop matches no slice with cases"
            yield Finding(LIMITS_APPLY, Conclusion.UNMEASURABLE, value, "a slice with cases", origin)
        elif hidden:
            value = f"{glob} in max_slice_drop: {hidden:,} of the slices that limits name are too many to compare"
            yield Finding(LIMITS_APPLY, Conclusion.UNMEASURABLE, value, "fewer slices", origin)


def _list_rows(comparison: Comparison) -> Sequence[Row]:
    return () if comparison.base is None else [each.row for each in _table_of(comparison).rows]


def _list_limits(place: int, row: Row, context: SuiteContext) -> Iterator[GateLimit]:
    most, origin = find_limit(MAX_SLICE_DROP, _table_of(context.comparison).rows[place].name, context.limits)
    if most is not None:
        yield from list_gate_limits(RULE, most, origin, row, context)


def _put_rows(comparison: Comparison, rows: Sequence[Row]) -> Comparison:
    table = _table_of(comparison)
    changed = tuple(replace(each, row=row) for each, row in zip(table.rows, rows, strict=True))
    return replace(comparison, slots=comparison.slots.put(TABLE, replace(table, rows=changed)))


_WATCHED = WatchedRows(_list_rows, _list_limits, _put_rows, lambda comparison: _table_of(comparison).limited_suites)
CHECK = SuiteCheck(
    check_slice_drops,
    (RULE,),
    before=REGRESSION,
    watches=_WATCHED,
    limits=(MAX_SLICE_DROP,),
    explain=_explain_silence,
    find_idle=_find_idle,
)
