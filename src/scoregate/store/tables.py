"""Items as CSV, which people edit in spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from io import StringIO

from pydantic import BaseModel, ValidationError

from scoregate.errors import StoreError
from scoregate.store.columns import PLAIN, columns_of, to_fields, to_rows
from scoregate.store.kinds import Kind, T
from scoregate.store.problems import checked, details
from scoregate.store.separators import guarded, rows_of, unguarded

_DELIMITERS = ",;\t"


def write_table(items: Sequence[BaseModel], kind: Kind[T]) -> str:
    """A header and a row an item; nothing that the items hold is lost, and nothing in them is run by a spreadsheet."""
    rows = to_rows(items, kind)
    out = StringIO(newline="")
    writer = csv.writer(out)
    header = list(rows[0]) if rows else [name for name in kind.model.model_fields if name not in PLAIN.values()]
    writer.writerows([header, *([guarded(cell) for cell in row.values()] for row in rows)])
    return out.getvalue()


def read_table(text: str, kind: Kind[T], *, origin: str) -> Iterator[T]:
    """The items of a table whose cells are separated by commas, semicolons or tabs.

    Raises:
        StoreError: all that is wrong with it, by row (the header is row 1) and column.
    """
    first = text.partition("\n")[0]
    rows = rows_of(StringIO(text, newline=""), max(_DELIMITERS, key=first.count))
    try:
        header = _header(next(rows, []), kind, origin)
        found = ((number, _item(row, header, kind)) for number, row in enumerate(rows, 2))
        yield from checked(found, kind, place=f"{origin}, row {{}}".format)
    except csv.Error as error:
        raise StoreError(f"{origin}, line {rows.line_num}: {error}") from None


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
        given = to_fields(dict(zip(header, map(unguarded, row), strict=True)), kind)
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
