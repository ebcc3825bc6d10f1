"""Rows in files that people have: CSV, JSON, JSON lines, YAML; each with its place, or with what is wrong there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scoregate.datasets.changes import Placed
from scoregate.datasets.csv_rows import csv_rows
from scoregate.datasets.schema import Schema, inferred
from scoregate.errors import InvalidDataset
from scoregate.store.rows import parsed, unique

_LIST = "must be a list of objects, or an object with such a list under 'examples'"


def rows_of(path: Path, schema: Schema | None = None, *, kind: str = "") -> Iterator[Placed]:
    """The rows of a file; of CSV and JSON lines one after another, of others at once.

    Args:
        path: ends in .csv, .tsv, .json, .jsonl, .ndjson, .yaml or .yml. schema: what the cells of CSV are read as;
            text without one. kind: one of these ends, whatever the path's is.

    Raises:
        InvalidDataset: it ends otherwise, cannot be read, or is no such file.
        MissingExtra: it is YAML, and PyYAML is not installed.
    """
    if (read := READERS.get(kind or path.suffix.lower())) is None:
        raise InvalidDataset(f"{path}: a file of rows ends in {', '.join(READERS)}")
    try:
        yield from read(path, schema)
    except OSError as error:
        raise InvalidDataset(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InvalidDataset(f"{path} is not UTF-8: byte {error.start + 1}", advice="Save it as UTF-8.") from None


def _json_rows(path: Path, _schema: Schema | None) -> Iterator[Placed]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InvalidDataset(f"{path}:{error.lineno}:{error.colno}: is no JSON: {error.msg}") from None
    except RecursionError:
        raise InvalidDataset(f"{path} is nested too deeply") from None
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise InvalidDataset(f"{path}: {error}") from None
    yield from _listed(found, path)


def _jsonl_rows(path: Path, _schema: Schema | None) -> Iterator[Placed]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            row = parsed(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
            if row is not None:
                yield f"{path}:{number}", row


def _yaml_rows(path: Path, _schema: Schema | None) -> Iterator[Placed]:
    from scoregate.datasets.yaml_text import from_yaml

    yield from _listed(from_yaml(path.read_text(encoding="utf-8-sig"), origin=str(path)), path)


def schema_in(path: Path) -> Schema:
    """The schema that fits all rows of a file; every column of CSV is text.

    Raises:
        InvalidDataset: as `rows_of` and `inferred`, or a row is none.
    """
    return inferred(_sound(rows_of(path)))


def given(examples: Iterable[Mapping[str, Any]]) -> Iterator[Placed]:
    """Rows that were made by a program."""
    return ((f"example {number}", row) for number, row in enumerate(examples, 1))


def _sound(rows: Iterable[Placed]) -> Iterator[Mapping[str, Any]]:
    for place, row in rows:
        if isinstance(row, str):
            raise InvalidDataset(f"{place}: {row}")
        yield row


def _listed(found: object, path: Path) -> Iterator[Placed]:
    rows = found.get("examples") if isinstance(found, dict) else found
    if not isinstance(rows, list):
        raise InvalidDataset(f"{path}: {_LIST}, not {type(rows).__name__}")
    for number, row in enumerate(rows, 1):
        yield f"{path}, row {number}", row if isinstance(row, dict) else f"must be an object, not {row!r:.60}"


READERS: dict[str, Callable[[Path, Schema | None], Iterator[Placed]]] = {
    ".csv": csv_rows,
    ".tsv": csv_rows,
    ".json": _json_rows,
    ".jsonl": _jsonl_rows,
    ".ndjson": _jsonl_rows,
    ".yaml": _yaml_rows,
    ".yml": _yaml_rows,
}
