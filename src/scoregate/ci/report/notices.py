"""What a reader should know besides the numbers: why something is not compared, what changed, who is waited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scoregate.ci.archive import CASES_FILE
from scoregate.ci.report import numbers
from scoregate.ci.report.context import Context
from scoregate.core.compare import Comparison
from scoregate.core.naming import natural
from scoregate.core.record import Run, SuiteResult
from scoregate.core.rows import Row

_SHOWN = 5


def notices(comparison: Comparison, context: Context) -> Iterator[str]:
    """Sentences, the most important first. They hold untrusted names."""
    if _is_empty(comparison.run):
        yield "No suites were found. `scoregate init` writes a first one."
    if comparison.base is None:
        yield from _no_base(comparison, context)
    else:
        yield from _of_base(comparison.base)
    if comparison.run.dirty:
        yield "The run was made with uncommitted changes."
    if (left_out := len(comparison.gone) - len(comparison.missed)) and comparison.run.filters:
        yield f"{numbers.count(left_out, 'suite')} of the base left out by a filter."
    changes = _changes(comparison.rows)
    for suite in sorted(comparison.run.suites, key=lambda suite: (natural(suite.label), suite.label)):
        yield from _of_suite(suite, changes.get(suite.label, ""), context)
    if unchecked := sorted({row.evaluator for row in comparison.rows if row.n and not row.checked}):
        yield f"Whether these evaluators themselves changed could not be checked: {_listed(unchecked)}."
    yield from _unpriced(comparison.run)
    yield from comparison.run.notices


def _unpriced(run: Run) -> Iterator[str]:
    """Where nothing has a price there is no cost that could be taken for all."""
    models = sorted({model for suite in run.suites for model in suite.unpriced})
    if models and any(suite.cost for suite in run.suites):
        yield f"No price is known of {_listed(models)}: it is in no cost. The setting `prices` takes one."


def _is_empty(run: Run) -> bool:
    """Whether there was nothing to run, rather than something that was left out or came to nothing."""
    return not (run.suites or run.scripts or run.filters or run.skipped or run.left_out)


def _no_base(comparison: Comparison, context: Context) -> Iterator[str]:
    """Nothing where nobody wanted one."""
    note = comparison.base_note
    if comparison.base_unreadable:
        yield f"The base could not be read ({note}): only limits that need no base were applied."
    elif note and not (context.run or context.base_branch):
        yield f"Compared with nothing: {note}."
    elif note:
        told = f"There is nothing to compare with yet ({note}): only limits that need no base were applied."
        yield f"{told} The next run on {context.base_branch} makes one." if context.base_branch else told


def _of_base(base: Run) -> Iterator[str]:
    damage = [notice for notice in base.notices if notice.startswith(CASES_FILE)]
    yield from (f"Of the base, {notice}." for notice in damage)
    if not base.complete:
        yield f"The base run {'is damaged' if damage else 'never finished'}: what it lacks is not compared."


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _of_suite(suite: SuiteResult, changes: str, context: Context) -> Iterator[str]:
    if waiting := suite.columns.pending + len(suite.reviews):
        how = f"; judge with: {context.shows_with('review')}" if suite.columns.contested else ""
        yield f"{suite.label}: {numbers.count(waiting, 'evaluation')} waiting for a person{how}."
    if changes:
        yield f"{suite.label}: {changes} since the base; only cases of both runs are compared."


def _changes(rows: Iterable[Row]) -> dict[str, str]:
    """What is different about the cases of each suite; every compared row of a suite says the same."""
    return {row.suite: told for row in rows if (told := _change(row))}


def _change(row: Row) -> str:
    counts = {"added": row.added, "removed": row.removed, "changed in definition": row.changed}
    return ", ".join(f"{numbers.count(count, 'case')} {what}" for what, count in counts.items() if count)
