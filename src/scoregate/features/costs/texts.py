"""Texts of estimates: a line for the run, a table for `scoregate plan`, and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scoregate.features.costs.estimate import PlanEstimate
from scoregate.features.costs.pricing import describe_unpriced
from scoregate.features.costs.section import Interval, RunEstimate, format_cost
from scoregate.features.costs.suites import SuiteEstimate, SuiteState
from scoregate.kernel.types.runs import number_format

_MOST_NAMES = 5
SCHEMA_VERSION = 1


def format_estimate(estimate: RunEstimate) -> str:
    """The estimate in a line; empty if nothing is known: `estimate $0.42 [0.31–0.60], 120 calls, 181 k tokens, 2 m`."""
    parts = []
    if estimate.cost is not None:
        parts.append(format_cost(estimate.cost))
    if estimate.calls:
        parts.append(number_format.count(round(estimate.calls), "call"))
        tokens = estimate.input_tokens + estimate.output_tokens
        parts.append(f"{number_format.tokens(tokens)} tokens")
    if estimate.seconds is not None:
        parts.append(number_format.duration(estimate.seconds.expected))
    gaps = [describe_unpriced(name) for name in estimate.unpriced[:_MOST_NAMES]]
    if estimate.unknown:
        gaps.append(f"no estimate for {_shorten(estimate.unknown)}")
    is_empty = not (estimate.has_cost or estimate.unpriced)
    return "" if is_empty else f"estimate {', '.join(parts)}{''.join(f'; {gap}' for gap in gaps)}"


def _shorten(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


HEADINGS = ("suite", "cases", "calls", "stored", "tokens in", "out", "provider-cached", "cost", "per case", "time", "")


def build_rows(estimate: PlanEstimate) -> Iterator[tuple[str, ...]]:
    """The rows of the table, with the totals in the last one."""
    for each in estimate.suites:
        yield _build_row(each)
    total = estimate.total
    if len(estimate.suites) > 1:
        yield (
            "total",
            f"{sum(each.cases or 0 for each in estimate.suites if each.state is not SuiteState.NOT_AFFECTED):,}",
            f"{total.calls:,.0f}",
            f"{sum(each.stored for each in estimate.suites):,.0f}",
            *map(number_format.tokens, (total.input_tokens, total.output_tokens, total.cached_tokens)),
            _format_cost(total.cost),
            "",
            _format_seconds(total.seconds),
            "",
        )


def _build_row(suite: SuiteEstimate) -> tuple[str, ...]:
    if suite.state in (SuiteState.NONE, SuiteState.NOT_AFFECTED):
        return (suite.label, *[number_format.NONE] * (len(HEADINGS) - 2), f"{suite.state}: {suite.note}")
    trials = number_format.trials(suite.cases or 0, suite.trials or 0).replace(" cases", "").replace(" case", "")
    amounts = suite.amounts
    note = "; ".join(filter(None, ("from sample cases" if suite.state is SuiteState.PROBE else "", suite.note)))
    return (
        suite.label,
        trials,
        f"{amounts.calls:,.0f}",
        f"{suite.stored:,.0f}",
        *map(number_format.tokens, (amounts.input_tokens, amounts.output_tokens, amounts.cached_tokens)),
        _format_cost(suite.cost),
        _format_cost(suite.per_case),
        _format_seconds(suite.seconds),
        note,
    )


def explain_caches(estimate: PlanEstimate) -> Iterator[str]:
    """What the table counts of scoregate's cache, and of the provider's."""
    if any(round(each.stored) for each in estimate.suites):
        yield "`stored` counts answers in scoregate's cache: they cost nothing, as long as the same is asked."
    if round(estimate.total.cached_tokens):
        yield "`provider-cached` counts input tokens that the provider had cached, which may cost less."


def _format_cost(cost: Interval | None) -> str:
    return number_format.NONE if cost is None else format_cost(cost)


def _format_seconds(seconds: Interval | None) -> str:
    return number_format.NONE if seconds is None else number_format.duration(seconds.expected)


def describe_plan(estimate: PlanEstimate, warnings: tuple[str, ...] = ()) -> dict[str, Any]:
    """The estimate as data for JSON; `docs/estimate.schema.json` describes it."""
    total = estimate.total
    return {
        "schema_version": SCHEMA_VERSION,
        "base": total.base or None,
        "suites": [_describe_suite(each) for each in estimate.suites],
        "total": {
            "calls": round(total.calls, 2),
            "input_tokens": round(total.input_tokens),
            "output_tokens": round(total.output_tokens),
            "cached_tokens": round(total.cached_tokens),
            "cost": _describe_interval(total.cost),
            "seconds": _describe_interval(total.seconds),
            "unpriced": list(total.unpriced),
            "unknown": list(total.unknown),
        },
        "notes": list(estimate.notes),
        "warnings": list(warnings),
    }


def _describe_suite(suite: SuiteEstimate) -> dict[str, Any]:
    return {
        "suite": suite.label,
        "script": suite.script,
        "state": str(suite.state),
        "cases": suite.cases,
        "trials": suite.trials,
        "calls": round(suite.amounts.calls, 2),
        "input_tokens": round(suite.amounts.input_tokens),
        "output_tokens": round(suite.amounts.output_tokens),
        "cached_tokens": round(suite.amounts.cached_tokens),
        "cost": _describe_interval(suite.cost),
        "cost_per_case": _describe_interval(suite.per_case),
        "cost_without_cache": suite.full_cost,
        "seconds": _describe_interval(suite.seconds),
        "unpriced": list(suite.unpriced),
        "note": suite.note,
    }


def _describe_interval(interval: Interval | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {"low": interval.low, "expected": interval.expected, "high": interval.high}
