"""Slices in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from scoregate.features.slices.keys import UncomparedValues
from scoregate.features.slices.view import SliceView
from scoregate.kernel.report.console_sections import explain_row, format_delta, make_table
from scoregate.kernel.report.console_text import format_place, mark, safe_text
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs import number_format

_SLICES = 5


def list_slices(
    rows: Sequence[SliceView],
    worst: Sequence[SliceView],
    uncompared: Sequence[UncomparedValues],
    view: ReportView,
    *,
    full: bool,
    rest: str,
) -> Iterator[RenderableType]:
    """The slices that are worse or miss a gate, worst first.

    Args:
        rows: all slices.
        worst: those that were compared or miss a gate.
        uncompared: the values that are not compared.
        view: the view of the report.
        full: list every slice.
        rest: where readers find the rest, such as `: see report.html`.
    """
    slices = rows if full else tuple(each for each in worst if each.is_bad)[:_SLICES]
    hidden = len(rows) - len(slices)
    if not slices:
        compared = number_format.count(len(worst), "score")
        text = f"none of {compared} is worse" if worst else "no score could be compared"
        yield from (Text(f"slices: {text}{rest}", style="dim"), Text())
        return
    names = [Text(safe_text(each.name)) for each in slices]
    columns = {"n": [Text(f"{each.view.row.n or each.cases:,}") for each in slices]}
    if view.base:
        columns["baseline"] = [Text(each.view.base) for each in slices]
    columns["PR" if view.context.pull_request else "now"] = [Text(each.view.mean) for each in slices]
    if view.base:
        columns["delta"] = [Text(format_delta(each.view)) for each in slices]
    table = make_table("slice", columns)
    table.add_column("", overflow="fold")
    for index, each in enumerate(slices):
        cells = [texts[index] for texts in columns.values()]
        where = Text(format_place(each.view.row.suite, each.view.row.evaluator), style="dim")
        explanation = explain_row(each.view, view)
        table.add_row(mark(each.view.state), names[index], *cells, where.append("  ").append_text(explanation))
    yield table
    if hidden:
        yield Text(f"… {number_format.count(hidden, 'more score')} of slices{rest}", style="dim")
    for left_out in uncompared[:_SLICES]:
        values = number_format.count(left_out.values, "value")
        text = f"{safe_text(left_out.field)} in {safe_text(left_out.suite)}: {values} with the fewest cases left out"
        yield Text(text, style="dim")
    yield Text()
