"""What a reader should know besides the numbers: why something is not compared, what changed, who is waited for."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate.ci.report import numbers
from scoregate.ci.report.context import Context
from scoregate.core.compare import Comparison
from scoregate.core.record import SuiteResult
from scoregate.core.rows import Row

_SHOWN = 5


def notices(comparison: Comparison, context: Context) -> Iterator[str]:
    """Sentences, the most important first. They hold untrusted names."""
    if comparison.base is None:
        yield _no_base(comparison.base_note, context)
    elif not comparison.base.complete:
        yield "The base run never finished: what it lacks is not compared."
    if comparison.run.dirty:
        yield "The run was made with uncommitted changes."
    if comparison.run.filters and comparison.gone:
        yield f"{numbers.count(len(comparison.gone), 'suite')} of the base left out by a filter."
    for suite in comparison.run.suites:
        yield from _of_suite(suite, comparison.rows_of(suite.label))
    if unchecked := sorted({row.evaluator for row in comparison.rows if row.n and not row.checked}):
        yield f"Whether these evaluators themselves changed could not be checked: {_listed(unchecked)}."
    yield from comparison.run.notices


def _no_base(note: str, context: Context) -> str:
    why = f" ({note})" if note else ""
    told = f"There is nothing to compare with yet{why}: only limits that need no base were applied."
    return f"{told} The next run on {context.base_branch} makes one." if context.base_branch else told


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _of_suite(suite: SuiteResult, rows: tuple[Row, ...]) -> Iterator[str]:
    waiting = suite.columns.pending + len(suite.reviews)
    if waiting:
        yield f"{suite.label}: {numbers.count(waiting, 'evaluation')} waits for a person."
    if changes := _changes(rows):
        yield f"{suite.label}: {changes} since the base; only cases of both runs are compared."


def _changes(rows: tuple[Row, ...]) -> str:
    counts = {
        "added": max((row.added for row in rows), default=0),
        "removed": max((row.removed for row in rows), default=0),
        "changed in definition": max((row.changed for row in rows), default=0),
    }
    return ", ".join(f"{numbers.count(count, 'case')} {what}" for what, count in counts.items() if count)
