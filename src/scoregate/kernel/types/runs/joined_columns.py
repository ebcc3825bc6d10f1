"""The trials of a suite with those of another run of it, as further repeats of their cases."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TypeVar

from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.runs.case_columns import MISSING, Columns
from scoregate.kernel.types.runs.text_column import TextColumn

_V = TypeVar("_V")


def count_repeats(columns: Columns) -> int:
    """The number of a repeat that no trial has yet."""
    return max(columns.repeats, default=-1) + 1


def join_columns(columns: Columns, other: Columns, rows: Sequence[int], source: int) -> Columns:
    """The trials of a suite, and after them some of another run, whose repeats are numbered on.

    Labels are counted over both runs if all trials are added. What has no score, and what waits for people, is that of
    the first run.

    Args:
        columns: the trials of the suite.
        other: those of the same suite in the other run.
        rows: the places of the trials that are added, in order.
        source: the number of their source, see `Trials`.
    """
    part, first, size = other.select(rows), count_repeats(columns), len(columns)
    names = dict.fromkeys((*columns.scores, *part.scores))
    scores = {name: _join(columns.scores.get(name, ()), size, part.scores.get(name, ()), len(part)) for name in names}
    thresholds = {**part.thresholds, **columns.thresholds}
    return replace(
        columns,
        hashes=[*columns.hashes, *part.hashes],
        repeats=array("l", [*columns.repeats, *(first + repeat for repeat in part.repeats)]),
        digests=TextColumn([*columns.digests, *part.digests]),
        statuses=columns.statuses + part.statuses,
        durations_ms=_join(columns.durations_ms, size, part.durations_ms, len(part)),
        costs=_join(columns.costs, size, part.costs, len(part)),
        tokens=_join(columns.tokens, size, part.tokens, len(part)),
        tags=_join_values(columns.tags, size, part.tags),
        clusters=_join_values(columns.clusters, size, part.clusters),
        scores=scores,
        labels=_add_labels(columns.labels, other.labels) if len(part) == len(other) else columns.labels,
        failed=_join_rows(columns.failed, size, part.failed),
        judged=dict(Counter(columns.judged) + Counter(_count_judged(part))),
        errored=_join_rows(columns.errored, size, part.errored),
        unscaled=_join_rows(columns.unscaled, size, part.unscaled),
        answers={
            name: _join_values(columns.answers.get(name, {}), size, part.answers.get(name, {}))
            for name in {**columns.answers, **part.answers}
        },
        cached=columns.cached | _move(part.cached, size),
        partly_paid=columns.partly_paid | _move(part.partly_paid, size),
        sources=bytearray(columns.sources or bytes(size)) + bytearray([source] * len(part)),
        deferred={
            name: array("l", [*columns.deferred.get(name, ()), *sorted(_move(part.deferred.get(name, ()), size))])
            for name in {**columns.deferred, **part.deferred}
        },
        thresholds=thresholds,
        other_thresholds=_join_thresholds(columns, part, thresholds),
    )


def _join(values: Sequence[float], size: int, others: Sequence[float], other_size: int) -> array[float]:
    """Two columns, each as long as its trials."""
    joined = array("d", values)
    joined.extend([MISSING] * (size - len(joined)))
    joined.extend(others)
    joined.extend([MISSING] * (size + other_size - len(joined)))
    return joined


def _move(rows: Iterable[int], size: int) -> set[int]:
    return {size + row for row in rows}


def _join_rows(rows: Mapping[str, set[int]], size: int, others: Mapping[str, set[int]]) -> dict[str, set[int]]:
    return {name: rows.get(name, set()) | _move(others.get(name, ()), size) for name in {**rows, **others}}


def _join_values(values: Mapping[int, _V], size: int, others: Mapping[int, _V]) -> dict[int, _V]:
    return {**values, **{size + row: value for row, value in others.items()}}


def _add_labels(
    labels: Mapping[str, dict[str, int]], others: Mapping[str, dict[str, int]]
) -> dict[str, dict[str, int]]:
    names = {**labels, **others}
    return {name: dict(Counter(labels.get(name, {})) + Counter(others.get(name, {}))) for name in names}


def _count_judged(columns: Columns) -> dict[str, int]:
    """The number of scores with a threshold, by evaluator."""
    return {
        name: sum(
            1
            for row, score in enumerate(scores)
            if isfinite(score)
            and (limit := columns.threshold(name, row)) is not None
            and limit.holds(score) is not None
        )
        for name, scores in columns.scores.items()
    }


def _join_thresholds(
    columns: Columns, part: Columns, thresholds: Mapping[str, Threshold | None]
) -> dict[str, dict[int, Threshold | None]]:
    """The thresholds that differ from the first one of their evaluator."""
    size = len(columns)
    joined = {name: dict(rows) for name, rows in columns.other_thresholds.items()}
    for name, first in part.thresholds.items():
        if first == thresholds[name] and name not in part.other_thresholds:
            continue
        for row in range(len(part)):
            if (own := part.threshold(name, row)) != thresholds[name]:
                joined.setdefault(name, {})[size + row] = own
    return joined
