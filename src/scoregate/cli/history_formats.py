"""Formats of the rows that `scoregate history` prints: tables, JSON, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scoregate.cli.console import discard_output
from scoregate.cli.text_output import print_line, print_table
from scoregate.errors import UsageError
from scoregate.kernel.types.records import record

TABLE, JSON, CSV, PARQUET = "table", "json", "csv", "parquet"
FORMATS = (TABLE, JSON, CSV, PARQUET)
# Spreadsheets run a cell with such a beginning as a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
# Times are in seconds since the epoch.
_TIMES = ("finished",)


@record
class Column:
    """A column of the table for people: its heading, and its text for a row."""

    heading: str
    text: Callable[[Any], str]
    is_number: bool = False


@record
class AnswerTarget:
    """The format of an answer, one of `FORMATS`, and its file; None for stdout."""

    form: str = TABLE
    file: Path | None = None


def write_rows(
    kind: type, rows: Sequence[Any], columns: Sequence[Column], target: AnswerTarget, *, nothing: str
) -> None:
    """Write rows to stdout or a file.

    Args:
        kind: the record class of the rows; its fields are the columns of all formats but tables.
        rows: the rows.
        columns: the columns of a table.
        target: the format and the file.
        nothing: what a table of no rows says.

    Raises:
        UsageError: the file can't be written, or the format can't be written to it.
    """
    form, file = target.form, target.file
    if form == TABLE:
        if file is not None:
            raise UsageError("--output needs a format for programs", advice="Add --format json, csv or parquet.")
        numbers = [index for index, column in enumerate(columns) if column.is_number]
        cells = [[column.text(row) for column in columns] for row in rows]
        print_table([column.heading for column in columns], cells, numbers=numbers, nothing=nothing)
        return
    if form == PARQUET and file is None and sys.stdout.isatty():
        raise UsageError("--format parquet can't be printed to a terminal", advice="Add --output FILE.")
    content = _ENCODERS[form](kind, rows)
    if file is None:
        _write_stdout(content)
        return
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None
    print_line(f"{file}: {len(rows):,} rows")


def _write_stdout(content: bytes) -> None:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        discard_output(sys.stdout)


def _plain_rows(kind: type, rows: Iterable[Any]) -> Iterable[dict[str, Any]]:
    names = [each.name for each in fields(kind)]
    return ({name: _plain(name, getattr(row, name)) for name in names} for row in rows)


def _plain(name: str, value: Any) -> Any:
    if name in _TIMES:
        return datetime.fromtimestamp(value, UTC)
    return ", ".join(value) if isinstance(value, tuple) else value


def _format_time(value: object) -> str:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else str(value)


def _encode_json(kind: type, rows: Iterable[Any]) -> bytes:
    """A list with one row a line, in ASCII, so that it holds no terminal sequences."""
    lines = ",\n ".join(json.dumps(row, default=_format_time) for row in _plain_rows(kind, rows))
    return f"[{lines}]\n".encode()


def _encode_csv(kind: type, rows: Iterable[Any]) -> bytes:
    """A table with all fields; a text that a spreadsheet would run as a formula gets a quotation mark before it."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [each.name for each in fields(kind)])
    writer.writeheader()
    for row in _plain_rows(kind, rows):
        writer.writerow({name: _csv_cell(value) for name, value in row.items()})
    return out.getvalue().encode()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULAS) else value
    return _format_time(value) if isinstance(value, datetime) else value


def _encode_parquet(kind: type, rows: Iterable[Any]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "--format parquet needs the package pyarrow", advice="Run: pip install 'scoregate[parquet]'"
        ) from None
    types = {"str": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_()}
    schema = []
    for each in fields(kind):
        # The modules of the rows import `annotations` from `__future__`, so types are texts here.
        name = str(each.type).removesuffix(" | None")
        column = pyarrow.timestamp("us", tz="UTC") if each.name in _TIMES else types.get(name, pyarrow.string())
        schema.append((each.name, column))
    table = pyarrow.Table.from_pylist(list(_plain_rows(kind, rows)), schema=pyarrow.schema(schema))
    out = pyarrow.BufferOutputStream()
    parquet.write_table(table, out)
    return bytes(out.getvalue())


_ENCODERS: Mapping[str, Callable[[type, Iterable[Any]], bytes]] = {
    JSON: _encode_json,
    CSV: _encode_csv,
    PARQUET: _encode_parquet,
}
