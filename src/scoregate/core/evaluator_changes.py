"""What became of the base's evaluators: those that are missing, that were replaced, and whose thresholds are lower."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from scoregate.core.cases import Columns
from scoregate.core.comparison import Comparison
from scoregate.core.comparison_rows import describe_fingerprint_change
from scoregate.core.evaluation import Threshold
from scoregate.core.run import SuiteResult


class Change(StrEnum):
    """How an evaluator differs from the base's."""

    REMOVED = "removed"
    REPLACED = "changed"
    LOWERED = "with a lower threshold"


@dataclass(frozen=True, slots=True)
class EvaluatorChange:
    """One evaluator of a suite, by the suite's index, and in words how it differs from the base's."""

    suite: int
    evaluator: str
    change: Change
    what: str


def find_evaluator_changes(comparison: Comparison) -> tuple[EvaluatorChange, ...]:
    """Every change by which scores or cases may pass that didn't in the base."""
    if comparison.base is None:
        return ()
    run, base = comparison.run, comparison.base
    return tuple(
        EvaluatorChange(at, name, change, what)
        for at, old in comparison.pairs
        for name, change, what in _suite_changes(run.suites[at], base.suites[old])
    )


def _suite_changes(suite: SuiteResult, base: SuiteResult) -> Iterator[tuple[str, Change, str]]:
    for name, old in base.evaluators.items():
        if (new := suite.evaluators.get(name)) is None:
            yield name, Change.REMOVED, "it is missing"
            continue
        if what := describe_fingerprint_change(new, old):
            yield name, Change.REPLACED, what
        if lowered := _count_lowered(suite.columns, base.columns, name):
            cases = "1 case" if lowered == 1 else f"{lowered:,} cases"
            yield name, Change.LOWERED, f"its threshold is lower, or gone, in {cases}"


def _count_lowered(new: Columns, old: Columns, evaluator: str) -> int:
    """The number of cases in which a score would pass that would have failed in the base.

    A case that the base has not, or has in another definition, may have any threshold that the evaluator has there.
    """
    there = {old.hashes[row]: (old.digests[row], old.threshold(evaluator, row)) for row in _scored_rows(old, evaluator)}
    if not there:
        return 0
    known = {threshold for _, threshold in there.values()}
    found = set()
    for row in _scored_rows(new, evaluator):
        threshold, digest = new.threshold(evaluator, row), new.digests[row]
        before = there.get(new.hashes[row])
        same = before is not None and (not digest or not before[0] or digest == before[0])
        allowed = {before[1]} if before is not None and same else known
        if all(_is_lower(threshold, each) for each in allowed):
            found.add(new.hashes[row])
    return len(found)


def _scored_rows(columns: Columns, evaluator: str) -> Iterator[int]:
    return (row for row, score in enumerate(columns.scores.get(evaluator, ())) if isfinite(score))


def _is_lower(new: Threshold | None, old: Threshold | None) -> bool:
    return _lower_bound(new) < _lower_bound(old) or _upper_bound(new) > _upper_bound(old)


def _lower_bound(threshold: Threshold | None) -> tuple[float, int]:
    """The least score that passes; with 1 only those above it."""
    given = threshold or Threshold()
    bounds = [(bound, strict) for bound, strict in ((given.gte, 0), (given.gt, 1)) if bound is not None]
    return max([(0.0, 0), *bounds])


def _upper_bound(threshold: Threshold | None) -> tuple[float, int]:
    """The greatest score that passes; with -1 only those below it."""
    given = threshold or Threshold()
    bounds = [(bound, strict) for bound, strict in ((given.lte, 0), (given.lt, -1)) if bound is not None]
    return min([(1.0, 0), *bounds])
