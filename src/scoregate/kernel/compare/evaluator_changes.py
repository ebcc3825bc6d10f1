"""Changes of the baseline's evaluators: removed, replaced, or with a lower threshold."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from math import isfinite

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns


class EvaluatorChangeKind(StrEnum):
    """How an evaluator differs from the baseline's."""

    REMOVED = "removed"
    REPLACED = "changed"
    LOWERED = "with a lower threshold"


@record
class EvaluatorChange:
    """A change of one evaluator: the index of its suite in the run, its id, and a description in `what`."""

    suite: int
    evaluator: str
    change: EvaluatorChangeKind
    what: str


def find_evaluator_changes(comparison: Comparison) -> tuple[EvaluatorChange, ...]:
    """Find every change that lets scores or cases pass that fail in the baseline."""
    if comparison.base is None:
        return ()
    changes = []
    for index, base_index in comparison.pairs:
        suite, base_suite = comparison.run.suites[index], comparison.base.suites[base_index]
        for name, old in base_suite.evaluators.items():
            if (new := suite.evaluators.get(name)) is None:
                changes.append(EvaluatorChange(index, name, EvaluatorChangeKind.REMOVED, "it is missing"))
                continue
            if description := describe_fingerprint_change(new, old):
                changes.append(EvaluatorChange(index, name, EvaluatorChangeKind.REPLACED, description))
            if count := _count_lowered_thresholds(suite.columns, base_suite.columns, name):
                cases = "1 case" if count == 1 else f"{count:,} cases"
                description = f"its threshold is lower, or gone, in {cases}"
                changes.append(EvaluatorChange(index, name, EvaluatorChangeKind.LOWERED, description))
    return tuple(changes)


def _count_lowered_thresholds(new: Columns, old: Columns, evaluator: str) -> int:
    """The number of cases in which a score passes that fails in the baseline.

    A case that the baseline doesn't have, or has with another definition, may have any threshold that the evaluator
    has in the baseline.
    """
    if _has_equal_thresholds(new, old, evaluator):
        return 0
    base_rows = _scored_rows(old, evaluator)
    base_cases = {old.hashes[row]: (old.digests[row], old.threshold(evaluator, row)) for row in base_rows}
    if not base_cases:
        return 0
    base_thresholds = {threshold for _, threshold in base_cases.values()}
    lowered = set()
    for row in _scored_rows(new, evaluator):
        allowed = base_thresholds
        if new.hashes[row] in base_cases:
            base_digest, base_threshold = base_cases[new.hashes[row]]
            if not new.digests[row] or not base_digest or new.digests[row] == base_digest:
                allowed = {base_threshold}
        lowest, highest = _passing_range(new.threshold(evaluator, row))
        ranges = [_passing_range(threshold) for threshold in allowed]
        if all(lowest < base_lowest or highest > base_highest for base_lowest, base_highest in ranges):
            lowered.add(new.hashes[row])
    return len(lowered)


def _has_equal_thresholds(new: Columns, old: Columns, evaluator: str) -> bool:
    """Whether all scores of both sides have the same threshold."""
    varies = new.other_thresholds.get(evaluator) or old.other_thresholds.get(evaluator)
    return not varies and new.thresholds.get(evaluator) == old.thresholds.get(evaluator)


def _scored_rows(columns: Columns, evaluator: str) -> Iterator[int]:
    return (row for row, score in enumerate(columns.scores.get(evaluator, ())) if isfinite(score))


@lru_cache(maxsize=1024)
def _passing_range(threshold: Threshold | None) -> tuple[tuple[float, int], tuple[float, int]]:
    """The lowest and the highest score that pass; (bound, 1) means above the bound, (bound, -1) below it."""
    given = threshold or Threshold()
    lowest = [(bound, strict) for bound, strict in ((given.gte, 0), (given.gt, 1)) if bound is not None]
    highest = [(bound, strict) for bound, strict in ((given.lte, 0), (given.lt, -1)) if bound is not None]
    return max([(0.0, 0), *lowest]), min([(1.0, 0), *highest])
