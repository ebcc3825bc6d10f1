"""The report in the Common Test Report Format (CTRF): a test for every trial and every gate, in JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.excerpts import format_score, list_reasons
from scoregate.kernel.report.junit import list_confirmations
from scoregate.kernel.report.result_json import to_json_value
from scoregate.kernel.report.suites import SuiteView
from scoregate.kernel.report.text import display_name, excerpt, one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult, Status
from scoregate.kernel.types.runs.confirmations import Confirmation, ConfirmationOutcome

SPEC_VERSION = "1.0.0"
_GATES = "scoregate gates"
_MESSAGE, _TRACE = 2_000, 32 * 1024
# What a status of a trial is in CTRF: a trial that can't fail passes, as in the JUnit report.
_STATES: Mapping[Status, str] = {
    Status.PASSED: "passed",
    Status.SCORED: "passed",
    Status.FAILED: "failed",
    Status.ERRORED: "failed",
    Status.UNSCORED: "skipped",
}
_CONCLUSIONS: Mapping[Conclusion, str] = {
    Conclusion.PASSED: "passed",
    Conclusion.FAILED: "failed",
    Conclusion.UNMEASURABLE: "other",
}


def render(view: ReportView) -> Iterator[str]:
    """Yield the report, one test at a time. The counts follow the tests, so cases are read once."""
    finished = datetime.fromtimestamp(view.run.finished, UTC)
    head = {"reportFormat": "CTRF", "specVersion": SPEC_VERSION, "timestamp": finished.isoformat()}
    tool = {"name": "scoregate", "version": view.run.version}
    yield f'{_dump(head | {"generatedBy": "scoregate"})[:-1]}, "results": {{"tool": {_dump(tool)}, "tests": [\n'
    states = Counter[str]()
    flaky = 0
    for number, test in enumerate(_list_tests(view)):
        states[test["status"]] += 1
        flaky += test.get("flaky", False)
        yield f"{',' if number else ''}{_dump(test)}\n"
    counts = {name: states[name] for name in ("passed", "failed", "skipped", "pending", "other")}
    start = int(view.run.started * 1000)
    duration = int((view.run.finished - view.run.started) * 1000)
    times = {"start": start, "stop": start + duration, "duration": duration}
    summary = {"tests": states.total(), **counts, "flaky": flaky, "suites": len(view.suites) + 1, **times}
    extra = {"conclusion": str(view.verdict.conclusion), "exit_code": view.verdict.exit_code, "title": view.title}
    yield f'], "summary": {_dump(summary | {"extra": extra})}}}}}\n'


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(to_json_value(value), ensure_ascii=False, allow_nan=False)


def _list_tests(view: ReportView) -> Iterator[dict[str, Any]]:
    confirmed = [list_confirmations(suite, view) for suite in view.suites]
    for case in view.trials.read():
        yield _build_trial(case, view.suites[case.suite], confirmed[case.suite])
    yield from (_build_gate(finding) for finding in view.findings)
    yield from (_build_gate(finding, warns=True) for finding in view.verdict.warnings)


def _build_trial(case: CaseResult, suite: SuiteView, confirmed: Mapping[CaseKey, Confirmation]) -> dict[str, Any]:
    shown = display_name(case.name or case.hash, 300)
    test = {
        "name": f"{shown} [repeat {case.repeat}]" if case.repeat else shown,
        "status": "pending" if case.pending and case.status is not Status.FAILED else _STATES[case.status],
        "duration": int(case.duration_ms or 0),
        "suite": [display_name(suite.label, 300)],
        "rawStatus": str(case.status),
        "extra": {
            "case": case.hash,
            "repeat": case.repeat,
            "scores": {name: evaluation.score for name, evaluation in case.evaluations.items()},
        },
    }
    if message := one_line("; ".join(_list_messages(case)), _MESSAGE):
        test["message"] = message
    if traces := [error.error.traceback for error in case.errors if error.error.traceback]:
        test["trace"] = excerpt("\n".join(traces), _TRACE)
    if case.tags:
        test["tags"] = list(case.tags)
    if (origin := case.origin or suite.origin) is not None:
        test["filePath"] = one_line(origin.file, 1000)
    if case.origin is not None:
        test["line"] = case.origin.line
    return test | _build_attempts(confirmed.get(case.key))


def _build_attempts(tried: Confirmation | None) -> dict[str, Any]:
    """The further attempts at a case that failed newly; flaky if it passed in the end."""
    if tried is None:
        return {}
    outcomes = [False, *tried.tries]
    attempts = [
        {"attempt": number, "status": "passed" if passed else "failed"} for number, passed in enumerate(outcomes, 1)
    ]
    is_flaky = tried.outcome is ConfirmationOutcome.CLEARED
    status = {"status": "passed", "flaky": True} if is_flaky else {}
    return {"retries": len(tried.tries), "retryAttempts": attempts, **status}


def _list_messages(case: CaseResult) -> Iterable[str]:
    for name, evaluation in case.evaluations.items():
        if evaluation.passed is False:
            score = format_score(evaluation.score, evaluation.threshold)
            reasons = "; ".join(list_reasons(evaluation, _MESSAGE))
            yield f"{display_name(name)} {score}, not {evaluation.threshold}" + (f" ({reasons})" if reasons else "")
    for error in case.errors:
        yield f"{display_name(error.evaluator)}: {error.error.message}" if error.evaluator else error.error.message


def _build_gate(finding: Finding, *, warns: bool = False) -> dict[str, Any]:
    where = [display_name(part) for part in (finding.suite, finding.evaluator) if part is not None]
    message = f"{one_line(finding.value, 500)}, required: {one_line(finding.limit, 200)}"
    return {
        "name": ": ".join([" · ".join(where), finding.rule]) if where else one_line(finding.rule, 200),
        "status": "skipped" if warns else _CONCLUSIONS[finding.conclusion],
        "duration": 0,
        "suite": [_GATES],
        "message": f"only a warning: {message}" if warns else message,
        "extra": {"set_by": one_line(finding.origin, 500)},
    }
