"""Whether the stored results of a suite or a trial can be reused, and the reason if not."""

from __future__ import annotations

from collections.abc import Mapping

from scoregate.core.cases import CaseResult
from scoregate.core.event_values import EvaluatorInfo
from scoregate.core.fingerprint_changes import describe_fingerprint_change

FAILED = "met an error"
WAITING = "wait for a person"
CHANGED = "changed in definition"
GONE = "are no longer in the suite"


def suite_reuse_problem(new: Mapping[str, EvaluatorInfo], old: Mapping[str, EvaluatorInfo]) -> str:
    """Why the results of a suite can't be reused.

    Args:
        new: the evaluators that the suite has now.
        old: the evaluators that gave the stored results.

    Returns:
        The reason; empty if the evaluators are the same.
    """
    if new.keys() != old.keys():
        return "its evaluators changed"
    for name, info in new.items():
        mark = info.fingerprint
        if info.battles:
            return f"{info.id} compares outputs with baseline outputs, which may have changed"
        if mark is None or (mark.source is None and mark.prompt is None):
            return f"it can't be checked whether {info.id} has changed"
        if info != old[name]:
            return f"{info.id}: {describe_fingerprint_change(info, old[name]) or 'it changed'}"
    return ""


def trial_reuse_problem(case: CaseResult) -> str:
    """Why a stored trial can't be reused, independent of its suite; empty if it can."""
    if case.errors:
        return FAILED
    return WAITING if case.pending else ""
