"""Which stored results hold for a run that measures the same: decided for each suite and each trial, with a reason."""

from __future__ import annotations

from collections.abc import Mapping

from scoregate.core.cases import CaseResult
from scoregate.core.comparison_rows import describe_fingerprint_change
from scoregate.core.events import EvaluatorInfo

FAILED = "met an error"
WAITING = "wait for a person"
CHANGED = "changed in definition"
GONE = "are no longer in the suite"


def suite_reuse_problem(now: Mapping[str, EvaluatorInfo], then: Mapping[str, EvaluatorInfo]) -> str:
    """Why no result of a suite holds under the evaluators that it has now; empty if they are the same."""
    if now.keys() != then.keys():
        return "its evaluators are others"
    return next(filter(None, (_evaluator_reuse_problem(now[name], then[name]) for name in now)), "")


def _evaluator_reuse_problem(now: EvaluatorInfo, then: EvaluatorInfo) -> str:
    mark = now.fingerprint
    if now.battles:
        return f"{now.id} compares outputs with those of a champion, which may be another"
    if mark is None or (mark.source is None and mark.prompt is None):
        return f"it can't be checked whether {now.id} has changed"
    return "" if now == then else f"{now.id}: {describe_fingerprint_change(now, then) or 'it changed'}"


def trial_reuse_problem(case: CaseResult) -> str:
    """Why a stored trial is no result to be reused, whatever the suite is like now; empty if it is one."""
    if case.errors:
        return FAILED
    return WAITING if case.pending else ""
