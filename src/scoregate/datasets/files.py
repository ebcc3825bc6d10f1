"""Rows of datasets in CSV, JSON, JSON lines and YAML files, each with its place or its problem."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from scoregate.datasets.changes import LocatedRow
from scoregate.datasets.schema import Schema, infer_schema
from scoregate.errors import InvalidDataset, MissingExtra
from scoregate.kernel.types.text import describe_width
from scoregate.kernel.types.yaml_document import YamlProblem, parse_yaml
from scoregate.store.json_lines import reject_duplicate_keys
from scoregate.store.tables import TableError, TableReader, open_text, read_json, read_json_lines


def read_csv_rows(path: Path, schema: Schema | None = None) -> Iterator[LocatedRow]:
    """The rows of a table, one by one. The header is row 1.

    Raises:
        InvalidDataset: the header is missing, or the file is not CSV.
    """
    with open_text(path) as file:
        table = TableReader(file)
        header = [cell.strip() for cell in table.header]
        if not any(header):
            raise InvalidDataset(f"{path}, row 1: there is no header", advice="The first row names the columns.")
        for number, name in enumerate(header, 1):
            if not name or name in header[: number - 1]:
                problem = f"{name!r:.60} comes twice" if name else "has no name"
                raise InvalidDataset(f"{path}, row 1, column {number}: {problem}")
        try:
            for number, (_, cells) in enumerate(table, 2):
                if any(cells):
                    yield f"{path}, row {number}", _parse_row(cells, header, schema)
        except TableError as error:
            raise InvalidDataset(f"{path}, line {error.last_line}: {error.problem}") from None


def _parse_row(cells: Sequence[str], header: Sequence[str], schema: Schema | None) -> Mapping[str, Any] | str:
    if len(cells) != len(header):
        return describe_width(len(cells), len(header))
    row = dict(zip(header, cells, strict=True))
    if not schema:
        return row
    # Cells are converted to the types of their columns. A cell that has another type stays text.
    converted: dict[str, Any] = {}
    for column, text in row.items():
        type_ = schema.columns.get(column, "string")
        if type_ == "string":
            converted[column] = text if text or column in schema.columns else None
            continue
        cell = text.strip()
        converted[column] = cell or None
        if cell and type_ != "trace":  # ids of traces may look like numbers
            with suppress(ValueError, RecursionError):
                json_text = cell.lower() if type_ == "boolean" else cell  # spreadsheets write TRUE
                converted[column] = json.loads(json_text, object_pairs_hook=reject_duplicate_keys)
    return converted


_LIST = "must be a list of objects, or an object with such a list under 'examples'"


def read_rows(path: Path, schema: Schema | None = None, *, kind: str = "") -> Iterator[LocatedRow]:
    """The rows of a file. CSV and JSON lines are streamed.

    Args:
        path: ends in .csv, .tsv, .json, .jsonl, .ndjson, .yaml or .yml.
        schema: the types of the cells of CSV; without a schema they are text.
        kind: the format as such a suffix, if the suffix of the path is another.

    Raises:
        InvalidDataset: the format is unknown, or the file cannot be read or is invalid.
        MissingExtra: the file is YAML, and PyYAML is not installed.
    """
    if (read := READERS.get(kind or path.suffix.lower())) is None:
        raise InvalidDataset(f"{path}: a file of rows ends in {', '.join(READERS)}")
    try:
        yield from read(path, schema)
    except OSError as error:
        raise InvalidDataset(f"{path} cannot be read: {error.strerror or error}") from None
    except TableError as error:
        raise InvalidDataset(error.message(path), advice=error.advice) from None


def _json_rows(path: Path, _schema: Schema | None) -> Iterator[LocatedRow]:
    with open_text(path) as file:
        content = read_json(file.read())
    yield from _listed_rows(content, path)


def _jsonl_rows(path: Path, _schema: Schema | None) -> Iterator[LocatedRow]:
    with path.open("rb") as file:
        for number, row in read_json_lines(file):
            if row is not None:
                yield f"{path}:{number}", row


def _yaml_rows(path: Path, _schema: Schema | None) -> Iterator[LocatedRow]:
    with open_text(path) as file:
        content = _parse_yaml(file.read(), path)
    yield from _listed_rows(content, path)


def infer_file_schema(path: Path) -> Schema:
    """The schema of the rows of a file. Every column of CSV is text.

    Raises:
        InvalidDataset: as `read_rows` and `infer_schema`, or a row is invalid.
    """
    return infer_schema(read_valid_rows(path))


def read_valid_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a file without their places.

    Raises:
        InvalidDataset: as `read_rows`, or a row is invalid.
        MissingExtra: as `read_rows`.
    """
    for place, row in read_rows(path):
        if isinstance(row, str):
            raise InvalidDataset(f"{place}: {row}")
        yield row


def locate_examples(examples: Iterable[Mapping[str, Any]]) -> Iterator[LocatedRow]:
    """Rows with their places, such as "example 1"."""
    return ((f"example {number}", row) for number, row in enumerate(examples, 1))


def _listed_rows(content: object, path: Path) -> Iterator[LocatedRow]:
    rows = content.get("examples") if isinstance(content, dict) else content
    if not isinstance(rows, list):
        keys = ", ".join(map(repr, content)) if isinstance(content, dict) and "examples" not in content else ""
        shown = f"an object with {keys}" if keys else type(rows).__name__
        raise InvalidDataset(f"{path}: {_LIST}, not {shown:.200}")
    for number, row in enumerate(rows, 1):
        yield f"{path}, row {number}", row if isinstance(row, dict) else f"must be an object, not {row!r:.60}"


READERS: dict[str, Callable[[Path, Schema | None], Iterator[LocatedRow]]] = {
    ".csv": read_csv_rows,
    ".tsv": read_csv_rows,
    ".json": _json_rows,
    ".jsonl": _jsonl_rows,
    ".ndjson": _jsonl_rows,
    ".yaml": _yaml_rows,
    ".yml": _yaml_rows,
}


def _parse_yaml(text: str, path: Path) -> Any:
    """The value of a YAML text, as PyYAML reads it, which also writes such files.

    Raises:
        InvalidDataset: the text is not YAML, or has an alias or a key twice.
        MissingExtra: PyYAML is not installed.
    """
    _import_yaml()
    try:
        return parse_yaml(text, str(path), version="1.1", bounded=False).to_plain()
    except YamlProblem as error:
        raise InvalidDataset(str(error)) from None


def dump_yaml(value: object) -> str:
    """The YAML text of plain data.

    Raises:
        MissingExtra: PyYAML is not installed.
    """
    text: str = _import_yaml().safe_dump(value, sort_keys=False, allow_unicode=True)
    return text


def _import_yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtra(
            "YAML needs the package PyYAML, which is not installed",
            advice="Run: pip install 'scoregate[judges]', or use .json, .jsonl or .csv.",
        ) from None
    return yaml
