"""What the commands that show stored things share: tables, texts of several lines, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from scoregate.ci.report.text import one_line, visible
from scoregate.cli.terminal import terminal

_CELL = 60


def show_rows(headings: Sequence[str], rows: Iterable[Sequence[str]], *, nothing: str) -> None:
    """Print a table, or what to say where there are no rows; whatever the cells hold."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell, _CELL)) for cell in row))
    terminal().print(table if table.row_count else Text(nothing))


def show_lines(lines: Iterable[str], *, styles: Sequence[tuple[str, str]] = ()) -> None:
    """Print lines as they are, with what cannot be seen as escapes; `styles` are by how a line begins."""
    console = terminal()
    for line in lines:
        style = next((style for start, style in styles if line.startswith(start)), "")
        console.print(Text(visible(line), style=style), soft_wrap=True)


def show_json(items: Iterable[Any]) -> None:
    """Print a JSON list with an item a line, in ASCII, so that nothing in it can steer a terminal."""
    click.echo("[" + ",\n ".join(json.dumps(item) for item in items) + "]")
