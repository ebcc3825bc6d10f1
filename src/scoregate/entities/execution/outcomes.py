"""What came of tests, in the words of runs that are kept: Pass, Fail or Error, and what each metric said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.core.case import CaseResult, Status
from scoregate.core.evaluation import Evaluation, Threshold
from scoregate.core.parts import ErrorInfo
from scoregate.metrics import Metric
from scoregate.store.test_runs import Outcome

_STATUSES: Mapping[Status, Outcome] = {Status.PASSED: "Pass", Status.FAILED: "Fail"}
_UNDECIDED = ErrorInfo("MetricError", "no metric says whether the test passes")


def status_of(case: CaseResult) -> Outcome:
    """Pass where something passes and nothing fails, Fail where something fails, else Error."""
    return _STATUSES.get(case.status, "Error")


def error_of(case: CaseResult) -> ErrorInfo | None:
    """Why there is no pass and no fail: what went wrong first."""
    if case.status in _STATUSES:
        return None
    return next((each.error for each in case.errors), _UNDECIDED)


def measured(case: CaseResult, metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """What metrics said of a test; None where none was asked.

    Args:
        metrics: by their names.
    """
    told = {name: {"name": name, **said, **_about(metrics.get(name))} for name, said in _said(case)}
    return {"execution_time": case.duration_ms, "metrics": told} if told else None


def _said(case: CaseResult) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, evaluation in case.evaluations.items():
        yield name, _result(evaluation)
    for each in case.errors:
        if each.evaluator is not None:
            failed = {"error": each.error.message, "error_type": each.error.type}
            yield each.evaluator, {"score": None, "reason": "", "is_successful": False, **failed}


def _result(evaluation: Evaluation) -> dict[str, Any]:
    more = evaluation.metadata if isinstance(evaluation.metadata, Mapping) else {}
    return {
        "score": more.get("value", evaluation.score),
        "reason": str(more.get("reason", "")),
        "is_successful": evaluation.passed,
        "threshold": _bound(evaluation.threshold),
    }


def _bound(threshold: Threshold | None) -> float | None:
    bounds = (threshold.gte, threshold.gt, threshold.lte, threshold.lt) if threshold else ()
    return next((bound for bound in bounds if bound is not None), None)


def _about(metric: Any) -> dict[str, Any]:
    if not isinstance(metric, Metric):
        return {} if metric is None else {"class_name": type(metric).__name__}
    told = {"class_name": type(metric).__name__, "description": metric.description, "score_type": metric.score_type}
    return {**told, **metric.parameters()}
