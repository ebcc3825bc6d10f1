"""result.json: the result as data; its schema is docs/result.schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from scoregate.ci.report.arms import arm_data
from scoregate.ci.report.cases import ErrorView
from scoregate.ci.report.coverage import coverage_data
from scoregate.ci.report.model_calls import calls_data
from scoregate.ci.report.reproduction import reproduce_finding
from scoregate.ci.report.rows import RowView
from scoregate.ci.report.slices import SliceView
from scoregate.ci.report.suites import SuiteView
from scoregate.ci.report.variants_view import variant_data
from scoregate.ci.report.view import ReportView
from scoregate.core.gate.finding import Finding
from scoregate.core.runs.cases import CaseKey
from scoregate.core.text import replace_surrogates

SCHEMA_VERSION = 1
_MEANS = ("mean", "base", "delta", "low", "high")
_COUNTS = ("n", "better", "worse", "p", "q", "smallest_p", "clusters", "dropped", "reason")
_QUANTITY_FIELDS = ("suite", "label", *_MEANS, "detectable", *_COUNTS, "total", "total_low", "total_high")
_SLICE_FIELDS = ("suite", "evaluator", *_MEANS, *_COUNTS, "higher_is_better")


def render(view: ReportView) -> Iterator[str]:
    """Yield the result as indented JSON in valid UTF-8, without NaN."""
    yield json.dumps(to_json_value(to_data(view)), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_data(view: ReportView) -> dict[str, Any]:
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
        "earlier_runs": [asdict(each) for each in view.earlier_runs],
        "totals": asdict(view.totals),
        "suites": [_to_suite_data(suite) for suite in view.suites],  # a case has the index of its suite
        "rows": [_to_row_data(row) for row in view.rows],
        "quantities": [
            {"measure": str(row.measure)} | {name: getattr(row, name) for name in _QUANTITY_FIELDS}
            for row in view.quantities
        ],
        "slices": [_to_slice_data(each) for each in view.slices],
        "slices_left_out": [asdict(each) for each in view.slices_left_out],
        "findings": [_to_finding_data(finding, view) for finding in view.findings],
        "warnings": [_to_finding_data(finding, view) for finding in view.warnings],
        "not_applied": list(view.not_applied),
        "policy_changes": list(view.policy_changes),
        "confirmations": [asdict(each) | {"outcome": str(each.outcome)} for each in view.confirmations],
        "newly_failing": _to_key_data(view.newly_failing),
        "newly_passing": _to_key_data(view.newly_passing),
        "gone": list(view.gone),
        "errors": [_to_error_data(error) for error in view.errors],
        "notices": list(view.notices),
        "models": list(view.models),
        "model_calls": calls_data(view.model_calls),
        "coverage": coverage_data(view.coverage),
        "estimate": None if view.estimate is None else asdict(view.estimate),
        "exemptions": [asdict(each) | {"state": str(each.state)} for each in view.exemptions],
        "quarantined": [asdict(each) for each in view.quarantined],
        "variants": [variant_data(table) for table in view.variants],
        **({"arms": [arm_data(arm) for arm in view.arms]} if view.arms else {}),
        "history": [asdict(each.past) | {"took": each.past.took._asdict()} for each in view.history],
    }


def _to_finding_data(finding: Finding, view: ReportView) -> dict[str, Any]:
    data = {"rule": finding.rule, **asdict(finding), "title": finding.title}
    del data["declaration"], data["applied"]  # the others are in `not_applied`
    return data | {"next": reproduce_finding(finding, view)}


def _to_suite_data(suite: SuiteView) -> dict[str, Any]:
    data = asdict(suite)
    for shown in ("index", "state", "passes", "spend_text", "time_s", "changed_measures"):
        del data[shown]
    return data | {"past": [None if took is None else took._asdict() for took in suite.past]}


def _to_error_data(error: ErrorView) -> dict[str, Any]:
    data = asdict(error)
    del data["trace"], data["gated"], data["messages"]
    return data


def _to_row_data(view: RowView) -> dict[str, Any]:
    row = asdict(view.row) | {"state": str(view.state), "judged": view.judged, "below": view.below}
    del row["measure"], row["units"]
    row |= {"uncalibrated": view.uncalibrated}
    return row | {"past": [None if score is None else {"mean": score.mean, "n": score.n} for score in view.past]}


def _to_slice_data(each: SliceView) -> dict[str, Any]:
    row = {name: getattr(each.view.row, name) for name in _SLICE_FIELDS}
    place = {"field": each.field, "value": each.value, "cases": each.cases, "limited": each.limited}
    return {"suite": row["suite"], **place, **row, "label": each.view.label, "state": str(each.view.state)}


def _to_key_data(keys: Iterable[tuple[str, CaseKey]]) -> list[dict[str, Any]]:
    return [{"suite": suite, "case": key.hash, "repeat": key.repeat} for suite, key in keys]


def to_json_value(value: Any) -> Any:
    """A value that JSON and UTF-8 can represent: NaN and infinities become null, lone surrogates `?`."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, Mapping):
        return {to_json_value(key): to_json_value(item) for key, item in value.items()}
    return [to_json_value(item) for item in value] if isinstance(value, list | tuple) else value
