"""result.json: the result as data; its schema is docs/result.schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.compare.estimates import NoEstimate
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.cases import ErrorView
from scoregate.kernel.report.reproduction import reproduce_finding
from scoregate.kernel.report.rows import RowView
from scoregate.kernel.report.suites import SuiteView, Totals
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
# What a feature leaves there if it is off; other features leave nothing.
_EMPTY: Mapping[str, object] = {
    "slices": [],
    "slices_left_out": [],
    "model_calls": [],
    "coverage": None,
    "exemptions": [],
    "quarantined": [],
    "variants": [],
}
MEANS = ("mean", "base", "delta", "low", "high")
TESTS = ("n", "better", "worse", "p", "q", "smallest_p", "clusters", "dropped", "reason")
_ROW_KEYS = (
    *("suite", "evaluator", "label", "mean", "base", "delta", "n", "better", "worse", "p", "p_worse", "p_better"),
    *("low", "high", "detectable", "dropped", "added", "removed", "changed", "lost", "gained", "lost_too_many"),
    *("unscaled", "reason", "higher_is_better", "q", "smallest_p", "within", "total", "total_low", "total_high"),
    *("clusters", "checked", "labels", "base_labels", "setup_change", "accepted", "base_runs", "movement", "drift"),
    *("kept", "min_effect"),
)
_COUNTS = ("passed", "failed", "errored", "scored", "unscored")
_TOTALS_KEYS = (
    *("suites", "cases", "trials", *_COUNTS, "with_errors", "pending", "newly_failing", "newly_passing", "pass_rate"),
    *("pass_rate_change", "pass_rate_low", "pass_rate_high", "pass_rate_p", "flips_p", "paired", "cost"),
    *("cost_change", "tokens", "duration_s"),
)
_SUITE_KEYS = (
    *("id", "label", "file", "line", "evaluators", "trials", "planned", *_COUNTS, "pass_rate", "complete"),
    *("duration_s", "spend", "base_spend", "reused", "problems", "past", "carried", "kept"),
)
# Where a row has what the keys name.
_PARTS = {
    "estimate": ("p", "low", "high", "detectable", "smallest_p"),
    "pairs": ("n", "better", "worse", "dropped", "clusters"),
    "cases": ("added", "removed", "changed", "kept"),
    "correction": ("q", "min_effect"),
}
_PLACES = {key: f"{part}.{key}" for part, keys in _PARTS.items() for key in keys} | {
    "lost": "lost.reasons",
    "gained": "lost.gained",
    "lost_too_many": "lost.too_many",
    "within": "estimate.smallest_margin",
    "total": "total.value",
    "total_low": "total.low",
    "total_high": "total.high",
    "labels": "labels.run",
    "base_labels": "labels.base",
    "base_runs": "base_runs.count",
    "movement": "base_runs.movement",
    "drift": "adjustment",
}
_OLD_FINDING_KEYS = {"part": "slice"}


def render(view: ReportView) -> Iterator[str]:
    """Yield the result as indented JSON in valid UTF-8, without NaN."""
    yield json.dumps(to_json_value(to_data(view)), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_data(view: ReportView) -> dict[str, Any]:
    """The result as dicts, lists, strings and numbers."""
    data: dict[str, Any] = {
        **_EMPTY,
        "schema_version": SCHEMA_VERSION,
        "conclusion": str(view.verdict.conclusion),
        "exit_code": view.verdict.exit_code,
        "title": view.title,
        "run": asdict(view.run),
        "base": asdict(view.base) if view.base else None,
        "base_note": view.baseline.note,
        "pooled": view.baseline.pooled,
        "earlier_runs": [asdict(each) for each in view.baseline.earlier_runs],
        "totals": _to_totals_data(view.totals),
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


def _to_totals_data(totals: Totals) -> dict[str, Any]:
    change, (low, high) = totals.change, totals.change.interval or (None, None)
    data = asdict(totals) | asdict(totals.counts) | asdict(totals.flips) | {"flips_p": totals.flips.p}
    data |= {"pass_rate_change": change.delta, "pass_rate_low": low, "pass_rate_high": high}
    data |= {"pass_rate_p": None if isinstance(change, NoEstimate) else change.p}
    return {key: data[key] for key in _TOTALS_KEYS}


def _to_suite_data(suite: SuiteView) -> dict[str, Any]:
    origin, spending = suite.origin, asdict(suite.spending)
    data = asdict(suite) | asdict(suite.counts) | {"spend": spending["now"], "base_spend": spending["base"]}
    data |= {"file": origin and origin.file, "line": origin and origin.line}
    data |= {"past": [None if took is None else took._asdict() for took in suite.past]}
    return {key: data[key] for key in _SUITE_KEYS}


def _to_error_data(error: ErrorView) -> dict[str, Any]:
    data = asdict(error)
    del data["trace"], data["gated"], data["messages"]
    return data


def _to_row_data(view: RowView) -> dict[str, Any]:
    row = to_row_data(view.row, _ROW_KEYS)
    row |= {"p_worse": None, "p_better": None} if isinstance(view.row.estimate, NoEstimate) else {}
    row |= {key: asdict(row[key]) for key in ("accepted", "movement", "drift") if row[key] is not None}
    row |= {"state": str(view.state), "judged": view.judged, "below": view.below, "uncalibrated": view.uncalibrated}
    return row | {"past": [None if score is None else {"mean": score.mean, "n": score.n} for score in view.past]}


def to_row_data(row: Row, keys: Iterable[str]) -> dict[str, Any]:
    """Values of a row by their keys in `result.json`, where a row has no parts; None for unknown ones."""
    return {key: _read_value(row, *_PLACES.get(key, key).rpartition(".")[::2]) for key in keys}


def _read_value(row: Row, part: str, name: str) -> Any:
    owner = getattr(row, part) if part else row
    return None if owner is None or isinstance(owner, NoEstimate) else getattr(owner, name)


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
