"""One thing as CSV: a header, and a row with what it is made of."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scoregate.entities.text_files import opened
from scoregate.errors import EntityError
from scoregate.store.columns import cell_of
from scoregate.store.separators import guarded, rows_of, unguarded


def write_row(fields: Mapping[str, Any], path: Path) -> None:
    """Write fields; those that are no text as JSON, those that are None as empty cells.

    Raises:
        OSError: it cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(fields), [guarded(cell_of(value)) for value in fields.values()]])


def read_row(path: Path, model: type[BaseModel]) -> dict[str, Any]:
    """The fields that `write_row` wrote of something of this class.

    Raises:
        EntityError: it is no file with a header and one row. OSError: it cannot be read.
    """
    with opened(path) as file:
        try:
            rows = list(islice(filter(None, rows_of(file)), 3))
        except csv.Error as error:
            raise EntityError(f"{path} is no CSV: {error}") from None
    if len(rows) != 2 or len(rows[0]) != len(rows[1]):
        raise EntityError(f"{path}: must be a header and one row with as many cells")
    return {
        name: _meant(unguarded(cell), model.model_fields.get(name)) for name, cell in zip(*rows, strict=True) if cell
    }


def _meant(cell: str, field: FieldInfo | None) -> object:
    if field is None or any(isinstance(kind, type) and issubclass(kind, str) for kind in _kinds(field)):
        return cell
    try:
        return json.loads(cell)
    except ValueError:
        return cell


def _kinds(field: FieldInfo) -> tuple[Any, ...]:
    is_union = get_origin(field.annotation) in (Union, UnionType)
    return get_args(field.annotation) if is_union else (field.annotation,)
