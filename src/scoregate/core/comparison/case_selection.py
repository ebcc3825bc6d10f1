"""Suites with some of their cases only, as a comparison needs them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from scoregate.core.runs.case_columns import Columns
from scoregate.core.runs.evidence import Use
from scoregate.core.runs.run import Run, SuiteResult
from scoregate.core.runs.text_column import TextColumn

if TYPE_CHECKING:
    from scoregate.core.comparison.comparison_rows import Row

_V = TypeVar("_V")


def exclude_kept_cases(
    run: Run, baselines: Mapping[int, Sequence[SuiteResult]]
) -> tuple[Run, dict[int, list[SuiteResult]]]:
    """The run and its baselines without the cases that keep the base's results.

    Args:
        run: the run.
        baselines: the suite in each run of the baseline, by the place of the run's suite.
    """
    suites, others = list(run.suites), {index: list(known) for index, known in baselines.items()}
    for index, suite in enumerate(run.suites):
        known = suite.evidence
        if known.counts_all(Use.TEST) or not known.counts(Use.TEST):
            continue
        kept = {suite.columns.hashes[row] for row in known.rows_without(Use.TEST)}
        measured = _without_cases(suite, kept)
        if not len(measured.columns):  # rows were only removed, so no case ran
            suites[index] = replace(suite, carried=suite.kept)
            continue
        suites[index] = measured
        others[index] = [_without_cases(each, kept) for each in others.get(index, ())]
    return replace(run, suites=tuple(suites)), {index: known for index, known in others.items() if known}


def add_kept_means(rows: Iterable[Row], run: Run, base: Run, pairs: Iterable[tuple[int, int]]) -> Iterator[Row]:
    """Rows of measured cases with the means of all cases, as gates count them.

    Args:
        rows: the rows of a comparison.
        run: the run with all of its cases.
        base: the baseline with all of its cases.
        pairs: the places of the suites that were measured, in the run and in the baseline.
    """
    kept = {suite.label: (suite, base.suites[base_index])
            for suite, base_index in ((run.suites[index], base_index) for index, base_index in pairs)
            if suite.evidence.counts_all(Use.MEANS) and not suite.evidence.counts_all(Use.TEST)}  # fmt: skip
    for row in rows:
        if row.suite not in kept:
            yield row
            continue
        suite, other = kept[row.suite]
        yield replace(
            row,
            mean=None if row.mean is None else suite.mean(row.evaluator),
            base=None if row.base is None else other.mean(row.evaluator),
            kept=len(suite.evidence.rows_without(Use.TEST)),
        )


def _without_cases(suite: SuiteResult, cases: Collection[str]) -> SuiteResult:
    rows = [row for row, case in enumerate(suite.columns.hashes) if case not in cases]
    return replace(suite, columns=select_rows(suite.columns, rows))


def select_rows(columns: Columns, rows: Sequence[int]) -> Columns:
    """The columns with some of their rows only, as a comparison needs them: without counts of labels and reviews.

    Args:
        columns: the columns.
        rows: the places of the rows, in order.
    """
    places = {row: index for index, row in enumerate(rows)}

    def move(chosen: Iterable[int]) -> set[int]:
        return {places[row] for row in chosen if row in places}

    def move_values(values: dict[int, _V]) -> dict[int, _V]:
        return {places[row]: value for row, value in values.items() if row in places}

    def pick(values: array[float]) -> array[float]:
        return array("d", (values[row] for row in rows) if len(values) else ())

    return Columns(
        hashes=[columns.hashes[row] for row in rows],
        repeats=array("l", (columns.repeats[row] for row in rows)),
        digests=TextColumn(columns.digests[row] for row in rows),
        statuses=bytearray(columns.statuses[row] for row in rows),
        durations_ms=pick(columns.durations_ms),
        costs=pick(columns.costs),
        tokens=pick(columns.tokens),
        tags=move_values(columns.tags),
        clusters=move_values(columns.clusters),
        scores={name: array("d", (columns.score(name, row) for row in rows)) for name in columns.scores},
        failed={name: move(chosen) for name, chosen in columns.failed.items()},
        errored={name: move(chosen) for name, chosen in columns.errored.items()},
        unscaled={name: move(chosen) for name, chosen in columns.unscaled.items()},
        answers={name: move_values(known) for name, known in columns.answers.items()},
        cached=move(columns.cached),
        partly_paid=move(columns.partly_paid),
        deferred={name: array("l", sorted(move(chosen))) for name, chosen in columns.deferred.items()},
        thresholds=columns.thresholds,
        other_thresholds={name: move_values(known) for name, known in columns.other_thresholds.items()},
    )
