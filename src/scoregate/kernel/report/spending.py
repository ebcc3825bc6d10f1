"""Latency, tokens and cost of a suite, with the change from the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from scoregate.kernel.compare.comparison_rows import Measure, Row
from scoregate.kernel.compare.quantity_rows import has_stored_answers
from scoregate.kernel.compare.ratios import Ratio
from scoregate.kernel.types.amounts import find_known
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.case_columns import percentiles
from scoregate.kernel.types.runs.run import SuiteResult

_LEAST_COMPARED_MS = 1.0


@record
class Spending:
    """Milliseconds per trial, tokens and US dollars of a suite; None if unknown."""

    p50_ms: float | None = None
    p95_ms: float | None = None
    tokens: float | None = None
    cost: float | None = None


@record
class SpendingText:
    """A `Spending` ready to print, each with its change from the baseline: `812 ms (+4%)`."""

    p50: str
    p95: str
    tokens: str
    cost: str


def measure_spending(suite: SuiteResult) -> Spending:
    """Measure latency, tokens and cost of a suite."""
    p50, p95 = percentiles(suite.columns.durations_ms, 0.5, 0.95)
    return Spending(p50, p95, find_known(suite.tokens), find_known(suite.cost))


def format_spending(suite: SuiteResult, base_suite: SuiteResult | None, rows: Iterable[Row] = ()) -> SpendingText:
    """Format what a suite used, with the change if the baseline has it.

    Stored answers cost nothing, and the time that they took says nothing. So a suite with nothing else has no latency,
    and no change is shown if either run has any.

    Args:
        suite: the suite of the run.
        base_suite: the suite of the baseline; None without one.
        rows: the quantities of the suite; those of cost and tokens hold the change of the total and of a typical case.
    """
    new, old = measure_spending(suite), Spending()
    if base_suite is not None:
        old = _without_stored_answers(measure_spending(base_suite), (suite, base_suite))
    if len(suite.columns) and len(suite.columns.cached) == len(suite.columns):
        new = replace(new, p50_ms=None, p95_ms=None)
    changes = {row.measure: _format_total_change(row.total, row.delta) for row in rows if row.total is not None}
    return SpendingText(
        p50=_format_with_change(new.p50_ms, old.p50_ms, _format_milliseconds, _format_latency_change),
        p95=_format_with_change(new.p95_ms, old.p95_ms, _format_milliseconds, _format_latency_change),
        tokens=_format_with_change(
            new.tokens, old.tokens, number_format.tokens, number_format.relative, changes.get(Measure.TOKENS, "")
        ),
        cost=_format_with_change(
            new.cost,
            old.cost,
            number_format.cost,
            lambda now, before: number_format.cost_change(now - before),
            changes.get(Measure.COST, ""),
        ),
    )


def _without_stored_answers(old: Spending, suites: Iterable[SuiteResult]) -> Spending:
    """What can be compared. The stored answers of judges make a suite cheaper, but its tasks no faster."""
    for suite in suites:
        usage = suite.other_usage
        if suite.columns.cached or (usage is not None and (usage.cached or usage.stored)):
            return Spending()
        if has_stored_answers(suite):
            old = replace(old, tokens=None, cost=None)
    return old


def _format_total_change(total: Ratio, delta: float | None) -> str:
    """`total +12% [+3%, +22%], typical case +5%`, over the cases of both."""
    bounds = ""
    if total.low is not None and total.high is not None:
        bounds = f" [{number_format.ratio(total.low)}, {number_format.ratio(total.high)}]"
    typical = "" if delta is None else f", typical case {number_format.ratio(delta)}"
    return f"total {number_format.ratio(total.value)}{bounds}{typical}"


def _format_with_change(
    new: float | None,
    old: float | None,
    show: Callable[[float], str],
    change: Callable[[float, float], str],
    totals: str = "",
) -> str:
    if new is None:
        return number_format.NONE
    difference = "" if old is None else change(new, old)
    changes = "; ".join(filter(None, (difference, totals if difference not in ("", "±0", "±0%") else "")))
    return f"{show(new)} ({changes})" if changes else show(new)


def _format_latency_change(now_ms: float, before_ms: float) -> str:
    """The relative change; below a millisecond, which says nothing in percent, the difference if it is as long."""
    if min(now_ms, before_ms) >= _LEAST_COMPARED_MS:
        return number_format.relative(now_ms, before_ms)
    longer = abs(now_ms - before_ms)
    if longer < _LEAST_COMPARED_MS:
        return ""
    return f"{'+' if now_ms > before_ms else '−'}{_format_milliseconds(longer)}"


def _format_milliseconds(value: float) -> str:
    return number_format.duration(value / 1000)
