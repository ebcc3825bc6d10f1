"""`scoregate schema`: JSON Schemas with which editors complete and check files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from scoregate.errors import UsageError

_SUFFIXES = (".yaml", ".yml", ".json")


@click.group("schema")
def command() -> None:
    """Print a JSON Schema with which editors complete and check files."""


@command.command("cases")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
def print_case_schema(file: Path | None) -> None:
    """Print the JSON Schema of cases in YAML and JSON.

    With a FILE, the schema has the fields and types of its cases, and editors mark other fields. An editor finds the
    schema by the first line of a YAML file, `# yaml-language-server: $schema=cases.schema.json`, or by the key
    `$schema` of a JSON file whose cases are under `examples`.
    """
    from scoregate.datasets.case_schema import make_case_schema
    from scoregate.datasets.files import read_valid_rows

    if file is not None and file.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{file} is no file that has a schema: it must end in {', '.join(_SUFFIXES)}")
    schema = make_case_schema(None if file is None else read_valid_rows(file))
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
