"""The gate rule of `max_decline`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scoregate.features.decline.declare import MAX_DECLINE, RULE
from scoregate.features.decline.keys import COMPARED
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.gate.baseline_rules import check_drop, find_limit, list_gate_limits
from scoregate.kernel.gate.check import SuiteCheck, WatchedRows
from scoregate.kernel.gate.families import GateLimit
from scoregate.kernel.gate.finding import Finding, SuiteContext
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import COMPARABLE


def check_declines(context: SuiteContext) -> Iterator[Finding]:
    """No row is worse than in an earlier run of the branch by more than its limit.

    Small drops, each within the noise of one change, add up. Rows that can't be compared with the earlier run, since
    their evaluator is another one now, are left out: they start again.
    """
    earlier, limits = context.comparison.slots.get(COMPARED), context.limits
    if earlier is None or not MAX_DECLINE.is_set(limits):
        return
    if earlier.base is None:
        if earlier.base_unreadable:
            origin = next(limits.find_origin(f"max_decline.{glob}", "max_decline") for glob in MAX_DECLINE.of(limits))
            label = context.suite.label
            yield Finding(RULE, Conclusion.UNMEASURABLE, earlier.base_note, "an earlier run", origin, label)
        return
    rows = earlier.rows_of(context.suite.label)
    context = replace(context, comparison=earlier, rows=rows)
    for row in rows:
        limit, origin = find_limit(MAX_DECLINE, row.evaluator, limits)
        if limit is None or row.evaluator in context.uncalibrated:
            continue
        for finding in check_drop(RULE, row, context, most=limit, origin=origin):
            since = f"since {earlier.base.code.commit[:7]}" if earlier.base.code.commit else "since the earlier run"
            yield replace(finding, value=f"{finding.value}, {since} ({earlier.base_note})")


def _explain_silence(context: SuiteContext) -> str:
    """Why a suite has no finding: reports show these reasons in other places."""
    earlier = context.comparison.slots.get(COMPARED)
    if earlier is None:
        return "only runs of the branch itself are compared with its past"
    if earlier.base is None:
        return earlier.base_note
    rows = earlier.rows_of(context.suite.label)
    return "" if any(row.delta is not None for row in rows) else "its scorers are not those of the earlier run"


def _list_rows(comparison: Comparison) -> Sequence[Row]:
    earlier = comparison.slots.get(COMPARED)
    return () if earlier is None else earlier.rows


def _list_limits(_: int, row: Row, context: SuiteContext) -> Iterator[GateLimit]:
    most, origin = find_limit(MAX_DECLINE, row.evaluator, context.limits)
    if most is not None:
        yield from list_gate_limits(RULE, most, origin, row, context)


def _put_rows(comparison: Comparison, rows: Sequence[Row]) -> Comparison:
    earlier = comparison.slots.get(COMPARED)
    changed = None if earlier is None else replace(earlier, rows=tuple(rows))
    return replace(comparison, slots=comparison.slots.put(COMPARED, changed))


_WATCHED = WatchedRows(_list_rows, _list_limits, _put_rows)
CHECK = SuiteCheck(
    check_declines, (RULE,), before=COMPARABLE, watches=_WATCHED, limits=(MAX_DECLINE,), explain=_explain_silence
)
