"""`scoregate dataset`: datasets and their versions."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import click
from rich.text import Text

from scoregate.cli.add_traces_command import command as add_traces_command
from scoregate.cli.add_traces_command import describe_waiting
from scoregate.cli.console import make_console
from scoregate.cli.text_output import CommandGroup, format_day, print_json, print_line, print_table
from scoregate.client import Client
from scoregate.datasets import Example, Schema
from scoregate.datasets.files import infer_file_schema
from scoregate.datasets.schema import TYPES, parse_schema
from scoregate.datasets.versions import VersionDifference, compare_versions
from scoregate.errors import UsageError
from scoregate.kernel.report.text import one_line
from scoregate.kernel.types.text import suggest_names
from scoregate.store import open_store
from scoregate.store.candidates import CANDIDATES, count_waiting
from scoregate.store.datasets import DATASETS, ROWS

_LINE = 240


def with_column_types(schema: Schema, columns: Sequence[str]) -> Schema:
    """A schema with other types for some columns, each given as NAME=TYPE.

    Raises:
        UsageError: a value is not NAME=TYPE, or there is no such column.
        InvalidDataset: a type is unknown.
    """
    types: dict[str, str] = dict(schema.columns)
    for column in columns:
        name, equals, type_ = column.rpartition("=")
        if not equals or name not in types:
            known = ", ".join(schema.columns)
            raise UsageError(f"--column {column!r:.100}: not NAME=TYPE of one of the columns {known:.300}")
        types[name] = type_
    properties = {name: {"type": type_} for name, type_ in types.items()}
    return parse_schema({"type": "object", "properties": properties})


def format_cell(value: object) -> str:
    """A field as text for a table cell."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def print_rows(sign: str, rows: Iterable[Example], limit: int, *, style: str) -> None:
    """Print rows, one a line, at most `limit`."""
    console, remaining = make_console(), iter(rows)
    for example in islice(remaining, limit):
        text = json.dumps(dict(example.properties), ensure_ascii=False)
        console.print(Text(f"{sign} {example.example_id}  {one_line(text, _LINE)}", style=style))
    if rest := sum(1 for _ in remaining):
        console.print(Text(f"{sign} and {rest:,} more", style=style))


def difference_data(difference: VersionDifference) -> dict[str, object]:
    """A difference as plain data."""
    return {
        "old": difference.old.version_number,
        "new": difference.new.version_number,
        "kept": difference.kept,
        "removed": [example.to_dict() for example in difference.removed],
        "added": [example.to_dict() for example in difference.added],
    }


_GREATEST_NUMBER = 10**9


def _version(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | str | None:
    """The number of a version, or its id as text; ids are far greater than any number."""
    if value is None:
        return None
    if not value.isascii() or not value.isdigit():
        raise click.BadParameter(f"{value!r:.60} is neither the number nor the id of a version")
    # `int` raises an error for more than 4,300 digits.
    return int(value) if int(value[:20]) < _GREATEST_NUMBER else value


_json_option = click.option("--json", "as_json", is_flag=True, help="Print every field, as JSON.")


@click.group("dataset", cls=CommandGroup)
def command() -> None:
    """Manage datasets and their versions, stored in .scoregate/datasets."""


@command.command("ls")
@_json_option
def ls(as_json: bool) -> None:
    """List the datasets."""
    datasets = Client().datasets.list()
    if as_json:
        print_json(map(dataclasses.asdict, datasets))
        return
    rows = [(each.name, each.current_version, each.entries, ", ".join(each.schema["properties"])) for each in datasets]
    headings = ("dataset", "version", "rows", "columns")
    print_table(headings, rows, numbers=(1, 2), nothing="There are no datasets.")
    store = open_store()
    for (name,) in store.list_keys(CANDIDATES):
        if waiting := count_waiting(store, name):
            print_line(f"{name}: {describe_waiting(waiting)}: scoregate review --dataset {shlex.quote(name)}")


@command.command("show")
@click.argument("dataset")
@click.option("--version", callback=_version, metavar="N|ID", help="Version to show; default: the newest.")
@click.option(
    "--limit", type=click.IntRange(0), default=20, show_default=True, metavar="N", help="Maximum number of rows."
)
@_json_option
def show(dataset: str, version: int | str | None, limit: int, as_json: bool) -> None:
    """Show the rows of DATASET, by name or id; with --json all of them, one a line."""
    stored = Client().datasets.get(dataset, version)
    if as_json:
        for example in stored:
            click.echo(json.dumps(example.to_dict()))
        return
    shown = list(islice(stored, limit))
    columns = list(stored.version.columns)
    cells = [(each.example_id, *(format_cell(each.properties[column]) for column in columns)) for each in shown]
    print_table(("id", *columns), cells, numbers=(0,))
    print_line(f"{stored.name}: version {stored.version.version_number}, {len(shown)} of {len(stored)} rows")


@command.command("versions")
@click.argument("dataset")
@_json_option
def versions(dataset: str, as_json: bool) -> None:
    """List the versions of DATASET, the newest first."""
    stored = Client().datasets.versions(dataset)
    if as_json:
        print_json(map(dataclasses.asdict, stored))
        return
    rows = [(each.version_number, each.version_id, each.item_count, format_day(each.created_at)) for each in stored]
    print_table(("version", "id", "rows", "when"), rows, numbers=(0, 1, 2))


@command.command("add")
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=TYPE",
    help=f"Type of a column of a new dataset: {', '.join(TYPES)} (repeatable).",
)
@click.option("--description", default="", metavar="TEXT", help="Description of the new dataset.")
def add(dataset: str, file: Path, columns: Sequence[str], description: str) -> None:
    """Add the rows of FILE (.csv, .json, .jsonl, .yaml) to DATASET as one version; all, or none if one is invalid.

    A new dataset is created with the columns of FILE. CSV columns are text unless --column sets a type.
    """
    client = Client()
    if next(client.store.read(DATASETS, (dataset,)), None) is None:
        schema = with_column_types(infer_file_schema(file), columns)
        target = client.datasets.create_from(dataset, file, schema.document, description=description)
    elif columns or description:
        raise UsageError(f"the dataset {dataset!r:.200} exists: --column and --description are for new datasets only")
    else:
        target = client.datasets.get(dataset)
        target.add_from(file)
    where = client.store.location(DATASETS, (target.name,), ROWS)
    print_line(f"{target.name}: version {target.version.version_number}, {len(target)} rows, in {where}")


@command.command("diff")
@click.argument("dataset")
@click.argument("old", callback=_version, required=False)
@click.argument("new", callback=_version, required=False)
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=50,
    show_default=True,
    metavar="N",
    help="Maximum number of rows of each version.",
)
@_json_option
def diff(dataset: str, old: int | str | None, new: int | str | None, limit: int, as_json: bool) -> None:
    """Show the rows of DATASET that are only in version OLD or NEW; default: the two newest versions."""
    client = Client()
    newest = client.datasets.get(dataset)
    before = max(1, newest.version.version_number - 1) if old is None else old
    difference = compare_versions(client.store, newest.name, before, new=new)
    if as_json:
        click.echo(json.dumps(difference_data(difference), indent=1))
        return
    print_rows("-", difference.removed, limit, style="red")
    print_rows("+", difference.added, limit, style="green")
    removed, added = difference.old.item_count - difference.kept, difference.new.item_count - difference.kept
    change = f"version {difference.old.version_number} -> {difference.new.version_number}"
    print_line(f"{newest.name}: {change}: {removed} removed, {added} added, {difference.kept} kept")


@command.command("rm")
@click.argument("dataset")
def rm(dataset: str) -> None:
    """Delete DATASET with all its versions, and the rows that wait. What is committed stays in git."""
    client = Client()
    if not client.datasets.delete(dataset):
        names = [name for (name,) in client.store.list_keys(DATASETS)]
        raise UsageError(f"there is no dataset {dataset!r:.200}", advice=suggest_names(dataset, names))
    print_line(f"{dataset}: deleted")


command.add_command(add_traces_command)
