"""The tables of the terminal: side by side where it is wide, line by line where it is narrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scoregate.ci.report.console_text import MARKS, mark, place, shown, widest
from scoregate.ci.report.numbers import NONE
from scoregate.ci.report.row_views import RowView, State
from scoregate.ci.report.suite_views import SuiteView
from scoregate.ci.report.view import ReportView

_GAP = 2
_MARK = 1 + _GAP
_NAME, _WORDS, _ROOMY = 26, 24, 40
_INDENT = (0, 0, 0, 4)


@dataclass(frozen=True, slots=True)
class Rows:
    """One line for each of the first evaluators, worst first; `~` stands for no more than noise."""

    view: ReportView
    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the width that there is: first it costs counts, then intervals, then the table."""
        rows = self.view.rows[: self.most]
        names = [place(row.row.suite, row.row.evaluator) for row in rows]
        for columns, words in _columns(rows, self.view):
            if _left(columns, options.max_width) - _MARK >= widest(names, _NAME) + words:
                yield _table_of_rows(rows, names, columns, self.view)
                return
        for row, told in zip(rows, names, strict=True):
            yield mark(row.state) + Text(f" {told}", style="default")
            yield Padding(_narrow(row, self.view), _INDENT, expand=False)


@dataclass(frozen=True, slots=True)
class Suites:
    """One line for each of the first suites, those that fail before the others: what passes, and what they took."""

    view: ReportView
    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the width that there is."""
        suites = self.view.ordered_suites[: self.most]
        names, columns = [place(suite.label, None) for suite in suites], _spendings(suites)
        if _left(columns, options.max_width) - _MARK >= widest(names, _NAME):
            yield _table_of_suites(suites, names, columns)
            return
        for at, (suite, told) in enumerate(zip(suites, names, strict=True)):
            yield mark(suite.state) + Text(f" {told}", style="default")
            parts = (f"{title} {cells[at].plain}" for title, cells in columns.items() if cells[at].plain != NONE)
            yield Padding(Text("  ".join(parts)), _INDENT, expand=False)


Columns = Mapping[str, Sequence[Text]]


def _left(columns: Columns, width: int) -> int:
    return width - sum(widest((title, *cells), width) + _GAP for title, cells in columns.items())


def _columns(rows: Sequence[RowView], view: ReportView) -> Sequence[tuple[Columns, int]]:
    """What stands between a name and the words about it, the richest first, and how much the words then need."""
    now = [Text(row.mean) for row in rows]
    if not view.base:
        return [({"score": now}, _WORDS)]
    base, counts = [Text(row.base) for row in rows], [Text(row.counts) for row in rows]
    side = "PR" if view.context.pull_request else "now"
    delta = {"base": base, side: now, "delta": [Text(_delta(row)) for row in rows]}
    short = {**delta, "delta": [Text(_delta(row, interval=False)) for row in rows]}
    return [({**delta, "better / worse": counts}, _ROOMY), (delta, _ROOMY), (short, _WORDS)]


def _table_of_rows(rows: Sequence[RowView], names: Sequence[str], columns: Columns, view: ReportView) -> Table:
    table = _table("suite · evaluator", columns)
    table.add_column("", overflow="fold")
    for at, (row, name) in enumerate(zip(rows, names, strict=True)):
        table.add_row(mark(row.state), Text(name), *(cells[at] for cells in columns.values()), _words(row, view))
    return table


def _table_of_suites(suites: Sequence[SuiteView], names: Sequence[str], columns: Columns) -> Table:
    table = _table("suite", columns)
    for at, (suite, name) in enumerate(zip(suites, names, strict=True)):
        table.add_row(mark(suite.state), Text(name), *(cells[at] for cells in columns.values()))
    return table


def _table(things: str, columns: Columns) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for title in ("", things):
        table.add_column(title, overflow="fold")
    for title in columns:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _spendings(suites: Sequence[SuiteView]) -> Columns:
    """What is known of any of them; bold where it differs from the base by more than noise."""
    columns: dict[str, list[Text]] = {"pass": [Text(suite.passes) for suite in suites]}
    for title, measure in (("p50", "latency"), ("p95", "p95"), ("tokens", "tokens"), ("cost", "cost")):
        cells = [(getattr(suite.spend_text, title), measure in suite.moved) for suite in suites]
        if any(cell != NONE for cell, _ in cells):
            columns[title] = [Text(cell, style="bold" if moved else "") for cell, moved in cells]
    return columns


def _narrow(row: RowView, view: ReportView) -> Text:
    scores = row.mean if row.row.base is None else f"{row.base} → {row.mean}"
    counts = f"better / worse {row.counts}" if row.row.n else ""
    text = Text("  ".join(part for part in (scores, _delta(row), counts) if part) + "  ")
    return text.append_text(_words(row, view))


def _delta(row: RowView, *, interval: bool = True) -> str:
    if row.delta == NONE:
        return ""
    if not row.significant:
        return "~"
    return f"{row.delta} [{row.low}, {row.high}]" if row.low and interval else row.delta


def _words(row: RowView, view: ReportView) -> Text:
    """The label with its reason, and how many cases miss the threshold where that is why a gate failed."""
    text = Text()
    if view.base:
        text.append(row.label, style=MARKS[row.state][1] if row.significant else None)
    if view.base and row.note:
        text.append(f" ({shown(row.note)})", style="dim")
    if row.below and row.state in (State.FAILED, State.NEW):
        text.append(f"{'; ' if text else ''}{row.below:,} of {row.judged:,} below threshold")
    for told in row.uncertain:
        text.append(f"{'; ' if text else ''}{shown(told)}")
    return text
