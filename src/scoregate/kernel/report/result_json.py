"""result.json: the result as data; its schema is docs/result.schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.cases import ErrorView
from scoregate.kernel.report.reproduction import reproduce_finding
from scoregate.kernel.report.rows import RowView
from scoregate.kernel.report.suites import SuiteView
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.cases import CaseKey
from scoregate.kernel.types.text import replace_surrogates

SCHEMA_VERSION = 1
# The keys at the top in their order. What later features add is in `sections`, by feature.
OLD_KEYS = (
    *("schema_version", "conclusion", "exit_code", "title", "run", "base", "base_note", "pooled", "earlier_runs"),
    *("totals", "suites", "rows", "quantities", "slices", "slices_left_out", "findings", "warnings", "not_applied"),
    *("policy_changes", "confirmations", "newly_failing", "newly_passing", "gone", "errors", "notices", "models"),
    *("model_calls", "coverage", "estimate", "exemptions", "quarantined", "variants", "arms", "history"),
)

_OLD_ROW_KEYS = {"adjustment": "drift"}
_OLD_FINDING_KEYS = {"part": "slice"}


def render(view: ReportView) -> Iterator[str]:
    """Yield the result as indented JSON in valid UTF-8, without NaN."""
    yield json.dumps(to_json_value(to_data(view)), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_data(view: ReportView) -> dict[str, Any]:
    """The result as dicts, lists, strings and numbers."""
    data = {
        "schema_version": SCHEMA_VERSION,
        "conclusion": str(view.verdict.conclusion),
        "exit_code": view.verdict.exit_code,
        "title": view.title,
        "run": asdict(view.run),
        "base": asdict(view.base) if view.base else None,
        "base_note": view.baseline.note,
        "pooled": view.baseline.pooled,
        "earlier_runs": [asdict(each) for each in view.baseline.earlier_runs],
        "totals": asdict(view.totals),
        "suites": [_to_suite_data(suite) for suite in view.suites],  # a case has the index of its suite
        "rows": [_to_row_data(row) for row in view.rows],
        "findings": [_to_finding_data(finding, view) for finding in view.findings],
        "warnings": [_to_finding_data(finding, view) for finding in view.verdict.warnings],
        "not_applied": [*view.verdict.not_applied, *map(_describe_left_out, view.verdict.left_out)],
        "policy_changes": list(view.verdict.policy_changes),
        "confirmations": [asdict(each) | {"outcome": str(each.outcome)} for each in view.confirmations],
        "newly_failing": _to_key_data(view.notable.newly_failing),
        "newly_passing": _to_key_data(view.notable.newly_passing),
        "gone": list(view.baseline.gone),
        "errors": [_to_error_data(error) for error in view.errors],
        "notices": list(view.notices),
        "models": list(view.models),
        "history": [asdict(each.past) | {"took": each.past.took._asdict()} for each in view.history],
    }
    added: dict[str, dict[str, object]] = {}
    for section in view.sections:
        for key, value in (section.data or {}).items():
            place = data if key in OLD_KEYS else added.setdefault(section.feature, {})
            place[key] = value
    return {key: data[key] for key in OLD_KEYS if key in data} | ({"sections": added} if added else {})


def _describe_left_out(finding: Finding) -> str:
    return f"{finding.title} of {finding.suite}: {finding.value}"


def _to_finding_data(finding: Finding, view: ReportView) -> dict[str, Any]:
    fields = {_OLD_FINDING_KEYS.get(name, name): value for name, value in asdict(finding).items()}
    data = {"rule": finding.rule, **fields, "title": finding.title}
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
    row = {_OLD_ROW_KEYS.get(key, key): value for key, value in asdict(view.row).items()}
    row |= {"state": str(view.state), "judged": view.judged, "below": view.below}
    del row["measure"], row["units"]
    row |= {"uncalibrated": view.uncalibrated}
    return row | {"past": [None if score is None else {"mean": score.mean, "n": score.n} for score in view.past]}


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
