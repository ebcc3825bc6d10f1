"""What commands print of what they found, whatever it holds: tables, lines, JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from scoregate.ci.report.text import one_line, visible
from scoregate.cli.terminal import terminal

_CELL = 60
_LINE = 500


def show_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Collection[int] = (),
    nothing: str | None = None,
) -> None:
    """Print a table.

    Args:
        numbers: the places of the columns that stand on the right. nothing: what to say instead of the headings alone.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(_cell(heading), justify="right" if place in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    terminal().print(table if table.row_count or nothing is None else Text(nothing))


def show_lines(lines: Iterable[str], *, styles: Sequence[tuple[str, str]] = ()) -> None:
    """Print lines as they are, with what cannot be seen as escapes; `styles` are by how a line begins."""
    console = terminal()
    for line in lines:
        style = next((style for start, style in styles if line.startswith(start)), "")
        console.print(Text(visible(line), style=style), soft_wrap=True)


def show_json(items: Iterable[Any]) -> None:
    """Print a JSON list with an item a line, in ASCII, so that nothing in it can steer a terminal."""
    click.echo("[" + ",\n ".join(json.dumps(item, default=_plain) for item in items) + "]")


def say(line: str) -> None:
    """Print one line."""
    terminal().print(Text(one_line(line, _LINE)))


def complain(line: str) -> None:
    """Print one line on standard error."""
    terminal(stderr=True).print(Text(one_line(line, _LINE)))


def day(moment: datetime | None) -> str:
    """The day of a moment; empty where there is none."""
    return "" if moment is None else f"{moment:%Y-%m-%d}"


def _cell(value: object) -> Text:
    return Text(one_line(str(value), _CELL))


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
