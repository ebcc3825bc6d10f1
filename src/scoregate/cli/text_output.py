"""Text output of commands: tables, lines and JSON. Untrusted text is made harmless."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from scoregate.cli.console import make_console
from scoregate.kernel.report.text import make_visible, one_line


class CommandGroup(click.Group):
    """A command with subcommands. `ls` can be called `list`, and `rm` can be called `remove`, and the reverse.

    Its help shows the whole summaries of subcommands, however narrow the terminal is.
    """

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a subcommand by its name or its other name."""
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, _OTHER_NAMES.get(cmd_name, ""))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each subcommand with the first sentence of its help."""
        names = self.list_commands(ctx)
        commands = [(name, command) for name in names if (command := self.get_command(ctx, name)) is not None]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(_LONGEST_HELP)) for name, command in commands])


_OTHER_NAMES = {"ls": "list", "list": "ls", "rm": "remove", "remove": "rm"}
_LONGEST_HELP = 1_000
_CELL = 60
_LINE = 500


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Collection[int] = (),
    nothing: str | None = None,
) -> None:
    """Print a table.

    Args:
        numbers: the indexes of right-aligned columns.
        nothing: printed instead of the headings if there are no rows.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(_cell(heading), justify="right" if place in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    make_console().print(table if table.row_count or nothing is None else Text(nothing))


def print_lines(lines: Iterable[str], *, styles: Sequence[tuple[str, str]] = ()) -> None:
    """Print lines, with invisible characters as escapes; `styles` maps the beginning of a line to its style."""
    console = make_console()
    for line in lines:
        style = next((style for start, style in styles if line.startswith(start)), "")
        console.print(Text(make_visible(line), style=style), soft_wrap=True)


def print_json(items: Iterable[Any]) -> None:
    """Print a JSON list, one item a line, in ASCII, so that it holds no terminal sequences."""
    click.echo("[" + ",\n ".join(json.dumps(item, default=_to_json) for item in items) + "]")


def print_line(line: str) -> None:
    """Print one line."""
    make_console().print(Text(one_line(line, _LINE)))


def print_warning(line: str) -> None:
    """Print one line on standard error."""
    make_console(stderr=True).print(Text(one_line(line, _LINE)))


def format_day(moment: datetime | None) -> str:
    """The date of a time; empty if there is none."""
    return "" if moment is None else f"{moment:%Y-%m-%d}"


def _cell(value: object) -> Text:
    return Text(one_line(str(value), _CELL))


def _to_json(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
