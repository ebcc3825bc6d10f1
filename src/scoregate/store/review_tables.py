"""People's words out of the store and into it, as files of JSON lines or CSV."""

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

from scoregate.core.evaluation import EvaluationOverrideComment, EvaluationOverrideField
from scoregate.errors import StoreError
from scoregate.store.errors import checked, details
from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind, T
from scoregate.store.review_records import ReviewRecord
from scoregate.store.tables import TableError, TableReader, guard_cell, to_cell, unguard_cell

# Fields that hold several things are JSON in a cell; where one plain text says all, it has a column of its own.
PLAIN = {"input": "input_fields", "output": "output_fields", "comment": "comments"}


def columns_of(kind: Kind[T]) -> tuple[str, ...]:
    """All that a table of this kind may have."""
    fields = tuple(kind.model.model_fields)
    return (*fields, *(plain for plain, field in PLAIN.items() if field in fields))


def to_rows(items: Sequence[BaseModel], kind: Kind[T]) -> list[dict[str, str]]:
    """A row an item, its cells by column; a column of plain text takes the place of JSON where that loses nothing."""
    rows = [item.model_dump(mode="json") for item in items]
    for plain, field in PLAIN.items():
        texts = [_plain(plain, row[field]) for row in rows if field in row]
        if field in kind.model.model_fields and None not in texts:
            for row, text in zip(rows, texts, strict=True):
                row[plain] = text
                del row[field]
    return [{column: to_cell(value) for column, value in row.items()} for row in rows]


def to_fields(row: Mapping[str, str], kind: Kind[T]) -> dict[str, Any]:
    """The fields of an item.

    Raises:
        ValueError: a cell is not the JSON that it should be.
    """
    given: dict[str, Any] = {}
    for column, text in row.items():
        field = column if column in kind.model.model_fields else PLAIN[column]
        if text and field != column:
            if row.get(field):
                raise ValueError(f"columns {column} and {field}: only one of them may be filled")
            given[field] = [_field(column, text)]
        elif kind.model.model_fields[field].annotation is str:
            given[field] = text
        elif text:
            given[field] = _json(column, text) if field in PLAIN.values() else text
    return given


def _plain(column: str, parts: Sequence[Mapping[str, str]]) -> str | None:
    """The text that says all; None where a text would not."""
    if not parts:
        return ""
    text = parts[0].get("comment_text") or parts[0].get("value") or ""
    return text if text and parts == [_field(column, text)] else None


def _field(column: str, text: str) -> dict[str, str]:
    part: EvaluationOverrideField | EvaluationOverrideComment
    if column == "comment":
        part = EvaluationOverrideComment("", "", text)
    else:
        part = EvaluationOverrideField(column, column, text)
    return dict(vars(part))


def _json(column: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"column {column}: must be JSON, not {text!r:.60}: {error}") from None


def write_table(items: Sequence[BaseModel], kind: Kind[T]) -> str:
    """A header and a row an item; nothing that the items hold is lost, and nothing in them is run by a spreadsheet."""
    rows = to_rows(items, kind)
    out = StringIO(newline="")
    writer = csv.writer(out)
    header = list(rows[0]) if rows else [name for name in kind.model.model_fields if name not in PLAIN.values()]
    writer.writerows([header, *([guard_cell(cell) for cell in row.values()] for row in rows)])
    return out.getvalue()


def read_table(text: str, kind: Kind[T], *, origin: str) -> Iterator[T]:
    """The items of a table.

    Raises:
        StoreError: all that is wrong with it, by row (the header is row 1) and column.
    """
    try:
        table = TableReader(StringIO(text, newline=""))
        header = _header(table.header, kind, origin)
        found = ((number, _item(row, header, kind)) for number, (_, row) in enumerate(table, 2))
        yield from checked(found, kind, place=f"{origin}, row {{}}".format)
    except TableError as error:
        raise StoreError(f"{origin}, line {error.last_line}: {error.problem}") from None


def _header(cells: Sequence[str], kind: Kind[T], origin: str) -> list[str]:
    names, known = [cell.strip() for cell in cells], columns_of(kind)
    for number, name in enumerate(names, 1):
        if name not in known or name in names[: number - 1]:
            near = get_close_matches(name, known, 1)
            what = f"; did you mean {near[0]}?" if near and name not in known else ""
            told = "comes twice" if name in known else "is unknown"
            raise StoreError(
                f"{origin}, row 1, column {number}: {name!r:.60} {told}{what}",
                advice=f"The columns of {kind.name} are {', '.join(known)}.",
            )
    required = [name for name, field in kind.model.model_fields.items() if field.is_required()]
    if missing := [name for name in required if name not in names]:
        raise StoreError(f"{origin}, row 1: there is no column {' and none '.join(missing)}")
    return names


def _item(row: Sequence[str], header: Sequence[str], kind: Kind[T]) -> T | str | None:
    if not any(row):
        return None
    if len(row) != len(header):
        return f"has {len(row)} cells, the header {len(header)}"
    try:
        given = to_fields(dict(zip(header, map(unguard_cell, row), strict=True)), kind)
        return kind.model.model_validate(given)
    except ValidationError as error:
        told = ((_column(where, header), what) for where, what in details(error))
        return "; ".join(f"column {column}: {what}" if column else what for column, what in told)
    except ValueError as error:
        return str(error)


def _column(where: str, header: Sequence[str]) -> str:
    field, _, rest = where.partition(".")
    names = {field: plain for plain, field in PLAIN.items() if plain in header and field not in header}
    return f"{names.get(field, field)}{f' ({rest:.80})' if rest else ''}"


S = TypeVar("S", bound=ReviewRecord)
_LINES, _TABLE = (".jsonl", ".ndjson"), ".csv"


def is_table(name: str) -> bool:
    """Whether a file of this name is CSV; if not, it is JSON lines.

    Raises:
        StoreError: it is neither.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in (*_LINES, _TABLE):
        raise StoreError(f"{name} is neither JSON lines nor CSV", advice="Name a file that ends in .jsonl or .csv.")
    return suffix == _TABLE


def exported(items: Sequence[S], kind: Kind[S], *, table: bool) -> bytes:
    """A file of the items: CSV, or the lines that the store has as well."""
    return write_table(items, kind).encode() if table else b"".join(kind.layout.write(items))


def imported(data: bytes, kind: Kind[S], *, origin: str, table: bool) -> list[S]:
    """The items of a file; those without a time get the present one. Of ids nothing is demanded.

    Raises:
        StoreError: all that is wrong with it, by line, or by row and column. `origin` is how the file is called.
    """
    now = datetime.now(UTC)
    try:
        items = list(_read(data, kind, origin=origin, table=table))
    except StoreError as error:
        raise StoreError(error.message, advice="Nothing was imported. " + error.advice) from None
    return [item if item.created_at else item.model_copy(update={"created_at": now}) for item in items]


def _read(data: bytes, kind: Kind[S], *, origin: str, table: bool) -> Sequence[S]:
    if not table:
        return list(JSON_LINES.read(BytesIO(data), kind, origin=origin))
    try:
        return list(read_table(data.decode("utf-8-sig"), kind, origin=origin))
    except UnicodeDecodeError as error:
        raise StoreError(f"{origin} is not UTF-8: byte {error.start + 1}", advice="Save it as UTF-8.") from None
