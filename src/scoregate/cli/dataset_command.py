"""`scoregate dataset`: datasets and their versions."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import click

from scoregate.cli.dataset_tables import cell, difference_fields, say_rows, typed
from scoregate.cli.listing import day, say, show_json, show_table
from scoregate.client import Client
from scoregate.datasets.difference import difference
from scoregate.datasets.files import schema_in
from scoregate.datasets.schema import TYPES
from scoregate.errors import UsageError
from scoregate.store.datasets import DATASETS, ROWS

_GREATEST_NUMBER = 10**9


def _version(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | str | None:
    """A version's number, or its id as text, which is far greater than any number."""
    if value is None:
        return None
    if not value.isascii() or not value.isdigit():
        raise click.BadParameter(f"{value!r:.60} is neither a version's number nor its id")
    return int(value) if int(value[:20]) < _GREATEST_NUMBER else value


_json_option = click.option("--json", "as_json", is_flag=True, help="Every field, as JSON.")


@click.group("dataset")
def command() -> None:
    """Datasets: kept in .scoregate/datasets, edited by hand, every version to be read back."""


@command.command("ls")
@_json_option
def ls(as_json: bool) -> None:
    """Show them all."""
    found = Client().datasets.list()
    if as_json:
        show_json(map(dataclasses.asdict, found))
        return
    rows = [(each.name, each.current_version, each.entries, ", ".join(each.schema["properties"])) for each in found]
    headings = ("dataset", "version", "rows", "columns")
    show_table(headings, rows, numbers=(1, 2), nothing="There are no datasets.")


@command.command("show")
@click.argument("dataset")
@click.option("--version", callback=_version, metavar="N|ID", help="Default: the newest.")
@click.option("--limit", type=click.IntRange(0), default=20, show_default=True, metavar="N", help="Rows to show.")
@_json_option
def show(dataset: str, version: int | str | None, limit: int, as_json: bool) -> None:
    """Show the rows of DATASET, by its name or id; with --json all of them, one a line."""
    found = Client().datasets.get(dataset, version)
    if as_json:
        for example in found:
            click.echo(json.dumps(example.to_dict()))
        return
    shown = list(islice(found, limit))
    columns = list(found.version.columns)
    cells = [(each.example_id, *(cell(each.properties[column]) for column in columns)) for each in shown]
    show_table(("id", *columns), cells, numbers=(0,))
    say(f"{found.name}: version {found.version.version_number}, {len(shown)} of {len(found)} rows")


@command.command("versions")
@click.argument("dataset")
@_json_option
def versions(dataset: str, as_json: bool) -> None:
    """Show the versions of DATASET, the newest first."""
    found = Client().datasets.versions(dataset)
    if as_json:
        show_json(map(dataclasses.asdict, found))
        return
    rows = [(each.version_number, each.version_id, each.item_count, day(each.created_at)) for each in found]
    show_table(("version", "id", "rows", "when"), rows, numbers=(0, 1, 2))


@command.command("add")
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--column", "columns", multiple=True, metavar="NAME=TYPE", help=f"Of a new dataset: {', '.join(TYPES)}; repeatable."
)
@click.option("--description", default="", metavar="TEXT", help="Of a new dataset.")
def add(dataset: str, file: Path, columns: Sequence[str], description: str) -> None:
    """Add the rows of FILE (.csv, .json, .jsonl, .yaml) to DATASET, as one version; all, or none if one is wrong.

    A dataset that does not exist is made, with the columns of FILE; those of CSV are text where --column says nothing.
    """
    client = Client()
    if next(client.store.read(DATASETS, (dataset,)), None) is None:
        schema = typed(schema_in(file), columns)
        made = client.datasets.create_from(dataset, file, schema.document, description=description)
    elif columns or description:
        raise UsageError(f"there is a dataset {dataset!r:.200} already, so --column and --description say nothing")
    else:
        made = client.datasets.get(dataset)
        made.add_from(file)
    where = client.store.where(DATASETS, (made.name,), ROWS)
    say(f"{made.name}: version {made.version.version_number}, {len(made)} rows, in {where}")


@command.command("diff")
@click.argument("dataset")
@click.argument("old", callback=_version, required=False)
@click.argument("new", callback=_version, required=False)
@click.option("--limit", type=click.IntRange(0), default=50, show_default=True, metavar="N", help="Rows of each side.")
@_json_option
def diff(dataset: str, old: int | str | None, new: int | str | None, limit: int, as_json: bool) -> None:
    """Show which rows of DATASET are in version OLD or NEW alone; by default those before and after the last change."""
    client = Client()
    newest = client.datasets.get(dataset)
    before = max(1, newest.version.version_number - 1) if old is None else old
    found = difference(client.store, newest.name, before, new=new)
    if as_json:
        click.echo(json.dumps(difference_fields(found), indent=1))
        return
    say_rows("-", found.removed, limit, style="red")
    say_rows("+", found.added, limit, style="green")
    gone, come = found.old.item_count - found.kept, found.new.item_count - found.kept
    change = f"version {found.old.version_number} -> {found.new.version_number}"
    say(f"{newest.name}: {change}: {gone} removed, {come} added, {found.kept} kept")


@command.command("rm")
@click.argument("dataset")
def rm(dataset: str) -> None:
    """Delete DATASET with all its versions; what was committed, git still has."""
    if not Client().datasets.delete(dataset):
        raise UsageError(f"there is no dataset {dataset!r:.200}")
    say(f"{dataset}: deleted")
