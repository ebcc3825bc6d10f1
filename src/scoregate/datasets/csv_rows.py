"""Rows of a table that people keep in a spreadsheet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scoregate.datasets.changes import Placed
from scoregate.datasets.schema import Schema
from scoregate.errors import InvalidDataset
from scoregate.store.rows import unique
from scoregate.store.separators import rows_of, separator_of

_SAMPLE = 64 * 1024


def csv_rows(path: Path, schema: Schema | None = None) -> Iterator[Placed]:
    """Its rows, one after another; the header is row 1, and tells what separates the cells.

    Raises:
        InvalidDataset: the header is none, or the rest is no CSV.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        delimiter = separator_of(file.read(_SAMPLE))
        file.seek(0)
        rows = rows_of(file, delimiter)
        try:
            header = _header(next(rows, []), path)
            for number, cells in enumerate(rows, 2):
                if any(cells):
                    yield f"{path}, row {number}", _row(cells, header, schema)
        except csv.Error as error:
            raise InvalidDataset(f"{path}, line {rows.line_num}: is no CSV: {error}") from None


def _header(cells: Sequence[str], path: Path) -> list[str]:
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise InvalidDataset(f"{path}, row 1: there is no header", advice="The first row names the columns.")
    for number, name in enumerate(names, 1):
        if not name or name in names[: number - 1]:
            told = f"{name!r:.60} comes twice" if name else "has no name"
            raise InvalidDataset(f"{path}, row 1, column {number}: {told}")
    return names


def _row(cells: Sequence[str], header: Sequence[str], schema: Schema | None) -> Mapping[str, Any] | str:
    if len(cells) != len(header):
        return f"has {len(cells)} cells, the header {len(header)}"
    row = dict(zip(header, cells, strict=True))
    return _typed(row, schema) if schema else row


def _typed(row: Mapping[str, str], schema: Schema) -> Mapping[str, Any] | str:
    """With what the cells of columns of numbers and the like mean; what means nothing stays, for the schema to tell."""
    made: dict[str, Any] = {}
    for column, text in row.items():
        type_ = schema.columns.get(column, "string")
        if type_ == "string":
            made[column] = text if text or column in schema.columns else None
        else:
            made[column] = _meant(text.strip(), type_)
    return made


def _meant(text: str, type_: str) -> Any:
    if not text:
        return None
    if type_ == "trace":
        return text
    spelt = text.lower() if type_ == "boolean" else text
    try:
        return json.loads(spelt, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return text
