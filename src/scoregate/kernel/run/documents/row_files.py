"""Files of rows: JSON lines, JSON, CSV and Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from scoregate.errors import ImportFailed, MissingExtra
from scoregate.kernel.run.documents.files import DuplicateKey, Part, ResultFile, parse_value
from scoregate.kernel.types.text import describe_width
from scoregate.store.tables import TableError, TableReader

_BOM = b"\xef\xbb\xbf"
_PARQUET = b"PAR1"
_LONGEST_LINE = 64 * 1024 * 1024
_BATCH = 1_000
_SAME_NAME = "two of its columns have the same name"
# Members under which tools write their list of rows.
_LISTS = ("rows", "data", "results", "samples", "scores")
ENDINGS = ".jsonl, .ndjson, .json, .csv, .tsv or .parquet"


class FileRow(NamedTuple):
    """One row, with its place for messages, such as `line 3`."""

    place: str
    values: Mapping[str, Any]


def read_rows(result: ResultFile) -> Iterator[FileRow]:
    """The rows of a file; its form follows from the end of its name.

    Raises:
        ImportFailed: the file isn't of the form that its name promises; the message has the place.
        MissingExtra: it is Parquet, and pyarrow isn't installed.
    """
    ending = PurePath(result.name).suffix.lower()
    if ending not in _READERS:
        raise ImportFailed(f"the end of its name must be {ENDINGS}")
    return _READERS[ending](result.read())


def read_json_lines(data: bytes) -> Iterator[FileRow]:
    """The objects of JSON lines.

    Raises:
        ImportFailed: a line is not a JSON object.
    """
    for number, line in enumerate(io.BytesIO(data.removeprefix(_BOM)), 1):
        if not line.strip():
            continue
        if len(line) > _LONGEST_LINE:
            raise ImportFailed(f"line {number} is longer than {_LONGEST_LINE:,} bytes")
        try:
            row = parse_value(line, unique_keys=True)
        except DuplicateKey as error:
            raise ImportFailed(f"line {number}: {error}") from None
        except json.JSONDecodeError as error:
            message = f"{error.msg.removesuffix(' at')} at character {error.pos + 1:,}"
            raise ImportFailed(f"line {number} is not JSON: {message}") from None
        except ValueError as error:
            form = "UTF-8" if isinstance(error, UnicodeDecodeError) else f"JSON: {error}"
            raise ImportFailed(f"line {number} is not {form}") from None
        yield _check_row(row, f"line {number}")


def _read_json(data: bytes) -> Iterator[FileRow]:
    """A list of objects, an object with such a list, or a table as pandas and MLflow write it."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    whole = Part(data, start, len(data))
    first = data[start : start + 1024].lstrip()[:1]
    if first == b"[":
        yield from _list_rows(whole)
        return
    if first != b"{":
        raise ImportFailed("it is neither a JSON array nor a JSON object")
    members = whole.members()
    if {"columns", "data"} <= members.keys():
        yield from _split_rows(members["columns"].value, members["data"])
        return
    lists = [name for name in _LISTS if name in members and _is_list(members[name])]
    if lists:
        yield from _list_rows(members[lists[0]])
        return
    yield from _column_rows({name: part.value for name, part in members.items()})


def _is_list(part: Part) -> bool:
    return part.data[part.start : part.end].lstrip()[:1] == b"["


def _list_rows(part: Part) -> Iterator[FileRow]:
    for number, element in enumerate(part.elements(), 1):
        yield _check_row(element.parse(unique_keys=True), f"row {number}")


def _split_rows(columns: object, rows: Part) -> Iterator[FileRow]:
    """Rows of a table with a list of its columns: pandas' `orient="split"`, and tables of MLflow."""
    names = [str(each) for each in columns] if isinstance(columns, list) else []
    if len(set(names)) != len(names):
        raise ImportFailed(_SAME_NAME)
    for number, element in enumerate(rows.elements(), 1):
        cells = element.value
        if not isinstance(cells, list) or len(cells) != len(names):
            raise ImportFailed(f"row {number} doesn't have {len(names)} cells, one for each of its columns")
        yield FileRow(f"row {number}", dict(zip(names, cells, strict=True)))


def _column_rows(columns: Mapping[str, Any]) -> Iterator[FileRow]:
    """Rows of a table that is an object of columns, as `DataFrame.to_json()` writes it."""
    first = next(iter(columns.values()), None)
    keys = first.keys() if isinstance(first, dict) else range(len(first)) if isinstance(first, list) else ()
    for column in columns.values():
        if type(column) is not type(first) or not isinstance(column, dict | list) or len(column) != len(keys):
            raise ImportFailed("it holds no list of rows, and its members are not columns of equal length")
    for number, key in enumerate(keys, 1):
        try:
            yield FileRow(f"row {number}", {name: column[key] for name, column in columns.items()})
        except KeyError:
            raise ImportFailed(f"row {number} ({key!r:.100}) is missing in a column") from None


def _read_csv(data: bytes) -> Iterator[FileRow]:
    try:
        reader = TableReader(io.StringIO(data.removeprefix(_BOM).decode(), newline=""))
        names = reader.header
        if len(set(names)) != len(names):
            raise ImportFailed(_SAME_NAME)
        for line, cells in reader:
            if not cells:
                continue
            if len(cells) != len(names):
                raise ImportFailed(f"line {line} {describe_width(len(cells), len(names))}")
            yield FileRow(f"line {line}", {name: cell or None for name, cell in zip(names, cells, strict=True)})
    except UnicodeDecodeError as error:
        raise ImportFailed(f"it is not UTF-8: byte {error.start + 1:,}") from None
    except TableError as error:
        raise ImportFailed(f"line {error.line}: it {error.problem}") from None


def _read_parquet(data: bytes) -> Iterator[FileRow]:
    if not data.startswith(_PARQUET):
        raise ImportFailed("it is not Parquet")
    try:
        from pyarrow import ArrowException, BufferReader
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        raise MissingExtra(
            "Parquet can't be read: pyarrow is not installed", advice="Install it: pip install 'scoregate[parquet]'"
        ) from None
    number = 0
    try:
        for batch in ParquetFile(BufferReader(data)).iter_batches(_BATCH):
            for values in batch.to_pylist():
                number += 1
                # Dates and decimals become texts.
                yield FileRow(f"row {number}", json.loads(json.dumps(values, default=str)))
    except (ArrowException, OSError) as error:
        raise ImportFailed(f"it is damaged after row {number:,}: {error}") from None


def _check_row(value: object, place: str) -> FileRow:
    if not isinstance(value, dict):
        raise ImportFailed(f"{place} is not an object")
    return FileRow(place, value)


_READERS = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
}
