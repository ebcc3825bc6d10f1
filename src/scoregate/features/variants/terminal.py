"""The tables of variants in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scoregate.features.variants.view import VariantRowView, VariantTable
from scoregate.kernel.report.console_text import mark, max_width, safe_text
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format

_ROWS, _TABLES, _SENTENCES = 12, 3, 10
_GAP, _MARK, _NAME, _WORDS = 2, 3, 30, 16
_INDENT = (0, 0, 0, 2)


def render_variants(tables: Sequence[VariantTable], *, full: bool, rest: str = "") -> Iterator[RenderableType]:
    """Render rankings: a table for the first evaluator of each suite, and one sentence for each other evaluator.

    Args:
        tables: the rankings.
        full: render every table with all variants.
        rest: the end of a line about what is left out, such as `: see report.html`.
    """
    shown_tables = shown_sentences = 0
    for table in tables:
        has_table = full or (table.is_first and shown_tables < _TABLES)
        if has_table:
            yield _title(table)
            yield VariantLines(table, len(table.rows) if full else _ROWS)
            if not full and (hidden := len(table.rows) - _ROWS) > 0:
                yield Text(f"… {number_format.count(hidden, 'more variant')}{rest}", style="dim")
            yield Padding(Text(safe_text(table.sentence, 600)), _INDENT, expand=False)
            shown_tables += 1
        elif shown_sentences < _SENTENCES:
            yield Text.assemble(_title(table), "  ", safe_text(table.sentence, 600))
            shown_sentences += 1
    if hidden := len(tables) - shown_tables - shown_sentences:
        yield Text(f"… {number_format.count(hidden, 'more ranking')}{rest}", style="dim")


def _title(table: VariantTable) -> Text:
    title = Text("variants of ", style="bold").append(f"{table.suite} · {table.evaluator}", "bold")
    return title if table.ranking.higher_is_better else title.append(" (lower is better)", "not bold dim")


@record
class VariantLines:
    """The first variants of a table, one a line; in a narrow terminal without time and cost, then in two lines each."""

    table: VariantTable
    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the table out for the width of the console."""
        rows = self.table.rows[: self.most]
        ranks = any(row.rank != number_format.NONE for row in rows)
        columns = {"score": [row.mean for row in rows]}
        if ranks:
            columns["from the leader"] = [f"{row.delta} {row.interval}".strip() for row in rows]
        measures = {name: [getattr(row, name) for row in rows] for name in self.table.measures}
        for layout in ({**columns, **measures}, columns):
            width = sum(max_width((title, *cells), 60) + _GAP for title, cells in layout.items())
            if options.max_width - width - 2 * _MARK - _WORDS >= max_width((row.name for row in rows), _NAME):
                yield self._lay_out(rows, layout, ranks=ranks)
                return
        for row in rows:
            yield mark(row.state) + Text(f" {row.rank} {row.name}", style="default")
            parts = (row.mean, row.delta, row.interval) if ranks else (row.mean,)
            line = Text("  ".join(filter(None, parts)) + "  ")
            yield Padding(line.append_text(_verdict(row)), (0, 0, 0, 4), expand=False)

    def _lay_out(self, rows: Sequence[VariantRowView], columns: dict[str, list[str]], *, ranks: bool) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
        table.add_column("")
        if ranks:
            table.add_column("rank", justify="right", no_wrap=True)
        table.add_column("variant", overflow="fold")
        for title in columns:
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column("", overflow="fold")
        for index, row in enumerate(rows):
            cells = [Text(texts[index]) for texts in columns.values()]
            rank = [Text(row.rank)] if ranks else []
            table.add_row(mark(row.state), *rank, Text(row.name), *cells, _verdict(row))
        return table


def _verdict(row: VariantRowView) -> Text:
    return Text(row.verdict).append(f" ({safe_text(row.note)})" if row.note else "", "dim")
