"""A finished run as it is by now: what became of its trials since, in the place of what they were."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from scoregate.core.case import CaseResult
from scoregate.core.columns import Columns
from scoregate.core.record import Run, SuiteResult

Revise = Callable[[CaseResult], CaseResult]
_Read = Callable[[], Iterable[CaseResult]]


def revised(run: Run, revise: Revise) -> Run:
    """The run whose every trial is what `revise` makes of it; its cases are read once for that, and stay on disk."""
    columns = [Columns() for _ in run.suites]
    for case in run.cases:
        columns[case.suite].add(revise(case))
    suites = (_suite(suite, found, revise) for suite, found in zip(run.suites, columns, strict=True))
    return replace(run, suites=tuple(suites), read=_reading(run.read, revise))


def _suite(suite: SuiteResult, columns: Columns, revise: Revise) -> SuiteResult:
    return replace(suite, columns=columns, read=_reading(suite.read, revise))


def _reading(read: _Read | None, revise: Revise) -> _Read | None:
    if read is None:
        return None

    def cases() -> Iterator[CaseResult]:
        return map(revise, read())

    return cases
