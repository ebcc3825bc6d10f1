"""Which columns a kind has in a table, and what stands in their cells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from scoregate.core.override import EvaluationOverrideComment, EvaluationOverrideField
from scoregate.store.kinds import Kind, T

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
    return [{column: cell_of(value) for column, value in row.items()} for row in rows]


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


def cell_of(value: object) -> str:
    """Text as it is, nothing for None, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(column: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"column {column}: must be JSON, not {text!r:.60}: {error}") from None
