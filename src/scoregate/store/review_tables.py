"""Export and import of reviews as JSON lines or CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from io import BytesIO, StringIO
from pathlib import PurePath
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from scoregate.errors import StoreError
from scoregate.kernel.types.evaluation import EvaluationOverrideComment, EvaluationOverrideField
from scoregate.kernel.types.text import describe_width
from scoregate.store.errors import check_distinct_items, error_details
from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind, T
from scoregate.store.review_records import ReviewRecord
from scoregate.store.tables import TableError, TableReader, guard_cell, to_cell, unguard_cell

# A field with several parts is JSON in a cell. If one text has the same content, the text has its own column.
TEXT_COLUMNS = {"input": "input_fields", "output": "output_fields", "comment": "comments"}
_JSON_FIELDS = (*TEXT_COLUMNS.values(), "threshold")


def column_names(kind: Kind[T]) -> tuple[str, ...]:
    """The columns that a table of this kind may have."""
    fields = tuple(kind.model.model_fields)
    return (*fields, *(column for column, field in TEXT_COLUMNS.items() if field in fields))


def to_rows(items: Sequence[BaseModel], kind: Kind[T]) -> list[dict[str, str]]:
    """One row for each item, as cells by column. A text column replaces a JSON column if nothing is lost."""
    rows = [item.model_dump(mode="json") for item in items]
    for column, field in TEXT_COLUMNS.items():
        texts = [_to_text(column, row[field]) for row in rows if field in row]
        if field in kind.model.model_fields and None not in texts:
            for row, text in zip(rows, texts, strict=True):
                row[column] = text
                del row[field]
    return [{name: to_cell(value) for name, value in row.items()} for row in rows]


def to_fields(row: Mapping[str, str], kind: Kind[T]) -> dict[str, Any]:
    """The fields of an item from the cells of a row.

    Raises:
        ValueError: a cell is not valid JSON, or two columns have values for the same field.
    """
    fields: dict[str, Any] = {}
    for column, text in row.items():
        field = column if column in kind.model.model_fields else TEXT_COLUMNS[column]
        if text and field != column:
            if row.get(field):
                raise ValueError(f"columns {column} and {field}: only one of them may be filled")
            fields[field] = [_to_part(column, text)]
        elif kind.model.model_fields[field].annotation is str:
            fields[field] = text
        elif text:
            fields[field] = _parse_json(column, text) if field in _JSON_FIELDS else text
    return fields


def _to_text(column: str, parts: Sequence[Mapping[str, str]]) -> str | None:
    """The text with the same content as the parts; None if there is none."""
    if not parts:
        return ""
    text = parts[0].get("comment_text") or parts[0].get("value") or ""
    return text if text and parts == [_to_part(column, text)] else None


def _to_part(column: str, text: str) -> dict[str, str]:
    part: EvaluationOverrideField | EvaluationOverrideComment
    if column == "comment":
        part = EvaluationOverrideComment("", "", text)
    else:
        part = EvaluationOverrideField(column, column, text)
    return dict(vars(part))


def _parse_json(column: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"column {column}: must be JSON, not {text!r:.60}: {error}") from None


def write_table(items: Sequence[BaseModel], kind: Kind[T]) -> str:
    """A CSV table with all fields of the items. A spreadsheet does not run its cells as formulas."""
    rows = to_rows(items, kind)
    out = StringIO(newline="")
    writer = csv.writer(out)
    header = list(rows[0]) if rows else [name for name in kind.model.model_fields if name not in TEXT_COLUMNS.values()]
    writer.writerows([header, *([guard_cell(cell) for cell in row.values()] for row in rows)])
    return out.getvalue()


def read_table(text: str, kind: Kind[T], *, origin: str) -> Iterator[T]:
    """The items of a CSV table.

    Raises:
        StoreError: lists all errors by row (the header is row 1) and column.
    """
    try:
        table = TableReader(StringIO(text, newline=""))
        header = _check_header(table.header, kind, origin)
        results = ((number, _parse_item(row, header, kind)) for number, (_, row) in enumerate(table, 2))
        yield from check_distinct_items(results, kind, place=f"{origin}, row {{}}".format)
    except TableError as error:
        raise StoreError(f"{origin}, line {error.last_line}: {error.problem}") from None


def _check_header(cells: Sequence[str], kind: Kind[T], origin: str) -> list[str]:
    names, known = [cell.strip() for cell in cells], column_names(kind)
    for number, name in enumerate(names, 1):
        if name not in known or name in names[: number - 1]:
            near = get_close_matches(name, known, 1)
            suggestion = f"; did you mean {near[0]}?" if near and name not in known else ""
            problem = "comes twice" if name in known else "is unknown"
            raise StoreError(
                f"{origin}, row 1, column {number}: {name!r:.60} {problem}{suggestion}",
                advice=f"The columns of {kind.name} are {', '.join(known)}.",
            )
    required = [name for name, field in kind.model.model_fields.items() if field.is_required()]
    if missing := [name for name in required if name not in names]:
        raise StoreError(f"{origin}, row 1: missing columns: {', '.join(missing)}")
    return names


def _parse_item(row: Sequence[str], header: Sequence[str], kind: Kind[T]) -> T | str | None:
    if not any(row):
        return None
    if len(row) != len(header):
        return describe_width(len(row), len(header))
    try:
        fields = to_fields(dict(zip(header, map(unguard_cell, row), strict=True)), kind)
        return kind.model.model_validate(fields)
    except ValidationError as error:
        problems = ((_column_name(where, header), what) for where, what in error_details(error))
        return "; ".join(f"column {column}: {what}" if column else what for column, what in problems)
    except ValueError as error:
        return str(error)


def _column_name(where: str, header: Sequence[str]) -> str:
    field, _, rest = where.partition(".")
    names = {field: column for column, field in TEXT_COLUMNS.items() if column in header and field not in header}
    return f"{names.get(field, field)}{f' ({rest:.80})' if rest else ''}"


S = TypeVar("S", bound=ReviewRecord)
_JSON_LINES_SUFFIXES, _CSV_SUFFIX = (".jsonl", ".ndjson"), ".csv"


def is_table(name: str) -> bool:
    """Whether a file with this name is CSV, else it is JSON lines.

    Raises:
        StoreError: it is neither.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in (*_JSON_LINES_SUFFIXES, _CSV_SUFFIX):
        raise StoreError(f"{name} is neither JSON lines nor CSV", advice="Name a file that ends in .jsonl or .csv.")
    return suffix == _CSV_SUFFIX


def export_items(items: Sequence[S], kind: Kind[S], *, table: bool) -> bytes:
    """The items as CSV, else as the lines of the store's file."""
    return write_table(items, kind).encode() if table else b"".join(kind.layout.write(items))


def import_items(data: bytes, kind: Kind[S], *, origin: str, table: bool) -> list[S]:
    """The items of a file. Items without a time get the present time.

    Args:
        data: the content of the file.
        kind: the kind of review.
        origin: the name of the file in error messages.
        table: whether the file is CSV, else JSON lines.

    Raises:
        StoreError: lists all errors by line, or by row and column.
    """
    now = datetime.now(UTC)
    try:
        if table:
            items = list(read_table(data.decode("utf-8-sig"), kind, origin=origin))
        else:
            items = list(JSON_LINES.read(BytesIO(data), kind, origin=origin))
    except UnicodeDecodeError as error:
        raise StoreError(
            f"{origin} is not UTF-8: byte {error.start + 1}", advice="Nothing was imported. Save it as UTF-8."
        ) from None
    except StoreError as error:
        raise StoreError(error.message, advice="Nothing was imported. " + error.advice) from None
    return [item if item.created_at else item.model_copy(update={"created_at": now}) for item in items]
