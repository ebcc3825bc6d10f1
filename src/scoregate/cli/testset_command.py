"""`scoregate testset`: test sets, in the store and as files."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from scoregate.cli import testset_running
from scoregate.cli.listing import say, show_json, show_table
from scoregate.entities import Test, TestSet, TestSets, current_store, read_tests
from scoregate.entities.csv_tests import header_of
from scoregate.errors import UsageError
from scoregate.store import TEST_SETS
from scoregate.store.test_sets import TESTS

_KINDS = (".csv", ".jsonl", ".json")
_json_option = click.option("--json", "as_json", is_flag=True, help="Every field, as JSON.")


@click.group("testset")
def command() -> None:
    """Test sets: kept in .scoregate/test_sets, a line a test, edited by hand or as CSV."""


command.add_command(testset_running.command)


@command.command("ls")
@_json_option
def ls(as_json: bool) -> None:
    """Show them all."""
    found = TestSets.all()
    if as_json:
        show_json([each.to_dict() for each in found])
    else:
        rows = [(each.id, each.name, each.test_set_type, each.test_count, ", ".join(each.metrics)) for each in found]
        headings = ("id", "name", "type", "tests", "metrics")
        show_table(headings, rows, numbers=(3,), nothing="There are no test sets.")


@command.command("show")
@click.argument("test_set")
@click.option("--limit", type=click.IntRange(0), default=20, show_default=True, metavar="N", help="Tests to show.")
@_json_option
def show(test_set: str, limit: int, as_json: bool) -> None:
    """Show the tests of TEST_SET, by its id or name; with --json all that is known of it."""
    found = _named(test_set)
    if as_json:
        show_json([found.to_dict()])
        return
    rows = [(each.category, each.topic or "", each.behavior, _said(each)) for each in islice(found.tests or (), limit)]
    show_table(("category", "topic", "behavior", "prompt or goal"), rows)
    say(f"{found.name}: {found.test_set_type}, {len(rows)} of {found.test_count} tests")


@command.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", metavar="TEXT", help="Default: the file's.")
@click.option("--id", "own", metavar="ID", help="Default: made of the name; what has this id is replaced.")
@click.option("--description", metavar="TEXT")
@click.option("--short-description", metavar="TEXT")
def import_(
    file: Path, name: str | None, own: str | None, description: str | None, short_description: str | None
) -> None:
    """Make a test set of FILE (.csv, .jsonl, .json), with all its tests, or none if one is wrong."""
    _check_kind(file)
    notices: list[str] = []
    tests = list(read_tests(file, tell=notices.append))
    made = TestSet(id=own, name=name or file.stem, tests=tests)
    made.description, made.short_description = description, short_description
    made.push()
    for notice in notices:
        say(notice)
    where = current_store().where(TEST_SETS, (str(made.id),), TESTS)
    say(f"{made.id}: {made.test_set_type}, {made.test_count} tests{_separated(file)}, in {where}")


@command.command("export")
@click.argument("test_set")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def export(test_set: str, file: Path) -> None:
    """Write the tests of TEST_SET, by its id or name, to FILE (.csv, .jsonl, .json)."""
    _check_kind(file)
    found = _named(test_set)
    write = {".csv": found.to_csv, ".jsonl": found.to_jsonl, ".json": found.to_json}[file.suffix.lower()]
    write(file)
    say(f"{found.id}: {found.test_count} tests written to {file}")


def _named(test_set: str) -> TestSet:
    return TestSets.pull(id=test_set) if TestSets.exists(test_set) else TestSets.pull(name=test_set)


def _said(test: Test) -> str:
    if test.prompt is not None:
        return test.prompt.content
    return test.test_configuration.goal if test.test_configuration else ""


def _check_kind(file: Path) -> None:
    if file.suffix.lower() not in _KINDS:
        raise UsageError(f"{file}: a file of tests ends in {', '.join(_KINDS)}")


def _separated(file: Path) -> str:
    if file.suffix.lower() != ".csv" or (header := header_of(file)).delimiter == ",":
        return ""
    return f", whose cells were separated by {header.separated}"
