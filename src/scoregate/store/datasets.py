"""Datasets as they are kept: a card, the rows that people edit, and every version that there was."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, model_validator

from scoregate.store.cards import Card
from scoregate.store.deltas import Run, added_in, length_of
from scoregate.store.kinds import Kind
from scoregate.store.words import Item

ROWS, HISTORY = "rows.jsonl", "history.jsonl"
ColumnType = Literal["string", "integer", "number", "boolean", "array", "object", "trace"]
Columns = dict[str, ColumnType]
_Count = Annotated[int, Field(ge=0, lt=2**53)]


class StoredDataset(Item):
    """A dataset's card. `schema` is a JSON Schema of an object whose properties are the columns."""

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1)
    description: str = ""
    document: dict[str, Any] = Field(alias="schema")
    created_at: AwareDatetime


class Head(Item):
    """A version: how it is made of the one before, and what came of it.

    Args:
        version: counted from 1. id: unique in the dataset; the same for the same change of the same version.
        parent: the id of the version before. count: of rows. digest: of the rows as `rows.jsonl` has them.
        rows: see `Run`. start: where in the history this line begins, in bytes.
    """

    version: int = Field(ge=1)
    id: int = Field(ge=0)
    parent: int | None = None
    created_at: AwareDatetime
    count: _Count
    digest: str
    columns: Columns
    rows: tuple[tuple[_Count, _Count] | _Count, ...]
    start: _Count

    @property
    def added(self) -> int:
        """How many of its rows are new."""
        return added_in(self.rows)

    @model_validator(mode="after")
    def _counted(self) -> Head:
        if length_of(self.rows) != self.count:
            raise ValueError(f"version {self.version} has {length_of(self.rows)} rows, and says {self.count}")
        return self


# Both sides' versions stay. Of both sides' rows git cannot know whether they are two rows or two forms of one.
_ATTRIBUTES = f"{HISTORY} merge=union\n{ROWS} merge=text\n"
DATASETS = Kind(
    "datasets", StoredDataset, Card("schema.json"), ("dataset",), beside=(ROWS, HISTORY), attributes=_ATTRIBUTES
)
__all__ = ["DATASETS", "HISTORY", "ROWS", "ColumnType", "Columns", "Head", "Run", "StoredDataset"]
