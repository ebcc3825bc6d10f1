"""Suites with some of their cases only, as a comparison needs them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scoregate.kernel.types.runs.evidence import TrialOrigin, Use, list_sources
from scoregate.kernel.types.runs.run import Run, SuiteResult

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison_rows import Row


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
        known, source = suite.evidence, suite.trials.find_run(TrialOrigin.KEPT)
        if known.counts_all(Use.TEST) or not known.counts(Use.TEST):
            continue
        kept = {suite.columns.hashes[row] for row in known.rows_without(Use.TEST)}
        measured = without_cases(suite, kept)
        if len(measured.columns) or source is None:
            suites[index] = measured
            others[index] = [without_cases(each, kept) for each in others.get(index, ())]
        else:  # rows were only removed, so no case ran
            suites[index] = replace(suite, trials=replace(suite.trials, sources=list_sources(carried=source)))
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
            cases=replace(row.cases, kept=len(suite.evidence.rows_without(Use.TEST))),
        )


def without_cases(suite: SuiteResult, cases: Collection[str]) -> SuiteResult:
    """The suite without the cases with some hashes: the same object if it has none of them."""
    return suite.without_rows({row for row, case in enumerate(suite.columns.hashes) if case in cases})
