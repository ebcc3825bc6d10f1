"""`scoregate testset`: test sets, in the store and as files."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click

from scoregate.cli.options import (
    baseline_options,
    gate_options,
    load_gate_settings,
    model_options,
    out_option,
    output_options,
    project_root,
    publish_options,
    running_options,
    working_directory_option,
)
from scoregate.cli.output import OutputOptions
from scoregate.cli.run_gate import run_project
from scoregate.cli.text_output import CommandGroup, print_json, print_line, print_table
from scoregate.entities import TestSet, TestSets, current_store, read_tests
from scoregate.entities.csv_tests import read_header
from scoregate.errors import EntityError, UsageError
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.discover.files import ProjectFiles
from scoregate.kernel.run.discover.one_testset import find_one_test_set
from scoregate.kernel.run.plan import DiscoveredSuites
from scoregate.kernel.types.text import suggest_names
from scoregate.store import TEST_SETS
from scoregate.store.test_sets import TESTS


@click.command("run")
@click.argument("named", metavar="NAME|PATH")
@click.option(
    "--endpoint",
    metavar="NAME|FILE|ADDRESS|MODULE:FUNCTION",
    help="Endpoint to run the tests against; a *.testset.toml file names its own.",
)
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="Metric that scores every answer (repeatable)."
)
@working_directory_option
@baseline_options
@out_option
@running_options
@model_options
@gate_options
@publish_options
@output_options
def run_command(
    named: str, endpoint: str | None, metrics: tuple[str, ...], options: OutputOptions, **flags: Any
) -> int:
    """Run a test set against an endpoint, compare the scores with a baseline, apply the gates and write reports.

    PATH is a suite file (TOML with a table [testset]) or a file with tests (.csv, .tsv, .jsonl, .json). NAME is the
    name of a stored test set.
    """
    root = project_root(flags)
    suites = find_one_test_set(root, named, cwd=Path.cwd(), endpoint=endpoint, metrics=metrics)

    async def find(_files: ProjectFiles, _settings: Settings) -> DiscoveredSuites:
        return suites

    return run_project(load_gate_settings(root, flags), root, options, find=find)


_KINDS = (".csv", ".jsonl", ".json")
_json_option = click.option("--json", "as_json", is_flag=True, help="Print every field, as JSON.")


@click.group("testset", cls=CommandGroup)
def command() -> None:
    """Manage test sets, stored in .scoregate/test_sets, and run them."""


command.add_command(run_command)


@command.command("ls")
@_json_option
def ls(as_json: bool) -> None:
    """List the test sets."""
    stored = TestSets.all()
    if as_json:
        print_json([each.to_dict() for each in stored])
    else:
        rows = [(each.id, each.name, each.test_set_type, each.test_count, ", ".join(each.metrics)) for each in stored]
        headings = ("id", "name", "type", "tests", "metrics")
        print_table(headings, rows, numbers=(3,), nothing="There are no test sets.")


@command.command("show")
@click.argument("test_set")
@click.option(
    "--limit", type=click.IntRange(0), default=20, show_default=True, metavar="N", help="Maximum number of tests."
)
@_json_option
def show(test_set: str, limit: int, as_json: bool) -> None:
    """Show the tests of TEST_SET, by id or name; with --json every field."""
    stored = _pull_test_set(test_set)
    if as_json:
        print_json([stored.to_dict()])
        return
    rows = []
    for each in islice(stored.tests or (), limit):
        goal = each.test_configuration.goal if each.test_configuration else ""
        text = goal if each.prompt is None else each.prompt.content
        rows.append((each.category, each.topic or "", each.behavior, text))
    print_table(("category", "topic", "behavior", "prompt or goal"), rows)
    print_line(f"{stored.name}: {stored.test_set_type}, {len(rows)} of {stored.test_count} tests")


@command.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", metavar="TEXT", help="Name of the test set; default: the name of the file.")
@click.option(
    "--id",
    "own",
    metavar="ID",
    help="Id of the test set; default: derived from the name. A set with this id is replaced.",
)
@click.option("--description", metavar="TEXT", help="Description of the test set.")
@click.option("--short-description", metavar="TEXT", help="Short description of the test set.")
def import_(
    file: Path, name: str | None, own: str | None, description: str | None, short_description: str | None
) -> None:
    """Create a test set from FILE (.csv, .jsonl, .json). Nothing is stored if one test is invalid."""
    _check_kind(file)
    notices: list[str] = []
    tests = list(read_tests(file, notify=notices.append))
    test_set = TestSet(id=own, name=name or file.stem, tests=tests)
    test_set.description, test_set.short_description = description, short_description
    test_set.push()
    for notice in notices:
        print_line(notice)
    where = current_store().location(TEST_SETS, (str(test_set.id),), TESTS)
    count = f"{test_set.test_count} tests"
    if file.suffix.lower() == ".csv" and (header := read_header(file)).delimiter != ",":
        count += f"; cells were separated by {header.separated}"
    print_line(f"{test_set.id}: {test_set.test_set_type}, {count}, in {where}")


@command.command("export")
@click.argument("test_set")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def export(test_set: str, file: Path) -> None:
    """Write the tests of TEST_SET, by id or name, to FILE (.csv, .jsonl, .json)."""
    _check_kind(file)
    stored = _pull_test_set(test_set)
    write = {".csv": stored.to_csv, ".jsonl": stored.to_jsonl, ".json": stored.to_json}[file.suffix.lower()]
    write(file)
    print_line(f"{stored.id}: {stored.test_count} tests written to {file}")


def _pull_test_set(test_set: str) -> TestSet:
    if TestSets.exists(test_set):
        return TestSets.pull(id=test_set)
    try:
        return TestSets.pull(name=test_set)
    except EntityError:
        names = [each.name or str(each.id) for each in TestSets.all()]
        if test_set.casefold() in map(str.casefold, names):
            raise  # several have this name
        advice = suggest_names(test_set, names) or "`scoregate testset import` creates one."
        raise UsageError(f"there is no test set {test_set!r:.200}", advice=advice) from None


def _check_kind(file: Path) -> None:
    if file.suffix.lower() not in _KINDS:
        raise UsageError(f"{file}: the name of a file with tests must end in {', '.join(_KINDS)}")
