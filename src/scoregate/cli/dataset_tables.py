"""What the commands for datasets read and print, whatever the rows hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice

from rich.text import Text

from scoregate.ci.report.text import one_line
from scoregate.cli.terminal import terminal
from scoregate.datasets import Example, Schema
from scoregate.datasets.difference import Difference
from scoregate.datasets.schema import schema_of
from scoregate.errors import UsageError

_LINE = 240


def typed(schema: Schema, columns: Sequence[str]) -> Schema:
    """A schema with other types, each given as NAME=TYPE.

    Raises:
        UsageError: one is no such, or names no column. InvalidDataset: a type is none.
    """
    types: dict[str, str] = dict(schema.columns)
    for column in columns:
        name, equals, type_ = column.rpartition("=")
        if not equals or name not in types:
            known = ", ".join(schema.columns)
            raise UsageError(f"--column {column!r:.100}: is not NAME=TYPE of a column: {known:.300}")
        types[name] = type_
    properties = {name: {"type": type_} for name, type_ in types.items()}
    return schema_of({"type": "object", "properties": properties})


def cell(value: object) -> str:
    """A field as it stands in a cell."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def say_rows(sign: str, rows: Iterable[Example], limit: int, *, style: str) -> None:
    """Print a line a row, so many at most."""
    console, taken = terminal(), iter(rows)
    for example in islice(taken, limit):
        text = json.dumps(dict(example.properties), ensure_ascii=False)
        console.print(Text(f"{sign} {example.example_id}  {one_line(text, _LINE)}", style=style))
    if rest := sum(1 for _ in taken):
        console.print(Text(f"{sign} and {rest:,} more", style=style))


def difference_fields(found: Difference) -> dict[str, object]:
    """A difference as plain data."""
    return {
        "old": found.old.version_number,
        "new": found.new.version_number,
        "kept": found.kept,
        "removed": [example.to_dict() for example in found.removed],
        "added": [example.to_dict() for example in found.added],
    }
