"""Answers about a run for coding agents: small tables of a report, with texts of limited length."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from scoregate.errors import UsageError
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.cases import FailedEvaluation
from scoregate.kernel.report.excerpts import list_reasons
from scoregate.kernel.report.reproduction import reproduce_finding, rerun_case
from scoregate.kernel.report.result_json import to_json_value
from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.suites import PairedSuite
from scoregate.kernel.report.text import excerpt
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.media import show_references
from scoregate.kernel.types.runs.cases import CaseResult

MOST_ITEMS = 50
_LONGEST_TEXT = 8_000
_LONGEST_REASON = 500
_REASON = "reason: "


def describe_verdict(view: ReportView) -> dict[str, Any]:
    """The verdict: the conclusion, its exit code, counts, and every gate that failed."""
    totals = view.totals
    failed = [each for each in view.findings if each.conclusion is not Conclusion.PASSED]
    part = view.run.selection
    return _clean(
        {
            "title": view.title,
            "conclusion": str(view.verdict.conclusion),
            "exit_code": view.verdict.exit_code,
            "run": view.run.name,
            "part": f"only a part ran, so this is not a verdict on the project: {part}" if part else None,
            "base": view.base.name if view.base else None,
            "base_note": view.base_details or view.baseline.note,
            "cases": {"cases": totals.cases}
            | {name: getattr(totals.counts, name) for name in ("trials", "passed", "failed", "errored")},
            "failed_gates": [_describe_gate(each, view) for each in failed[:MOST_ITEMS]],
            "gates_left_out": max(0, len(failed) - MOST_ITEMS),
            "warnings": [_describe_gate(each, view) for each in view.verdict.warnings[:MOST_ITEMS]],
            "notices": list(view.notices[:MOST_ITEMS]),
        }
    )


def list_regressions(view: ReportView, limit: int = 10) -> dict[str, Any]:
    """The scores that are worse than the base's, the cases that fail newly, and errors."""
    limit = max(1, min(limit, MOST_ITEMS))
    bad = (ReportState.WORSE, ReportState.FAILED, ReportState.UNMEASURABLE)
    rows = [each for each in view.rows if each.state in bad]
    return _clean(
        {
            "base": view.base.name if view.base else None,
            "scores": [
                {
                    "suite": each.row.suite,
                    "evaluator": each.row.evaluator,
                    "label": each.label,
                    "base": each.row.base,
                    "now": each.row.mean,
                    "change": each.row.delta,
                    "interval": each.row.estimate.interval or [None, None],
                    "n": each.row.pairs.n,
                }
                for each in rows[:limit]
            ],
            "scores_left_out": max(0, len(rows) - limit),
            "newly_failing" if view.has_newly_failing else "failing": [
                {
                    "suite": each.suite,
                    "case": each.key.hash,
                    "name": excerpt(each.name, 200),
                    "missed": [_describe_miss(miss) for miss in each.misses],
                }
                for each in view.notable.failing[:limit]
            ],
            "cases_left_out": max(0, view.notable.failing_total - limit),
            "errors": [
                {"where": each.where, "type": each.type, "message": excerpt(each.message, _LONGEST_REASON)}
                for each in view.errors[:limit]
            ],
        }
    )


def _describe_miss(miss: FailedEvaluation) -> dict[str, Any]:
    why = miss.why.removeprefix(_REASON)
    return {"evaluator": miss.evaluator, "score": miss.shown, "needs": miss.threshold, "why": why}


def describe_gates(view: ReportView, suite: str = "") -> dict[str, Any]:
    """Every gate that failed, or each of one suite, with its limit, where it is set, and the cases behind it.

    Raises:
        UsageError: the run has no such suite.
    """
    if suite:
        _find_suite(view, suite)
    findings = [each for each in view.findings if each.suite == suite or not suite]
    failed = [each for each in findings if each.conclusion is not Conclusion.PASSED]
    cases = [each for each in view.notable.failing if not suite or each.suite == suite]
    return _clean(
        {
            "failed": [_describe_gate(each, view) for each in failed[:MOST_ITEMS]],
            "passed": [f"{each.title}: {each.value}" for each in findings if each not in failed][:MOST_ITEMS],
            "cases": [
                {"suite": each.suite, "case": each.key.hash, "name": excerpt(each.name, 200)}
                for each in cases[:MOST_ITEMS]
            ],
        }
    )


def describe_case(view: ReportView, suite: str, case: str, repeat: int = 0) -> dict[str, Any]:
    """One trial of a case: input, scores and reasons, the output of this run and of the base.

    Args:
        view: the report.
        suite: the label of the suite.
        case: the id of the case, or its name.
        repeat: the number of the trial, from 0.

    Raises:
        UsageError: the run has no such suite or case.
    """
    paired = _find_suite(view, suite)
    trial = _find_trial(view, suite, case, repeat)
    base = None
    if paired.base_index is not None:
        old = (each for each in view.trials.read_base() if each.suite == paired.base_index)
        base = _find_case(old, trial.hash, repeat)
    return _clean(
        {
            "suite": suite,
            "case": trial.hash,
            "name": excerpt(trial.name, 200),
            "repeat": repeat,
            "input": _show(trial.input, view),
            "now": _describe_trial(trial, view),
            "base": None if base is None else _describe_trial(base, view),
            "rerun": rerun_command(view, suite, trial.hash),
        }
    )


def rerun_command(view: ReportView, suite: str, case: str) -> str:
    """The command that runs one case again, in the project's folder.

    Raises:
        UsageError: the run has no such suite or case.
    """
    _find_suite(view, suite)
    case = _find_trial(view, suite, case, 0).hash
    return rerun_case(view, next(each for each in view.suites if each.label == suite), case)


def _find_suite(view: ReportView, suite: str) -> PairedSuite:
    for each in view.paired_suites:
        if each.label == suite:
            return each
    labels = [each.label for each in view.suites]
    raise UsageError(
        f"the run has no suite {suite!r:.200}", advice=f"It has: {excerpt(', '.join(labels[:MOST_ITEMS]), 2_000)}"
    )


def _find_trial(view: ReportView, suite: str, case: str, repeat: int) -> CaseResult:
    index = next(each.index for each in view.suites if each.label == suite)
    trial = _find_case(view.trials.read_suite(index), case, repeat)
    if trial is not None:
        return trial
    names = [each.hash for each in islice(view.trials.read_suite(index), 100_000)]
    near = get_close_matches(case, names, 3)
    raise UsageError(
        f"suite {suite!r:.200} has no case {case!r:.200} with repeat {repeat}",
        advice=f"Did you mean {', '.join(near)}?" if near else f"It has {len(names):,} trials.",
    )


def _find_case(cases: Iterable[CaseResult], case: str, repeat: int) -> CaseResult | None:
    return next((each for each in cases if each.repeat == repeat and case in (each.hash, each.name)), None)


def _describe_trial(case: CaseResult, view: ReportView) -> dict[str, Any]:
    return {
        "status": str(case.status),
        "output": _show(case.output, view),
        "scores": {
            name: {
                "score": each.score,
                "needs": str(each.threshold) if each.threshold else None,
                "passed": each.passed,
                "reasons": [
                    excerpt(reason, _LONGEST_REASON).removeprefix(_REASON)
                    for reason in list_reasons(each, _LONGEST_REASON)
                ],
            }
            for name, each in islice(case.evaluations.items(), MOST_ITEMS)
        },
        "errors": [
            {"evaluator": each.evaluator, "type": each.error.type, "message": excerpt(each.error.message, 2_000)}
            for each in case.errors[:MOST_ITEMS]
        ],
    }


def _show(value: object, view: ReportView) -> str:
    """A value as text; not shown if the settings forbid outputs."""
    if not view.context.show_outputs:
        return "not shown: show_outputs is none"
    value = show_references(value)
    text = value if isinstance(value, str) else json.dumps(to_json_value(value), ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}… ({len(text):,} characters)"


def _describe_gate(finding: Finding, view: ReportView) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "title": finding.title,
        "conclusion": str(finding.conclusion),
        "suite": finding.suite,
        "evaluator": finding.evaluator,
        "value": finding.value,
        "limit": finding.limit,
        "set_by": finding.origin,
        "next": reproduce_finding(finding, view),
    }


def _clean(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as values that JSON and UTF-8 can represent."""
    cleaned: dict[str, Any] = to_json_value(answer)
    return cleaned
