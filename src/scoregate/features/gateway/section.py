"""The section of the calls of models: rows by suite, evaluator and model, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.features.gateway.view import CallsRow, CallsTable, build_calls_table
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.types.slots import Place, Section

if TYPE_CHECKING:
    from scoregate.kernel.report.view import ReportView


def build_sections(judged: Judged) -> Iterator[Section]:
    """The section of a comparison."""
    comparison = judged.comparison
    table = build_calls_table(comparison.run, comparison.base)
    yield Section(
        "gateway",
        Place.COSTS,
        title="Calls of models",
        anchor="calls",
        content=table,
        comment="features/gateway/comment.md.j2" if table.rows else "",
        page="features/gateway/page.html.j2" if table.rows else "",
        terminal=partial(_print_calls, table) if table.rows else None,
        data={"model_calls": [_row_data(row) for row in table.rows]},
    )


def _print_calls(table: CallsTable, _: ReportView, full: bool, __: str) -> Iterable[Any]:
    from scoregate.features.gateway.terminal import list_calls

    return list_calls(table, full=full)


def _row_data(row: CallsRow) -> dict[str, Any]:
    data = asdict(row.counts)
    script = data.pop("suite")
    base = None if row.base is None else {"calls": row.base.calls, "cost": row.base.cost}
    return {"suite": row.suite, "script": script, **data, "base": base}
