"""Latency, tokens and cost of a suite, against those of its base."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isnan

from scoregate.ci.report import numbers
from scoregate.core.columns import percentiles
from scoregate.core.record import SuiteResult
from scoregate.core.rows import Measure, Row


@dataclass(frozen=True, slots=True)
class Spend:
    """What a suite took: milliseconds a trial, tokens, US dollars; None where nothing is known."""

    p50_ms: float | None = None
    p95_ms: float | None = None
    tokens: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class SpendText:
    """A `Spend` ready to print, each with its change from the base: `812 ms (+4%)`."""

    p50: str
    p95: str
    tokens: str
    cost: str


def known(column: Iterable[float]) -> list[float]:
    """The numbers of a column that are not missing."""
    return [value for value in column if not isnan(value)]


def total(column: Iterable[float | None]) -> float | None:
    """The sum of what is known; None where nothing is."""
    values = known(value for value in column if value is not None)
    return sum(values) if values else None


def spend(suite: SuiteResult) -> Spend:
    """What a suite took."""
    p50, p95 = percentiles(suite.columns.durations_ms, 0.5, 0.95)
    return Spend(p50, p95, suite.tokens, suite.cost)


def spend_text(new: Spend, old: Spend | None, rows: Iterable[Row] = ()) -> SpendText:
    """The numbers in words, with their change where the base has them.

    Args:
        new: of the run. old: of the base.
        rows: the suite's rows of quantities: of cost and tokens, the change of the total and that of a typical case.
    """
    old = old or Spend()
    changes = {row.measure: _totals(row) for row in rows if row.total is not None}
    return SpendText(
        p50=_text(new.p50_ms, old.p50_ms, _milliseconds, numbers.relative),
        p95=_text(new.p95_ms, old.p95_ms, _milliseconds, numbers.relative),
        tokens=_text(new.tokens, old.tokens, numbers.tokens, numbers.relative, changes.get(Measure.TOKENS, "")),
        cost=_text(new.cost, old.cost, numbers.cost, _dollars, changes.get(Measure.COST, "")),
    )


def _dollars(now: float, before: float) -> str:
    return numbers.cost_change(now - before)


def _totals(row: Row) -> str:
    """`total +12% [+3%, +22%], typical case +5%`, over the cases of both."""
    assert row.total is not None
    bounds = ""
    if row.total_low is not None and row.total_high is not None:
        bounds = f" [{numbers.ratio(row.total_low)}, {numbers.ratio(row.total_high)}]"
    typical = "" if row.delta is None else f", typical case {numbers.ratio(row.delta)}"
    return f"total {numbers.ratio(row.total)}{bounds}{typical}"


def _text(
    new: float | None,
    old: float | None,
    show: Callable[[float], str],
    change: Callable[[float, float], str],
    totals: str = "",
) -> str:
    if new is None:
        return numbers.NONE
    difference = "" if old is None else change(new, old)
    moved = "; ".join(filter(None, (difference, totals if difference not in ("", "±0", "±0%") else "")))
    return f"{show(new)} ({moved})" if moved else show(new)


def _milliseconds(value: float) -> str:
    return numbers.duration(value / 1000)
