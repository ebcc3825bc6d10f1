"""The calls of models in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scoregate.features.gateway.view import CallsRow, CallsTable
from scoregate.kernel.report.console_text import format_place, max_width, safe_text
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.number_format import NONE

_INDENT = (0, 0, 0, 4)
_CALLS, _GAP, _NAME = 200, 2, 26


def list_calls(table: CallsTable, *, full: bool) -> Iterator[RenderableType]:
    """The sums of all calls in one line; `full`: also a line for each suite, evaluator and model."""
    yield Text("calls of models: ", style="bold").append(table.summary, "not bold")
    if full:
        yield CallLines(table)
        if (hidden := len(table.rows) - _CALLS) > 0:
            yield Text(f"… {number_format.count(hidden, 'more row')}: see result.json", style="dim")
    yield Text()


@record
class CallLines:
    """One line for each of the first rows; in a narrow terminal two."""

    table: CallsTable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the rows out for the width of the console."""
        rows = self.table.rows[:_CALLS]
        names = [[format_place(row.suite, row.evaluator) for row in rows], [safe_text(row.model) for row in rows]]
        columns = self._columns(rows)
        used = sum(max_width((title, *cells), options.max_width) + _GAP for title, cells in columns.items())
        if options.max_width - used >= sum(max_width(column, _NAME) + _GAP for column in names):
            grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
            for title in ("suite · scorer", "model"):
                grid.add_column(title, overflow="fold")
            for title in columns:
                grid.add_column(title, justify="right", no_wrap=True)
            for index in range(len(rows)):
                cells = (column[index] for column in (*names, *columns.values()))
                grid.add_row(*map(Text, cells))
            yield grid
            return
        for index in range(len(rows)):
            yield Text(f"{names[0][index]}  {names[1][index]}")
            parts = (f"{title} {cells[index]}" for title, cells in columns.items() if cells[index] not in ("", NONE))
            yield Padding(Text("  ".join(parts)), _INDENT, expand=False)

    def _columns(self, rows: tuple[CallsRow, ...]) -> dict[str, list[str]]:
        columns = {name: [getattr(row, name) for row in rows] for name in ("calls", "tokens", "cost", "p50", "p95")}
        return columns | {heading.lower(): [row.rare(name) for row in rows] for name, heading in self.table.rare}
