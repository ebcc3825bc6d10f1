"""Which run results are reused from, and whether those of a suite or a trial can be; the reason if not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.slots import Slot


@record
class ReusedRun:
    """An earlier run whose results another run reuses. Times are in seconds since the epoch."""

    id: str
    started: float
    finished: float
    attempt: int = 1


REUSED_FROM: Slot[ReusedRun] = Slot("reused_from", ReusedRun)
"""The run that reused results come from."""
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
    if not all(_find_same(info, new) for info in old.values()):
        return "its scorers changed"
    for info in new.values():
        mark = info.fingerprint
        if info.battles:
            return f"{info.id} compares outputs with baseline outputs, which may have changed"
        if mark is None or (mark.source is None and mark.prompt is None):
            return f"it can't be checked whether {info.id} has changed"
        if (known := _find_same(info, old)) is None:
            return "its scorers changed"
        if replace(known, id=info.id) != info:
            return f"{info.id}: {describe_fingerprint_change(info, known) or 'it changed'}"
    return ""


def _find_same(info: EvaluatorInfo, others: Mapping[str, EvaluatorInfo]) -> EvaluatorInfo | None:
    """The same evaluator in another run.

    An evaluator with several scores is declared as `checks`, and its scores are recorded as `checks.polite`. A run that
    was stopped may have only some of them.
    """
    if info.id in others:
        return others[info.id]
    start, _, _ = info.id.rpartition(".")
    for name, other in others.items():
        if name.startswith(f"{info.id}.") or info.id.startswith(f"{name}."):
            return other
        if start and name.startswith(f"{start}.") and replace(other, id=info.id) == info:
            return other
    return None


def trial_reuse_problem(case: CaseResult) -> str:
    """Why a stored trial can't be reused, independent of its suite; empty if it can."""
    if case.errors:
        return FAILED
    return WAITING if case.pending else ""
