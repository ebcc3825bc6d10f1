"""The gate rule of `max_decline`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scoregate.core.comparison.comparison import Comparison
from scoregate.core.comparison.comparison_rows import Row
from scoregate.core.declarations.kernel_rules import COMPARABLE
from scoregate.core.declarations.rule import Rule
from scoregate.core.gate.baseline_rules import check_drop, find_limit, list_gate_limits
from scoregate.core.gate.check import SuiteCheck, WatchedRows
from scoregate.core.gate.families import GateLimit
from scoregate.core.gate.finding import Conclusion, Finding, SuiteContext
from scoregate.features.decline.keys import COMPARED

RULE = Rule("decline", "A score declined", "Decline")


def check_declines(context: SuiteContext) -> Iterator[Finding]:
    """No row is worse than in an earlier run of the branch by more than its limit.

    Small drops, each within the noise of one change, add up. Rows that can't be compared with the earlier run, since
    their evaluator is another one now, are left out: they start again.
    """
    earlier, limits = context.comparison.slots.get(COMPARED), context.limits
    if earlier is None or not limits.max_decline:
        return
    if earlier.base is None:
        if earlier.base_unreadable:
            origin = next(limits.find_origin(f"max_decline.{glob}", "max_decline") for glob in limits.max_decline)
            label = context.suite.label
            yield Finding(RULE, Conclusion.UNMEASURABLE, earlier.base_note, "an earlier run", origin, label)
        return
    rows = earlier.rows_of(context.suite.label)
    context = replace(context, comparison=earlier, rows=rows)
    for row in rows:
        limit, origin = find_limit("max_decline", limits.max_decline, row.evaluator, limits)
        if limit is None or row.evaluator in context.uncalibrated:
            continue
        for finding in check_drop(RULE, row, context, most=limit, origin=origin):
            since = f"since {earlier.base.commit[:7]}" if earlier.base.commit else "since the earlier run"
            yield replace(finding, value=f"{finding.value}, {since} ({earlier.base_note})")


def _list_rows(comparison: Comparison) -> Sequence[Row]:
    earlier = comparison.slots.get(COMPARED)
    return () if earlier is None else earlier.rows


def _list_limits(_: int, row: Row, context: SuiteContext) -> Iterator[GateLimit]:
    most, origin = find_limit("max_decline", context.limits.max_decline, row.evaluator, context.limits)
    if most is not None:
        yield from list_gate_limits(RULE, most, origin, row, context)


def _put_rows(comparison: Comparison, rows: Sequence[Row]) -> Comparison:
    earlier = comparison.slots.get(COMPARED)
    changed = None if earlier is None else replace(earlier, rows=tuple(rows))
    return replace(comparison, slots=comparison.slots.put(COMPARED, changed))


_WATCHED = WatchedRows(_list_rows, _list_limits, _put_rows)
CHECK = SuiteCheck(check_declines, (RULE,), before=COMPARABLE, watches=_WATCHED)
