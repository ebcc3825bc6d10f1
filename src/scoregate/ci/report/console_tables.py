"""The tables of the terminal: side by side where it is wide, line by line where it is narrow."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scoregate.ci.report.console_text import MARKS, mark, place, shown
from scoregate.ci.report.numbers import NONE
from scoregate.ci.report.row_views import RowView, State
from scoregate.ci.report.suite_views import SuiteView
from scoregate.ci.report.view import ReportView

SHOWN = 100
_WIDE = 110
_INDENT = (0, 0, 0, 4)


@dataclass(frozen=True, slots=True)
class Rows:
    """One line for each of the first SHOWN evaluators, worst first; `~` stands for no more than noise."""

    view: ReportView

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the width that there is."""
        if options.max_width >= _WIDE:
            yield _wide_rows(self.view)
            return
        for row in self.view.rows[:SHOWN]:
            yield mark(row.state) + Text(f" {place(row.row.suite, row.row.evaluator)}", style="default")
            yield Padding(_narrow(row, self.view), _INDENT, expand=False)


@dataclass(frozen=True, slots=True)
class Suites:
    """One line for each of the first SHOWN suites: how many cases pass, and what they took."""

    view: ReportView

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the width that there is."""
        if options.max_width >= _WIDE:
            yield _wide_suites(self.view)
            return
        for suite in self.view.suites[:SHOWN]:
            yield Text(place(suite.label, None))
            yield Padding(Text(_spent(suite)), _INDENT, expand=False)


def _wide_rows(view: ReportView) -> Table:
    table = _table("", "suite · evaluator")
    for title in ("base", "now", "delta", "better / worse") if view.base else ("score",):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for row in view.rows[:SHOWN]:
        cells = (row.base, row.mean, _delta(row), row.counts) if view.base else (row.mean,)
        words = _words(row, view)
        table.add_row(mark(row.state), Text(place(row.row.suite, row.row.evaluator)), *map(Text, cells), words)
    return table


def _wide_suites(view: ReportView) -> Table:
    table = _table("suite")
    for title in ("pass", "p50", "p95", "tokens", "cost"):
        table.add_column(title, justify="right")
    for suite in view.suites[:SHOWN]:
        text = suite.spend_text
        cells = {"latency": text.p50, "p95": text.p95, "tokens": text.tokens, "cost": text.cost}
        spent = (Text(cell, style="bold" if what in suite.moved else "") for what, cell in cells.items())
        table.add_row(Text(place(suite.label, None)), suite.passes, *spent)
    return table


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def _narrow(row: RowView, view: ReportView) -> Text:
    scores = row.mean if row.row.base is None else f"{row.base} → {row.mean}"
    counts = f"better / worse {row.counts}" if row.row.n else ""
    text = Text("  ".join(part for part in (scores, _delta(row), counts) if part) + "  ")
    return text.append_text(_words(row, view))


def _spent(suite: SuiteView) -> str:
    text = suite.spend_text
    parts = {"pass": suite.passes, "p50": text.p50, "p95": text.p95, "tokens": text.tokens, "cost": text.cost}
    return "  ".join(f"{what} {value}" for what, value in parts.items() if value != "–")


def _delta(row: RowView) -> str:
    if row.delta == NONE:
        return ""
    if not row.significant:
        return "~"
    return f"{row.delta} [{row.low}, {row.high}]" if row.low else row.delta


def _words(row: RowView, view: ReportView) -> Text:
    """The label with its reason, and how many cases miss the threshold where that is why a gate failed."""
    text = Text()
    if view.base:
        text.append(row.label, style=MARKS[row.state][1] if row.significant else None)
    if view.base and row.note:
        text.append(f" ({shown(row.note)})", style="dim")
    if row.below and row.state in (State.FAILED, State.NEW):
        text.append(f"{'; ' if text else ''}{row.below:,} of {row.judged:,} below threshold")
    return text
