"""result.json: everything that was compared and judged, as data; its schema is docs/result.schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from scoregate.ci.report.harvest import ErrorView
from scoregate.ci.report.row_views import RowView
from scoregate.ci.report.suite_views import SuiteView
from scoregate.ci.report.view import ReportView
from scoregate.core.case import CaseKey
from scoregate.core.confirmation import Confirmation
from scoregate.core.history import Past
from scoregate.core.rows import Row
from scoregate.core.utf8 import whole

SCHEMA_VERSION = 1
_OF_QUANTITIES = (
    "suite",
    "label",
    "mean",
    "base",
    "delta",
    "low",
    "high",
    "detectable",
    "n",
    "better",
    "worse",
    "p",
    "q",
    "smallest_p",
    "clusters",
    "dropped",
    "reason",
    "total",
    "total_low",
    "total_high",
)


def render(view: ReportView) -> Iterator[str]:
    """Yield the result once, as indented JSON that every reader of UTF-8 can take; it never holds a NaN."""
    yield json.dumps(_finite(as_data(view)), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_data(view: ReportView) -> dict[str, Any]:
    """The result as dicts, lists, strings and numbers."""
    return {
        "schema_version": SCHEMA_VERSION,
        "conclusion": str(view.conclusion),
        "exit_code": view.exit_code,
        "title": view.title,
        "run": asdict(view.run),
        "base": asdict(view.base) if view.base else None,
        "base_note": view.base_note,
        "pooled": view.pooled,
        "totals": asdict(view.totals),
        "suites": [_suite(suite) for suite in view.suites],
        "rows": [_row(row) for row in view.rows],
        "quantities": [_quantity(row) for row in view.quantities],
        "findings": [asdict(finding) | {"title": finding.title} for finding in view.findings],
        "warnings": [asdict(finding) | {"title": finding.title} for finding in view.warnings],
        "not_applied": list(view.not_applied),
        "policy_changes": list(view.policy_changes),
        "confirmations": [_confirmation(tried) for tried in view.confirmations],
        "newly_failing": _keys(view.newly_failing),
        "newly_passing": _keys(view.newly_passing),
        "gone": list(view.gone),
        "errors": [_error(error) for error in view.errors],
        "notices": list(view.notices),
        "models": list(view.models),
        "history": [_past(one.past) for one in view.history],
    }


def _suite(suite: SuiteView) -> dict[str, Any]:
    whole = asdict(suite)
    for shown in ("index", "state", "passes", "spend_text", "time_s", "moved"):
        del whole[shown]
    return whole | {"past": [None if took is None else took._asdict() for took in suite.past]}


def _error(error: ErrorView) -> dict[str, Any]:
    whole = asdict(error)
    del whole["trace"], whole["gated"]
    return whole


def _row(view: RowView) -> dict[str, Any]:
    row = asdict(view.row) | {"state": str(view.state), "judged": view.judged, "below": view.below}
    del row["measure"]
    row |= {"uncalibrated": view.uncalibrated}
    return row | {"past": [None if score is None else {"mean": score.mean, "n": score.n} for score in view.past]}


def _past(past: Past) -> dict[str, Any]:
    return asdict(past) | {"took": past.took._asdict()}


def _quantity(row: Row) -> dict[str, Any]:
    return {"measure": str(row.measure)} | {name: getattr(row, name) for name in _OF_QUANTITIES}


def _confirmation(tried: Confirmation) -> dict[str, Any]:
    return asdict(tried) | {"outcome": str(tried.outcome)}


def _keys(keys: Iterable[tuple[str, CaseKey]]) -> list[dict[str, Any]]:
    return [{"suite": suite, "case": key.hash, "repeat": key.repeat} for suite, key in keys]


def _finite(value: Any) -> Any:
    """`value` without what JSON or UTF-8 cannot say: NaN and infinities become null, lone surrogates `?`."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {_finite(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
